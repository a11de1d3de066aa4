// The form of a file in gone/ (docs/record-format.md).
#pragma once

#include <string>
#include <string_view>

#include "rollcall/file_store.hpp"
#include "rollcall/record.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

inline constexpr std::string_view kGoneSchema = "rollcall.gone/1";
inline constexpr std::size_t kMaxGoneBytes = 256 * 1024;  // a record that was escaped, and evidence

// `record` without its tokens: its door token, and every setting, label and unknown key whose name
// ends in token, secret or password. Pure.
[[nodiscard]] Record without_tokens(Record record);

// The file's text. Errors: kInvalid.
[[nodiscard]] Result<std::string> gone_text(const Record& record, const GoneEvidence& evidence);

// Errors: kCorrupt.
[[nodiscard]] Result<GoneRecord> parse_gone(std::string_view bytes, std::string_view session_id);

}  // namespace rollcall::registry
