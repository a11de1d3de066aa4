// What is checked of a JSON text before a parser sees it, and small objects of raw members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// A whole number as JSON writes it, without sign, leading zero, fraction or exponent.
[[nodiscard]] std::optional<std::uint64_t> plain_decimal(std::string_view text);

// `schema` of a file, seen from a reader of `ours` ("rollcall.record/1"): a greater number is
// newer, however many digits it has.
enum class SchemaRule : std::uint8_t { kOurs, kNewer, kForeign };
[[nodiscard]] SchemaRule judge_schema(std::string_view schema, std::string_view ours);

// A key and its value as JSON text.
using RawMember = std::pair<std::string, std::string>;

// The members of a JSON object, in order. Errors: kInvalid (no object, a key twice, too deep).
[[nodiscard]] Result<std::vector<RawMember>> split_object(std::string_view json);

// The elements of a JSON array as JSON texts. Errors: kInvalid (no array, too deep).
[[nodiscard]] Result<std::vector<std::string>> split_array(std::string_view json);

// A string as JSON text. `text` is UTF-8.
[[nodiscard]] std::string json_string(std::string_view text);

// The string that a JSON text holds. Errors: kInvalid.
[[nodiscard]] Result<std::string> string_value(std::string_view json);

}  // namespace rollcall::registry
