#include "core/secret_name.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace rollcall::core {

bool names_a_secret(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  });
  constexpr std::array<std::string_view, 10> kMarks = {
      "token",   "secret", "passw",   "passphrase", "credential",
      "api_key", "apikey", "api-key", "private",    "authorization"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return lower.find(mark) != std::string::npos; });
}

}  // namespace rollcall::core
