// The A2A door: a public card by GET, or with a token the extended card by JSON-RPC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/conversation.hpp"
#include "common/json_answer.hpp"

namespace rollcall::doors {

struct A2aSettings {
  std::vector<std::string> extension_uris;  // which extensions name a session
  bool legacy_card_path = false;            // also ask agent.json, on 404
};

// The two that are known from the start.
[[nodiscard]] std::vector<std::string> default_extension_uris();

// `request_id`: unpredictable, visible ASCII without quotes; must come back.
class A2aConversation final : public Conversation {
 public:
  A2aConversation(std::string authority, A2aSettings settings, std::string request_id)
      : authority_(std::move(authority)),
        settings_(std::move(settings)),
        request_id_(std::move(request_id)) {}

  Step on_admitted(std::optional<std::string_view> token) override;
  Step on_response(const HttpResponse& response) override;
  [[nodiscard]] bool reads_error_bodies() const override { return token_sent_; }

 private:
  enum class Ask : std::uint8_t { kCard, kLegacyCard, kRpc, kLegacyRpc };

  [[nodiscard]] std::string rpc_request(std::string_view token) const;
  Step on_card(const HttpResponse& response);
  Step on_rpc(const HttpResponse& response);
  // What a status without content says, and of which path.
  [[nodiscard]] plugin::DoorAnswer status_of(const HttpResponse& response) const;
  [[nodiscard]] plugin::DoorAnswer answer_of(const CardReading& reading,
                                             const HttpResponse& response) const;

  std::string authority_;
  A2aSettings settings_;
  std::string request_id_;
  std::optional<Ask> ask_;
  bool token_sent_ = false;
};

}  // namespace rollcall::doors
