// How an event of a session is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/journal.hpp"

namespace rollcall::regtool {

class JsonWriter;

// The members of an event, into an object that is open. `kind`: as the journal has it.
void write_event(JsonWriter& json, const Event& event, std::string_view kind,
                 std::optional<Cursor> cursor);

// One line for people, without its ending; bytes: escaped when shown. Pure.
[[nodiscard]] std::string event_line(const Event& event, std::string_view kind);

}  // namespace rollcall::regtool
