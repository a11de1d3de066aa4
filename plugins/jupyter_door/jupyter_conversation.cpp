#include "jupyter_door/jupyter_conversation.hpp"

#include <charconv>

#include "common/json_answer.hpp"

namespace rollcall::doors {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::int64_t kJitterNs = 5 * kNsPerS;

// Jupyter's own scheme: older servers know no Bearer.
std::string status_request(const JupyterServer& server, std::string_view token) {
  std::string text;
  // No copy of the token stays behind.
  text.reserve(server.path.size() + server.authority.size() + token.size() + 160);
  text.append("GET ").append(server.path).append(" HTTP/1.1\r\nHost: ").append(server.authority);
  text.append("\r\nAccept: application/json\r\nUser-Agent: rollcall\r\nConnection: close\r\n");
  text.append("Authorization: token ").append(token).append("\r\n\r\n");
  return text;
}

bool is_refusal(int status) { return status == 401 || status == 403; }

// `count` digits at `at`; -1: there are none.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// Days since 1970-01-01 of a date of the Gregorian calendar.
std::int64_t days_of(int year, int month, int day) {
  const int y = month <= 2 ? year - 1 : year;  // years that begin in March
  const int m = month <= 2 ? month + 9 : month - 3;
  const int leap_days = y / 4 - y / 100 + y / 400;
  return std::int64_t{365} * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719'468;
}

// ".123456" in nanoseconds, taken off the front; nothing there is 0. nullopt: malformed.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  std::int64_t ns = 0;
  std::size_t i = 1;
  for (std::int64_t unit = kNsPerS / 10; i < text.size() && text[i] >= '0' && text[i] <= '9';
       ++i, unit /= 10) {
    ns += unit * (text[i] - '0');
  }
  if (i < 2 || i > 10) return std::nullopt;
  text.remove_prefix(i);
  return ns;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> parse_utc(std::string_view text) {
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  const bool shaped = text.size() > 19 && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
                      text[13] == ':' && text[16] == ':';
  if (!shaped || year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
    return std::nullopt;
  }
  text.remove_prefix(19);
  const auto fraction = take_fraction(text);
  if (!fraction || (text != "Z" && text != "+00:00")) return std::nullopt;
  const std::int64_t seconds =
      days_of(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second;
  return seconds * kNsPerS + *fraction;
}

Step JupyterConversation::on_admitted(std::optional<std::string_view> token) {
  if (!token || token->empty()) {
    return Step::done(plugin::door_failed(ROLLCALL_DOOR_TOKEN_MISSING,
                                          "only by its token can a Jupyter server be proven"));
  }
  return Step::send(
      status_request(server_, refused_the_wrong_one_ ? *token : std::string_view(wrong_token_)));
}

Step JupyterConversation::on_response(const HttpResponse& response) {
  plugin::DoorAnswer answer;
  if (refused_the_wrong_one_) {
    answer = judge(response);
  } else if (is_refusal(response.status())) {
    refused_the_wrong_one_ = true;
    return Step::connect_again();
  } else if (has_content(response)) {
    answer =
        plugin::door_failed(ROLLCALL_DOOR_NO_SESSION, "it takes any token, so that none proves it");
  } else {
    answer = status_answer(response, false);
  }
  answer.http_status = static_cast<std::uint32_t>(response.status());
  return Step::done(std::move(answer));
}

plugin::DoorAnswer JupyterConversation::judge(const HttpResponse& response) const {
  if (!has_content(response)) return status_answer(response, true);
  const CardReading reading = read_pointer(response.body(), "/started");
  if (reading.reading == Reading::kNotJson) {
    return plugin::door_failed(ROLLCALL_DOOR_NOT_JSON, reading.detail);
  }
  const auto started =
      reading.reading == Reading::kNamed ? parse_utc(reading.session) : std::nullopt;
  if (!started) {
    return plugin::door_failed(ROLLCALL_DOOR_NO_SESSION, "it does not say when it started");
  }
  if (!server_.process_start_unix_ns) {
    return plugin::door_failed(ROLLCALL_DOOR_NO_SESSION,
                               "when its process began is not known here, so that it cannot be "
                               "told from another server");
  }
  if (*server_.process_start_unix_ns > kJitterNs &&
      *started < *server_.process_start_unix_ns - kJitterNs) {
    return plugin::door_failed(ROLLCALL_DOOR_NO_SESSION,
                               "it started before its process, so that it is another server");
  }
  return plugin::door_named(server_.session);
}

}  // namespace rollcall::doors
