// How a command fails: an exit code, a code for scripts, and a sentence for people.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "rollcall/result.hpp"

namespace rollcall::regtool {

// The exit codes, documented in regtool(1). `run` gives the child's own.
inline constexpr int kExitYes = 0;
inline constexpr int kExitNo = 1;           // gone, not ended, not found
inline constexpr int kExitUsage = 2;        //
inline constexpr int kExitUnreachable = 3;  // alive or untellable, but not reachable
inline constexpr int kExitRefused = 4;      // a safety rule, or the system, forbids it
inline constexpr int kExitIo = 5;           // the answer could not be had or given
inline constexpr int kExitRunFailed = 125;  // `run` itself failed
inline constexpr int kExitNotRunnable = 126;
inline constexpr int kExitNoCommand = 127;

struct Failure {
  int exit_code = kExitIo;
  std::string code;    // for scripts: "usage", "session_not_found", ...
  std::string text;    // bytes: escaped when shown
  std::string object;  // what it is about: an id, a path; may be empty
};

template <class T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> usage_failure(std::string text,
                                                           std::string object = {}) {
  return tl::unexpected<Failure>(Failure{kExitUsage, "usage", std::move(text), std::move(object)});
}
[[nodiscard]] inline tl::unexpected<Failure> refusal(std::string text, std::string object = {}) {
  return tl::unexpected<Failure>(
      Failure{kExitRefused, "refused", std::move(text), std::move(object)});
}

// The library's error as a command's failure; pure. Never session_not_found: what was not found may
// be a plugin, a file or a user, and a script takes exit 1 for "the session is gone".
[[nodiscard]] Failure to_failure(const Error& error, std::string object = {});
[[nodiscard]] inline tl::unexpected<Failure> failure_of(const Error& error,
                                                        std::string object = {}) {
  return tl::unexpected<Failure>(to_failure(error, std::move(object)));
}
// Of a look-up in the records, where kNotFound can mean the session `id` and nothing else; pure.
[[nodiscard]] Failure to_session_failure(const Error& error, std::string id);
// Of a backend or plugin that cannot be had: exit 5 whatever the code; pure.
[[nodiscard]] Failure to_capability_failure(const Error& error, std::string object = {});

}  // namespace rollcall::regtool
