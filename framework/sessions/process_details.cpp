#include "rollcall/process_details.hpp"

#include <algorithm>
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

// Without what core::find_secret finds: it looks again behind each, since several can be there, and
// leaves out the rest where there are many.
std::string without_secrets(std::string argument) {
  constexpr int kMost = 16;
  std::size_t from = 0;
  for (int found = 0; from < argument.size(); ++found) {
    const auto secret = core::find_secret(std::string_view(argument).substr(from));
    if (secret.size == 0) break;
    const std::size_t size = found < kMost ? secret.size : std::string::npos;
    argument.replace(from + secret.at, size, kRedacted);
    from += secret.at + kRedacted.size();
  }
  return argument;
}

// Whether the argument says by its form that the one after it is a secret: "--token", "Cookie:",
// "bearer".
bool announces_a_secret(std::string_view argument) {
  if (argument.empty()) return false;
  if (argument == "bearer" || argument == "Bearer") return true;
  if (argument.back() == ':') return core::names_a_secret(argument.substr(0, argument.size() - 1));
  return argument.front() == '-' && argument.find('=') == std::string_view::npos &&
         core::names_a_secret(argument);
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
  return core::names_a_secret(variable.name) || core::find_secret(variable.value).size > 0;
}

std::vector<std::string> redacted_command(std::vector<std::string> arguments) {
  bool is_secret = false;
  for (std::string& argument : arguments) {
    const bool announces = announces_a_secret(argument);
    if (is_secret && argument.rfind("-", 0) != 0) {
      argument = kRedacted;
    } else {
      argument = without_secrets(std::move(argument));
    }
    is_secret = announces;
  }
  return arguments;
}

}  // namespace rollcall
