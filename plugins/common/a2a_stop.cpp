#include "common/a2a_stop.hpp"

#include "common/json_answer.hpp"

namespace rollcall::doors {
namespace {

Step failed(std::uint32_t reason, std::string_view detail) {
  return Step::done(plugin::door_failed(reason, detail));
}

Step failed(const CardReading& reading) {
  const std::uint32_t reason = reading.reading == Reading::kNotJson    ? ROLLCALL_DOOR_NOT_JSON
                               : reading.reading == Reading::kRpcError ? ROLLCALL_DOOR_RPC_ERROR
                                                                       : ROLLCALL_DOOR_NO_SESSION;
  return failed(reason, reading.detail);
}

}  // namespace

std::string rpc_call(std::string_view authority, std::string_view token, std::string_view id,
                     std::string_view method, std::string_view params, bool names_version) {
  std::string body = R"({"jsonrpc":"2.0","id":")";
  body.append(id).append(R"(","method":")").append(method).append(R"(","params":)");
  body.append(params).append("}");
  std::string text;
  text.reserve(authority.size() + token.size() + body.size() + 256);  // no copy of it stays behind
  text.append("POST / HTTP/1.1\r\nHost: ").append(authority);
  text.append("\r\nAccept: application/json\r\nUser-Agent: rollcall\r\nConnection: close\r\n");
  text.append("Content-Type: application/json\r\nContent-Length: ");
  text.append(std::to_string(body.size())).append("\r\n");
  if (names_version) text.append("A2A-Version: 1.0\r\n");
  text.append("Authorization: Bearer ").append(token).append("\r\n\r\n").append(body);
  return text;
}

Step A2aStopConversation::on_admitted(std::optional<std::string_view> token) {
  if (!token || token->empty()) {
    return failed(ROLLCALL_DOOR_TOKEN_MISSING, "a door is asked to stop with its token only");
  }
  if (!offered_) {
    return Step::send(
        rpc_call(authority_, *token, request_id_, "GetExtendedAgentCard", "{}", true));
  }
  const std::string params =
      R"({"sessionId":)" + quoted(session_id_) + R"(,"reason":)" + quoted(reason_) + "}";
  return Step::send(rpc_call(authority_, *token, request_id_, kStopMethod, params, true));
}

Step A2aStopConversation::on_response(const HttpResponse& response) {
  const int status = response.status();
  if (status == 401 || status == 403 || status / 100 == 3) {
    return Step::done(status_answer(response, true));
  }
  return offered_ ? on_accepted(response) : on_card(response);
}

Step A2aStopConversation::on_card(const HttpResponse& response) {
  const CardReading reading = read_rpc_card(response.body(), request_id_, uris_);
  if (reading.reading != Reading::kNamed) return failed(reading);
  if (!has_content(response)) return Step::done(status_answer(response, true));
  if (reading.session != session_id_) {
    return failed(ROLLCALL_DOOR_NO_SESSION, "it names another session");
  }
  if (!reading.can_be_stopped) {
    return failed(ROLLCALL_DOOR_NOT_SUPPORTED, "it does not say that it can be asked to stop");
  }
  offered_ = true;
  return Step::connect_again();
}

Step A2aStopConversation::on_accepted(const HttpResponse& response) {
  const CardReading reading = read_accepted(response.body(), request_id_);
  if (reading.reading != Reading::kNamed) return failed(reading);
  if (!has_content(response)) return Step::done(status_answer(response, true));
  return Step::done(plugin::door_named(session_id_));
}

}  // namespace rollcall::doors
