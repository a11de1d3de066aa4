// The printed form of an identity: <pid>:<boot_id>:<start_token>.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "rollcall/identity.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool has_blank_or_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return true;
  }
  return false;
}

// Plain decimal in 1..INT32_MAX: no sign, no leading zero, no blank.
Result<std::int64_t> parse_pid(std::string_view text) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (text.empty() || text.front() < '1' || text.front() > '9' || error != std::errc{} ||
      end != text.data() + text.size() || !is_possible_pid(pid)) {
    return fail(ErrorCode::kInvalid, "the sentinel's pid is not a decimal number in 1..2147483647");
  }
  return pid;
}

}  // namespace

Result<std::string> format_sentinel(const ProcessIdentity& identity) {
  if (!is_possible_pid(identity.pid)) {
    return fail(ErrorCode::kInvalid, fmt::format("pid {} is held by no process", identity.pid));
  }
  if (!identity.boot_id || identity.boot_id->empty()) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("no sentinel for pid {}: its boot id is not known", identity.pid));
  }
  if (identity.start_token.empty()) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("no sentinel for pid {}: its start time is not known", identity.pid));
  }
  return fmt::format("{}:{}:{}", identity.pid, *identity.boot_id, identity.start_token);
}

Result<ProcessIdentity> parse_sentinel(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  text = trim(text);
  const auto first = text.find(':');
  const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "a sentinel is <pid>:<boot_id>:<start_token>");
  }
  const auto pid = parse_pid(text.substr(0, first));
  if (!pid) return tl::unexpected(pid.error());
  const std::string_view boot = text.substr(first + 1, second - first - 1);
  const std::string_view token = text.substr(second + 1);
  if (boot.empty()) return fail(ErrorCode::kInvalid, "the sentinel's boot id is empty");
  if (token.empty()) return fail(ErrorCode::kInvalid, "the sentinel's start token is empty");
  if (has_blank_or_control(boot) || has_blank_or_control(token)) {
    return fail(ErrorCode::kInvalid, "the sentinel holds a blank or a control character");
  }
  ProcessIdentity identity;
  identity.pid = *pid;
  identity.boot_id = std::string(boot);
  identity.start_token = std::string(token);
  return identity;
}

}  // namespace rollcall
