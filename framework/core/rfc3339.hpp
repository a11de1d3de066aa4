// Instants as text: RFC 3339 in UTC, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rollcall/result.hpp"

namespace rollcall::core {

// "2026-09-15T21:54:57.123Z", rounded down to milliseconds. `unix_ns`: nanoseconds since 1970-01-01
// UTC, of any sign. Pure; any thread.
[[nodiscard]] std::string format_rfc3339_utc(std::int64_t unix_ns);

// The strict reverse: "YYYY-MM-DDTHH:MM:SS", an optional fraction of 1 to 9 digits, and "Z" (or
// "+00:00"). Capital letters, a real date, no second 60, and within what 64 bits of nanoseconds
// hold (1678 to 2261). Any other offset is refused: the text is to be in UTC. Errors: kInvalid.
// Pure; any thread.
[[nodiscard]] Result<std::int64_t> parse_rfc3339_utc(std::string_view text);

}  // namespace rollcall::core
