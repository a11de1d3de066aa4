// From two states of a session to the events between them. Pure; any thread.
#pragma once

#include <optional>

#include "rollcall/journal.hpp"
#include "rollcall/registry.hpp"

namespace rollcall::watch {

// What a session is, as an event without a kind: read from its record and its process. kRemoved as
// kind: the record is not there any more.
[[nodiscard]] Event state_of(const SessionView& view, std::string_view store);
// The same once its record has gone: `last` with what its process is now.
[[nodiscard]] Event removed_state(const Event& last, ProcessState process, Reason reason,
                                  std::string text);

// Whether two states are of one process, as far as an event tells.
[[nodiscard]] bool is_same_process(const Event& a, const Event& b);

// Whether a session counts as there after this event.
[[nodiscard]] bool is_there(const Event& event);

// The event that leads from what was said last (nullopt: nothing was) to `now`; nullopt: there is
// nothing to say. `asks_doors` false: alive says no less than what a door said.
[[nodiscard]] std::optional<Event> difference(const std::optional<Event>& said, const Event& now,
                                              bool asks_doors);

}  // namespace rollcall::watch
