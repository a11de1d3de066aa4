// Session ids and tokens: what they may be made of.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/random.hpp"
#include "core/text.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kMaxIdBytes = 128;
constexpr std::size_t kMaxTokenBytes = 4096;

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_folded(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, folded);
}

bool ends_with_folded(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         same_folded(text.substr(text.size() - lower_case.size()), lower_case);
}

// Device names, with or without anything behind a dot.
bool is_reserved_by_windows(std::string_view id) {
  const std::string_view stem = id.substr(0, id.find('.'));
  if (stem.size() == 3) {
    return same_folded(stem, "con") || same_folded(stem, "prn") || same_folded(stem, "aux") ||
           same_folded(stem, "nul");
  }
  const bool numbered = stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9';
  return numbered &&
         (same_folded(stem.substr(0, 3), "com") || same_folded(stem.substr(0, 3), "lpt"));
}

// The rule that `id` breaks; empty where it breaks none.
std::string_view broken_rule(std::string_view id) {
  if (id.empty()) return "it is empty";
  if (id.size() > kMaxIdBytes) return "it is longer than 128 bytes";
  if (!std::ranges::all_of(
          id, [](char c) { return is_alnum(c) || c == '.' || c == '_' || c == '-'; })) {
    return "only letters, digits, '.', '_' and '-' may be in it";
  }
  if (!is_alnum(id.front())) return "its first character must be a letter or a digit";
  if (id.back() == '.') return "it may not end in a dot";
  for (const std::string_view ending : {".json", ".control", ".tmp"}) {
    if (ends_with_folded(id, ending)) return "it may not end in .json, .control or .tmp";
  }
  if (is_reserved_by_windows(id)) return "Windows reserves that name for a device";
  return {};
}

}  // namespace

Status check_session_id(std::string_view id) {
  const std::string_view rule = broken_rule(id);
  if (rule.empty()) return {};
  constexpr std::size_t kShown = 64;
  return fail(ErrorCode::kInvalid,
              fmt::format("'{}{}' is no session id: {}", text::for_terminal(id.substr(0, kShown)),
                          id.size() > kShown ? "..." : "", rule));
}

// RFC 9562, UUID version 7: 48 bits of milliseconds, then 12 bits of the millisecond's fraction
// (section 6.2, method 3), then 62 random bits. The ids of one writer sort by time.
Result<std::string> make_session_id(std::int64_t unix_ns) {
  if (unix_ns < 0) {
    return fail(ErrorCode::kInvalid, "cannot make a session id: the clock is before 1970");
  }
  const auto random = core::random_u64();
  if (!random) return wrap("cannot make a session id", random.error());
  const auto now = static_cast<std::uint64_t>(unix_ns);
  const std::uint64_t ms = now / 1'000'000;
  const std::uint64_t fraction = now % 1'000'000 * 4096 / 1'000'000;
  const std::uint64_t high = ms << 16 | 0x7000 | fraction;
  const std::uint64_t low = (*random & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000;
  return fmt::format("ses_{:016x}{:016x}", high, low);
}

Status check_token(std::string_view token) {
  if (token.empty()) return fail(ErrorCode::kInvalid, "the token is empty");
  if (token.size() > kMaxTokenBytes) {
    return fail(ErrorCode::kInvalid, "the token is longer than 4096 bytes");
  }
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; })) {
    return fail(ErrorCode::kInvalid,
                "the token holds a byte that is not visible ASCII (no blanks are allowed)");
  }
  return {};
}

}  // namespace rollcall
