#include "rollcall/process_details.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>
#include <utility>

#include "core/secret_name.hpp"

namespace rollcall {
namespace {

void each_part(std::string_view bytes, const std::function<void(std::string_view)>& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    take(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
  }
}

// Where the user information of the first url in `text` lies, behind "://": empty where there is
// none or it holds no secret.
std::string_view user_information(std::string_view text) {
  constexpr std::string_view kMark = "://";
  const std::size_t scheme = text.find(kMark);
  if (scheme == std::string_view::npos) return {};
  const std::string_view rest = text.substr(scheme + kMark.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?# \t\r\n"));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  return authority.substr(0, at);
}

// What variables are named besides: OPENAI_KEY, MYSQL_PWD. Not PWD or MONKEY.
bool ends_like_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"_key", "_pass", "_pwd", "_cookie"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
    if (name.size() < end.size()) return false;
    const std::string_view tail = name.substr(name.size() - end.size());
    return std::equal(tail.begin(), tail.end(), end.begin(), [](char byte, char wanted) {
      return (byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte) == wanted;
    });
  });
}

std::string without_user_information(std::string argument) {
  const std::string_view secret = user_information(argument);
  if (secret.empty()) return argument;
  const auto at = static_cast<std::size_t>(secret.data() - argument.data());
  return argument.replace(at, secret.size(), kRedacted);
}

}  // namespace

Environment parse_environment(std::string_view bytes) {
  Environment environment;
  std::unordered_set<std::string_view> known;
  each_part(bytes, [&](std::string_view entry) {
    const std::size_t equals = entry.size() < 2 ? std::string_view::npos : entry.find('=', 1);
    if (equals == std::string_view::npos) {
      ++environment.nameless;
    } else if (!known.insert(entry.substr(0, equals)).second) {
      ++environment.repeated;
    } else {
      environment.variables.push_back(
          {std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))});
    }
  });
  return environment;
}

std::vector<std::string> parse_command(std::string_view bytes) {
  std::vector<std::string> arguments;
  each_part(bytes, [&](std::string_view argument) { arguments.emplace_back(argument); });
  return arguments;
}

bool looks_secret(const Variable& variable) {
  return core::names_a_secret(variable.name) || ends_like_a_secret(variable.name) ||
         !user_information(variable.value).empty();
}

std::vector<std::string> redacted_command(std::vector<std::string> arguments) {
  bool next_is_secret = false;
  for (std::string& argument : arguments) {
    if (std::exchange(next_is_secret, false) && argument.rfind("-", 0) != 0) {
      argument = kRedacted;
      continue;
    }
    const std::size_t equals = argument.find('=');
    if (!core::names_a_secret(std::string_view(argument).substr(0, equals))) {
      argument = without_user_information(std::move(argument));
    } else if (equals != std::string::npos) {
      argument.replace(equals + 1, std::string::npos, kRedacted);
    } else {
      next_is_secret = argument.rfind("-", 0) == 0;
    }
  }
  return arguments;
}

}  // namespace rollcall
