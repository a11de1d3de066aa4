#include "liveness/boot.hpp"

#include <charconv>
#include <string_view>

namespace rollcall {
namespace {

// Two boot times in Unix seconds count as one boot up to this far apart, inclusive.
constexpr std::int64_t kBootToleranceS = 120;

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

BootMatch compare_seconds(std::string_view recorded, std::string_view now) {
  const auto then_s = parse_seconds(recorded);
  const auto now_s = parse_seconds(now);
  if (!then_s || !now_s) return BootMatch::kUnreadable;
  const std::int64_t apart = *then_s > *now_s ? *then_s - *now_s : *now_s - *then_s;
  return apart <= kBootToleranceS ? BootMatch::kSame : BootMatch::kAnother;
}

}  // namespace

BootMatch compare_boots(const std::optional<std::string>& recorded, const Here& here) {
  if (!recorded) return BootMatch::kNeverRecorded;
  if (recorded->empty() || !here.boot_id || here.boot_id->empty()) return BootMatch::kUnreadable;
  switch (here.boot_rule) {
    case BootRule::kExact:
      return *recorded == *here.boot_id ? BootMatch::kSame : BootMatch::kAnother;
    case BootRule::kWithin120s:
      return compare_seconds(*recorded, *here.boot_id);
    case BootRule::kEqualOnly:
      return *recorded == *here.boot_id ? BootMatch::kSame : BootMatch::kUnreadable;
  }
  return BootMatch::kUnreadable;
}

}  // namespace rollcall
