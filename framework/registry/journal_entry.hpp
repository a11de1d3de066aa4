// One line of the journal: an event as JSON, and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rollcall/journal.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// More than any event makes: each text is cut, and a byte of a text becomes at most six.
inline constexpr std::size_t kMaxEntryBytes = 64 * 1024;

// The line with its ending. Pure; any thread.
[[nodiscard]] std::string entry_line(const Event& event);

// The strict reverse, of a line without its ending; `cursor` is the caller's matter. What a newer
// writer added is ignored; a kind that is not known is kOther. Errors: kCorrupt. Pure; any thread.
[[nodiscard]] Result<JournalEntry> parse_entry(std::string_view line);

}  // namespace rollcall::registry
