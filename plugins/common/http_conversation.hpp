// The plain HTTP door: one GET, and the session id at a JSON pointer of what it answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/conversation.hpp"

namespace rollcall::doors {

// An origin-form request target: begins with "/", visible ASCII, no fragment, at most 2048 bytes.
[[nodiscard]] bool is_request_path(std::string_view path);

// `path` and `pointer` are checked already (is_request_path, is_json_pointer).
class HttpConversation final : public Conversation {
 public:
  HttpConversation(std::string authority, std::string path, std::string pointer)
      : authority_(std::move(authority)), path_(std::move(path)), pointer_(std::move(pointer)) {}

  Step on_admitted(std::optional<std::string_view> token) override;
  Step on_response(const HttpResponse& response) override;

 private:
  std::string authority_;
  std::string path_;
  std::string pointer_;
  bool token_sent_ = false;
};

}  // namespace rollcall::doors
