// Takes one reading of one process. The only place where Windows' answers become an observation.
#pragma once

#include <cstdint>
#include <string>

#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::windows_backend {

// A process held open: its number is nobody else's while the handle is. Threads: one at a time.
struct Pin {
  explicit Pin(const System& system) : handle(system) {}
  OwnedHandle handle;
  Code error = 0;      // why there is no handle
  bool other = false;  // the system has no process of this number: what it opened is another
};

// Opens `pid`, which is possible. Windows ignores a pid's low two bits when it opens one, so the
// handle counts only if its process has that very number.
void open_pin(const System& system, std::int64_t pid, std::uint32_t access, Pin& pin);

// Fills `out`, which is zeroed. Never fails: what could not be told is UNREADABLE with a reason.
//   error 87 of the opening  ABSENT: the documented answer for a number that nobody has
//   another's handle         ABSENT
//   error 5 and any other    UNREADABLE: held, as far as one may know
//   a signalled handle       EXITED, whatever the exit code: 259 (STILL_ACTIVE) is a legal one
//   a wait that fails        UNREADABLE
void observe(const System& system, const rollcall_ask& ask, rollcall_observation& out);

// The same through a pin that is held: what is read is this process's.
void observe_pinned(const System& system, const Pin& pin, const rollcall_ask& ask,
                    rollcall_observation& out);

}  // namespace rollcall::windows_backend
