// Records that tests begin from.
#pragma once

#include <string>
#include <string_view>

#include "rollcall/record.hpp"

namespace rollcall::testing {

inline constexpr std::string_view kSampleId = "ses_01926f3a5b7c7d8e9fa0b1c2d3e4f506";

inline Record sample_record(std::string_view id = kSampleId) {
  Record record;
  record.session_id = id;
  record.url = "127.0.0.1:4242";
  record.process = {.pid = 4242,
                    .start_token = "78475",
                    .boot_id = "6f1b2c3d-1111-4222-8333-444455556666",
                    .exact_id = "18446744073709551615",
                    .host_id = "0f0e-host",
                    .pid_namespace = "4026531836",
                    .time_namespace = "4026531834"};
  record.name = "worker";
  record.version = "1.4.2";
  record.workdir = "/srv/work";
  record.outlives_launcher = true;
  record.started_at = "2026-09-15T21:54:57.123Z";
  return record;
}

// The sample as a hand-written document, `pid` and what follows `started_at` as given.
inline std::string sample_json(std::string_view pid = "4242", std::string_view more = "") {
  std::string text = R"({"session_id":")";
  text.append(kSampleId).append(R"(","url":"127.0.0.1:4242","pid":)").append(pid);
  text.append(R"(,"process_start":"78475","name":"worker","version":"1.4.2",)");
  text.append(R"("workdir":"/srv/work","outlives_launcher":false,)");
  text.append(R"("started_at":"2026-09-15T21:54:57Z")").append(more).append("}");
  return text;
}

}  // namespace rollcall::testing
