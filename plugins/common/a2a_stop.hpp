// Asking an A2A door to end its session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/conversation.hpp"

namespace rollcall::doors {

// First the extended card, then, on a connection of its own that is admitted anew, the request;
// each with the token, and nothing without one. `request_id` as in A2aConversation.
class A2aStopConversation final : public Conversation {
 public:
  A2aStopConversation(std::string authority, std::vector<std::string> extension_uris,
                      std::string session_id, std::string reason, std::string request_id)
      : authority_(std::move(authority)),
        uris_(std::move(extension_uris)),
        session_id_(std::move(session_id)),
        reason_(std::move(reason)),
        request_id_(std::move(request_id)) {}

  Step on_admitted(std::optional<std::string_view> token) override;
  Step on_response(const HttpResponse& response) override;
  [[nodiscard]] bool reads_error_bodies() const override { return true; }

 private:
  Step on_card(const HttpResponse& response);
  Step on_accepted(const HttpResponse& response);

  std::string authority_;
  std::vector<std::string> uris_;
  std::string session_id_;
  std::string reason_;
  std::string request_id_;
  bool offered_ = false;  // the card named the session and said so
};

// A JSON-RPC call by POST, of A2A 1.0. `params` is JSON.
[[nodiscard]] std::string rpc_call(std::string_view authority, std::string_view token,
                                   std::string_view id, std::string_view method,
                                   std::string_view params, bool names_version);

}  // namespace rollcall::doors
