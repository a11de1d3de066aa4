// Values as people read and type them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/record.hpp"

namespace rollcall::regtool {

// "00:01:05", "2d 03:00:00"; "-" for nullopt and negatives.
[[nodiscard]] std::string format_uptime(std::optional<std::int64_t> seconds);

// "name@version", "name" without a version, "-" without a name.
[[nodiscard]] std::string format_name(std::string_view name, std::string_view version);

// The door column: the url as it may be shown; else the kind of door, with the path of a "unix"
// one; else
// "-".
[[nodiscard]] std::string format_door(const Record& record);

// Plain decimal digits within [lowest, highest]; no sign, blank, base or exponent.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t lowest,
                                                        std::int64_t highest);

// "5", "1.5", "500ms", "5s", "2m", "1h": more than 0, at most 30 days; in nanoseconds. A number
// without a unit is seconds.
[[nodiscard]] std::optional<std::int64_t> parse_duration_ns(std::string_view text);

// "K=V" with a key of 1..64 characters [A-Za-z0-9._-].
struct KeyValue {
  std::string key;
  std::string value;
};
[[nodiscard]] std::optional<KeyValue> parse_key_value(std::string_view text);

// Whether the value of a key of this name is better not shown ("token", "password", ...).
[[nodiscard]] bool looks_secret(std::string_view key);

// The value, or "(hidden)" where its key looks secret.
[[nodiscard]] std::string_view shown_value(std::string_view key, std::string_view value);

}  // namespace rollcall::regtool
