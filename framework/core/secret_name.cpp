#include "core/secret_name.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace rollcall::core {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kNone = std::string_view::npos;

bool is_upper(char byte) { return byte >= 'A' && byte <= 'Z'; }
bool is_lower(char byte) { return byte >= 'a' && byte <= 'z'; }
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter_or_digit(char byte) { return is_upper(byte) || is_lower(byte) || is_digit(byte); }
char lower_of(char byte) { return is_upper(byte) ? static_cast<char>(byte - 'A' + 'a') : byte; }

std::string lower_of(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return lower_of(c); });
  return lower;
}

// A byte of the name of a variable, an option, a header or a member.
bool is_of_name(char byte) {
  return is_letter_or_digit(byte) || byte == '_' || byte == '-' || byte == '.';
}

// Whether a word begins there, by a separator before it or by its own capital.
bool begins_word(std::string_view key, std::size_t at) {
  if (at == 0) return true;
  return !is_letter_or_digit(key[at - 1]) || (is_lower(key[at - 1]) && is_upper(key[at]));
}

bool holds_mark(std::string_view lower) {
  constexpr std::array<std::string_view, 11> kMarks = {
      "token",   "secret", "passw",   "passphrase", "passcode",     "credential",
      "api_key", "apikey", "api-key", "private",    "authorization"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return lower.find(mark) != kNone; });
}

bool ends_like_a_secret(std::string_view key, std::string_view lower) {
  struct End {
    std::string_view text;
    bool is_word;     // of its own
    bool needs_more;  // other words before it: PWD is the working directory
  };
  constexpr std::array<End, 8> kEnds = {{{"pass", false, false},
                                         {"jwt", false, false},
                                         {"cookie", false, false},
                                         {"cookies", false, false},
                                         {"auth", false, false},
                                         {"pat", true, false},
                                         {"key", true, true},
                                         {"pwd", true, true}}};
  for (const std::string_view harmless : {"compass", "bypass"}) {
    if (lower.ends_with(harmless)) return false;
  }
  return std::any_of(kEnds.begin(), kEnds.end(), [&](const End& end) {
    if (!lower.ends_with(end.text)) return false;
    const std::size_t at = lower.size() - end.text.size();
    if (end.is_word && !begins_word(key, at)) return false;
    return !end.needs_more || at > 0;
  });
}

// The rest of the text where it is not blank, but for blanks before it.
TextPart rest_of(std::string_view text, std::size_t from) {
  const std::size_t at = text.find_first_not_of(kBlanks, from);
  return at == kNone ? TextPart{} : TextPart{at, text.size() - at};
}

// The value behind the name [begin, end), if it has one and is a secret's.
TextPart value_of(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view name = text.substr(begin, end - begin);
  constexpr std::string_view kBearer = "bearer";
  if (name.size() == kBearer.size() && lower_of(name) == kBearer && end < text.size() &&
      kBlanks.find(text[end]) != kNone) {
    return rest_of(text, end);
  }
  std::size_t at = end;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  at = std::min(text.find_first_not_of(kBlanks, at), text.size());
  const char mark = at < text.size() ? text[at] : '\0';
  // The colon behind a file's name is that of a search path.
  const bool is_file = begin > 0 && text[begin - 1] == '/';
  const bool is_assigned = mark == '=' || (mark == ':' && !is_file);
  const bool is_option = name.front() == '-' && at > end;
  if (!is_assigned && !is_option) return {};
  const TextPart value = rest_of(text, is_assigned ? at + 1 : at);
  // PWD is the working directory, in a connection's settings the password.
  const bool is_password = value.size > 0 && text[value.at] != '/' && lower_of(name) == "pwd";
  return is_password || names_a_secret(name) ? value : TextPart{};
}

// Behind the first "=", where anything before it names a secret, in a name or not.
TextPart find_assigned(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == kNone || !holds_mark(lower_of(text.substr(0, equals)))) return {};
  return {equals + 1, text.size() - equals - 1};
}

TextPart first_of(TextPart a, TextPart b) {
  if (a.size == 0) return b;
  return b.size > 0 && b.at < a.at ? b : a;
}

TextPart find_value(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_name(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_of_name(text[at])) ++at;
    if (const TextPart value = value_of(text, begin, at); value.size > 0) return value;
  }
  return {};
}

TextPart find_user_information(std::string_view text) {
  constexpr std::string_view kEnds = "/?# \t\r\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kEnds, begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t at = part.rfind('@');
    const bool in_url = begin >= 3 && text.substr(begin - 3, 3) == "://";
    if (at != kNone && at > 0 && (in_url || part.substr(0, at).find(':') != kNone)) {
      return {begin, at};
    }
    begin = end + 1;
  }
  return {};
}

}  // namespace

bool names_a_secret(std::string_view key) {
  const std::string lower = lower_of(key);
  if (holds_mark(lower)) return true;
  const std::size_t last = key.find_last_not_of("0123456789_-.");
  const std::size_t size = last == kNone ? 0 : last + 1;
  return ends_like_a_secret(key.substr(0, size), std::string_view(lower).substr(0, size));
}

TextPart find_secret(std::string_view text) {
  return first_of(first_of(find_value(text), find_assigned(text)), find_user_information(text));
}

}  // namespace rollcall::core
