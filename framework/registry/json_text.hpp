// What is checked of a JSON text before a parser sees it, and small objects of raw members.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/record.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// Drops a BOM; refuses what is empty, zero-filled, too large, UTF-16 or not UTF-8. RapidJSON would
// end at a NUL and let bad UTF-8 pass. Pure; any thread.
[[nodiscard]] tl::expected<std::string_view, RecordError> admit_json(std::string_view bytes,
                                                                     std::size_t max_bytes);

// Whether a text that was read with `\u` escapes holds half of a surrogate pair: RapidJSON lets a
// lone low one pass, and writes it as bytes that are not UTF-8.
[[nodiscard]] bool holds_lone_surrogate(std::string_view decoded);

// A key and its value as JSON text.
using RawMember = std::pair<std::string, std::string>;

// The members of a JSON object, in order. Errors: kInvalid (no object, a key twice, too deep).
[[nodiscard]] Result<std::vector<RawMember>> split_object(std::string_view json);

// The string that a JSON text holds. Errors: kInvalid.
[[nodiscard]] Result<std::string> string_value(std::string_view json);

}  // namespace rollcall::registry
