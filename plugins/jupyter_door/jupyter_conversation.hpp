// Two questions to a Jupyter server: one that it must refuse, one that it must answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/conversation.hpp"

namespace rollcall::doors {

struct JupyterServer {
  std::string session;    // given back where the token proves it; never sent
  std::string authority;  // for the Host field
  std::string path;       // of the status call
  std::optional<std::int64_t> process_start_unix_ns;
};

// GET of the status with a token that is none, which must be refused (401 or 403): who takes any
// token proves nothing, and never sees ours. Then, on a new connection, with the token: 200, and
// `started` not before the process began (by more than 5 s, which a clock's jitter may make).
class JupyterConversation final : public Conversation {
 public:
  JupyterConversation(JupyterServer server, std::string wrong_token)
      : server_(std::move(server)), wrong_token_(std::move(wrong_token)) {}

  Step on_admitted(std::optional<std::string_view> token) override;
  Step on_response(const HttpResponse& response) override;

 private:
  [[nodiscard]] plugin::DoorAnswer judge(const HttpResponse& response) const;

  JupyterServer server_;
  std::string wrong_token_;
  bool refused_the_wrong_one_ = false;
};

// "YYYY-MM-DDTHH:MM:SS[.fraction]" and "Z" or "+00:00", in nanoseconds since 1970. Pure.
[[nodiscard]] std::optional<std::int64_t> parse_utc(std::string_view text);
// Plain decimal, with a sign or without. Pure.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace rollcall::doors
