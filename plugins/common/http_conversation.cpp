#include "common/http_conversation.hpp"

#include <algorithm>

#include "common/json_answer.hpp"

namespace rollcall::doors {

bool is_request_path(std::string_view path) {
  return !path.empty() && path.front() == '/' && path.size() <= 2048 &&
         std::all_of(path.begin(), path.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
}

Step HttpConversation::on_admitted(std::optional<std::string_view> token) {
  token_sent_ = token.has_value() && !token->empty();
  return Step::send(get_request(authority_, path_, token.value_or(std::string_view{})));
}

Step HttpConversation::on_response(const HttpResponse& response) {
  if (!has_content(response)) return Step::done(status_answer(response, token_sent_));
  const CardReading reading = read_pointer(response.body(), pointer_);
  plugin::DoorAnswer answer;
  if (reading.reading == Reading::kNamed) {
    answer = plugin::door_named(reading.session);
  } else {
    answer = plugin::door_failed(
        reading.reading == Reading::kNotJson ? ROLLCALL_DOOR_NOT_JSON : ROLLCALL_DOOR_NO_SESSION,
        reading.detail);
  }
  answer.http_status = static_cast<std::uint32_t>(response.status());
  return Step::done(std::move(answer));
}

}  // namespace rollcall::doors
