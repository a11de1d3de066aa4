// Windows has no SIGTERM: a process that wants to be asked to stop listens on a named event, which
// whoever may open it sets. docs/platforms.md tells the whole ladder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rollcall::core {

// The event of the process `pid` that started at `start_token` (both decimal). In the global
// namespace of the machine, so that a stop from another logon session finds it. A process that
// comes to hold the pid later has another token, and so another name. Pure.
[[nodiscard]] std::string stop_event_name(std::int64_t pid, std::string_view start_token);

}  // namespace rollcall::core
