#include "common/a2a_conversation.hpp"

#include "common/a2a_stop.hpp"

namespace rollcall::doors {
namespace {

constexpr std::string_view kCardPath = "/.well-known/agent-card.json";
constexpr std::string_view kLegacyCardPath = "/.well-known/agent.json";
constexpr std::int64_t kMethodNotFound = -32601;       // JSON-RPC 2.0, section 5.1
constexpr std::int64_t kVersionNotSupported = -32009;  // A2A 1.0, section 9.5

}  // namespace

std::vector<std::string> default_extension_uris() {
  return {"urn:rollcall:ext:session:1",
          "https://docs.murmur.nexus/reference/agent-card/#murmur-capsule-v1"};
}

Step A2aConversation::on_admitted(std::optional<std::string_view> token) {
  const bool with_token = token.has_value() && !token->empty();
  if (!ask_) {
    ask_ = with_token ? Ask::kRpc : Ask::kCard;
    token_sent_ = with_token;
  } else if (token_sent_ && !with_token) {
    return Step::done(plugin::door_failed(ROLLCALL_DOOR_NOT_ADMITTED,
                                          "the second connection was given no token"));
  }
  if (*ask_ == Ask::kCard) return Step::send(get_request(authority_, kCardPath, {}));
  if (*ask_ == Ask::kLegacyCard) return Step::send(get_request(authority_, kLegacyCardPath, {}));
  return Step::send(rpc_request(*token));
}

std::string A2aConversation::rpc_request(std::string_view token) const {
  const bool legacy = *ask_ == Ask::kLegacyRpc;
  const std::string_view method =
      legacy ? "agent/getAuthenticatedExtendedCard" : "GetExtendedAgentCard";
  return rpc_call(authority_, token, request_id_, method, "{}", !legacy);
}

plugin::DoorAnswer A2aConversation::status_of(const HttpResponse& response) const {
  plugin::DoorAnswer answer = status_answer(response, token_sent_);
  const std::string_view asked = *ask_ == Ask::kCard         ? kCardPath
                                 : *ask_ == Ask::kLegacyCard ? kLegacyCardPath
                                                             : std::string_view("/");
  answer.detail.append(token_sent_ ? " to POST " : " to GET ").append(asked);
  return answer;
}

Step A2aConversation::on_response(const HttpResponse& response) {
  return token_sent_ ? on_rpc(response) : on_card(response);
}

Step A2aConversation::on_card(const HttpResponse& response) {
  if (response.status() == 404 && *ask_ == Ask::kCard && settings_.legacy_card_path) {
    ask_ = Ask::kLegacyCard;
    return Step::connect_again();
  }
  if (!has_content(response)) return Step::done(status_of(response));
  const CardReading reading = read_card(response.body(), settings_.extension_uris);
  plugin::DoorAnswer answer = answer_of(reading, response);
  if (reading.reading == Reading::kNoSession && reading.promises_more) {
    answer.reason = ROLLCALL_DOOR_TOKEN_MISSING;
    answer.detail += "; it has an extended card for those who bring a token";
  }
  return Step::done(std::move(answer));
}

Step A2aConversation::on_rpc(const HttpResponse& response) {
  const int status = response.status();
  const bool refused = status == 401 || status == 403 || status / 100 == 3;
  if (refused || status == 204 || status == 205) return Step::done(status_of(response));
  const CardReading reading = read_rpc_card(response.body(), request_id_, settings_.extension_uris);
  const bool other_generation =
      reading.has_code && (reading.code == kMethodNotFound || reading.code == kVersionNotSupported);
  if (other_generation && *ask_ == Ask::kRpc) {
    ask_ = Ask::kLegacyRpc;
    return Step::connect_again();
  }
  if (!has_content(response)) return Step::done(status_of(response));
  return Step::done(answer_of(reading, response));
}

plugin::DoorAnswer A2aConversation::answer_of(const CardReading& reading,
                                              const HttpResponse& response) const {
  plugin::DoorAnswer answer;
  switch (reading.reading) {
    case Reading::kNamed:
      answer = plugin::door_named(reading.session);
      break;
    case Reading::kNotJson:
      answer = plugin::door_failed(ROLLCALL_DOOR_NOT_JSON, reading.detail);
      break;
    case Reading::kRpcError:
      answer = plugin::door_failed(ROLLCALL_DOOR_RPC_ERROR, reading.detail);
      break;
    case Reading::kNoSession:
      answer = plugin::door_failed(ROLLCALL_DOOR_NO_SESSION, reading.detail);
      if (token_sent_) answer.detail += " (a door may answer a wrong token so)";
      break;
  }
  answer.http_status = static_cast<std::uint32_t>(response.status());
  return answer;
}

}  // namespace rollcall::doors
