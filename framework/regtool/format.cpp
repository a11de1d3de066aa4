#include "regtool/format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/secret_name.hpp"
#include "core/shown_url.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

std::string format_uptime(std::optional<std::int64_t> seconds) {
  if (!seconds || *seconds < 0) return "-";
  const std::int64_t days = *seconds / kSecondsPerDay;
  const std::int64_t rest = *seconds % kSecondsPerDay;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{}d {}", days, clock) : clock;
}

std::string format_name(std::string_view name, std::string_view version) {
  if (name.empty()) return version.empty() ? "-" : fmt::format("@{}", version);
  return version.empty() ? std::string(name) : fmt::format("{}@{}", name, version);
}

std::string format_door(const Record& record) {
  if (record.url) return shown_url(*record.url);
  if (!record.door) return "-";
  if (record.door->kind == "unix") {
    for (const auto& [key, value] : record.door->settings) {
      if (key == "path") return "unix:" + value;
    }
  }
  return record.door->kind;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t lowest,
                                          std::int64_t highest) {
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), is_digit)) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char digit : text) value = value * 10 + (digit - '0');
  if (value < lowest || value > highest) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  const std::size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, number_end);
  const std::string_view unit = text.substr(number_end);
  std::int64_t unit_ns = 0;
  if (unit.empty() || unit == "s") {
    unit_ns = kNsPerSecond;
  } else if (unit == "ms") {
    unit_ns = 1'000'000;
  } else if (unit == "m") {
    unit_ns = 60 * kNsPerSecond;
  } else if (unit == "h") {
    unit_ns = 3600 * kNsPerSecond;
  } else {
    return std::nullopt;
  }
  constexpr std::int64_t kLongest = 30 * kSecondsPerDay * kNsPerSecond;
  const std::size_t point = number.find('.');
  const auto whole = parse_integer(number.substr(0, point), 0, kLongest);
  if (!whole || *whole > kLongest / unit_ns) return std::nullopt;
  std::int64_t total = *whole * unit_ns;
  if (point != std::string_view::npos) {
    const std::string_view digits = number.substr(point + 1);
    if (digits.empty() || digits.size() > 9 || !std::all_of(digits.begin(), digits.end(), is_digit))
      return std::nullopt;
    std::int64_t scale = unit_ns;
    for (const char digit : digits) {
      scale /= 10;
      total += (digit - '0') * scale;
    }
  }
  if (total <= 0 || total > kLongest) return std::nullopt;
  return total;
}

std::optional<KeyValue> parse_key_value(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals > 64) return std::nullopt;
  const std::string_view key = text.substr(0, equals);
  const bool plain = std::all_of(key.begin(), key.end(), [](char byte) {
    return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '.' || byte == '_' || byte == '-';
  });
  if (!plain) return std::nullopt;
  return KeyValue{std::string(key), std::string(text.substr(equals + 1))};
}

bool looks_secret(std::string_view key) { return core::names_a_secret(key); }

std::string_view shown_value(std::string_view key, std::string_view value) {
  return looks_secret(key) ? "(hidden)" : value;
}

}  // namespace rollcall::regtool
