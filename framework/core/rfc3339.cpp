#include "core/rfc3339.hpp"

#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace rollcall::core {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

struct Date {
  std::int64_t year = 0;
  int month = 0;
  int day = 0;
};

// Days since 1970-01-01 and back, in the proleptic Gregorian calendar (Howard Hinnant's
// chrono-compatible algorithms: eras of 400 years that begin in March).
std::int64_t days_from(const Date& date) {
  const std::int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month = date.month + (date.month > 2 ? -3 : 9);
  const std::int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

Date date_from(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;
  const int civil_month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  return {.year = year_of_era + era * 400 + (civil_month <= 2 ? 1 : 0),
          .month = civil_month,
          .day = static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1)};
}

int days_in(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Takes a number of exactly `digits` digits off the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// An optional fraction, in nanoseconds.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  std::int64_t value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    if (digits == 9) return std::nullopt;
    value = value * 10 + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  for (; digits < 9; ++digits) value *= 10;
  return value;
}

std::optional<std::int64_t> parse(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || *day < 1 || *day > days_in(*year, *month) || !take(text, 'T')) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction || (text != "Z" && text != "+00:00")) return std::nullopt;
  if (*year < 1678 || *year > 2261) return std::nullopt;  // whole years that 64 bits hold
  const std::int64_t days = days_from({.year = *year, .month = *month, .day = *day});
  const std::int64_t seconds =
      days * kSecondsPerDay + *hour * 3'600 + *minute * 60 + std::int64_t{*second};
  return seconds * kNsPerSecond + *fraction;
}

}  // namespace

std::string format_rfc3339_utc(std::int64_t unix_ns) {
  std::int64_t seconds = unix_ns / kNsPerSecond;
  std::int64_t ns = unix_ns % kNsPerSecond;
  if (ns < 0) {
    ns += kNsPerSecond;
    --seconds;
  }
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t of_day = seconds % kSecondsPerDay;
  if (of_day < 0) {
    of_day += kSecondsPerDay;
    --days;
  }
  const Date date = date_from(days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", date.year, date.month, date.day,
                     of_day / 3'600, of_day / 60 % 60, of_day % 60, ns / 1'000'000);
}

Result<std::int64_t> parse_rfc3339_utc(std::string_view text) {
  if (const auto value = parse(text)) return *value;
  return fail(ErrorCode::kInvalid, "the time is not RFC 3339 in UTC (YYYY-MM-DDTHH:MM:SSZ)");
}

}  // namespace rollcall::core
