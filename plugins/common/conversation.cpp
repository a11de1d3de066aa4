#include "common/conversation.hpp"

namespace rollcall::doors {

void wipe(std::string& secret) {
  volatile char* bytes = secret.data();
  for (std::size_t i = 0; i < secret.size(); ++i) bytes[i] = '\0';
  secret.clear();
}

std::string get_request(std::string_view authority, std::string_view path, std::string_view token) {
  std::string text;
  text.reserve(path.size() + authority.size() + token.size() + 160);  // no copy of it stays behind
  text.append("GET ").append(path).append(" HTTP/1.1\r\nHost: ").append(authority);
  text.append("\r\nAccept: application/json\r\nUser-Agent: rollcall\r\nConnection: close\r\n");
  if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
  text.append("\r\n");
  return text;
}

plugin::DoorAnswer status_answer(const HttpResponse& response, bool token_sent) {
  const int status = response.status();
  std::string detail = "it answers " + std::to_string(status);
  if (!response.status_text().empty()) detail += " " + response.status_text();
  std::uint32_t reason = ROLLCALL_DOOR_HTTP_STATUS;
  if (token_sent && (status == 401 || status == 403)) {
    reason = ROLLCALL_DOOR_TOKEN_REFUSED;
  } else if (status == 401 || (status == 403 && response.asks_credentials())) {
    reason = ROLLCALL_DOOR_TOKEN_MISSING;
  }
  auto answer = plugin::door_failed(reason, detail);
  answer.http_status = static_cast<std::uint32_t>(status);
  return answer;
}

bool has_content(const HttpResponse& response) {
  const int status = response.status();
  return status >= 200 && status < 300 && (status < 204 || status > 206);
}

}  // namespace rollcall::doors
