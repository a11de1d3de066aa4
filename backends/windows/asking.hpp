// How a process is asked to stop, on a system without SIGTERM.
#pragma once

#include <cstdint>
#include <string>

#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::windows_backend {

struct Asked {
  bool sent = false;
  std::string how;  // by what it was asked, or why it could not be
  Code error = 0;
};

// Asks by the first way that there is; see Control::signal. `seen` is of a process that is pinned
// while this runs, so that its number is its own.
[[nodiscard]] Asked ask_to_stop(const System& system, const rollcall_observation& seen);

// By CTRL_BREAK alone. Windows sends a console event to a whole console where the number is no
// group's, and to each member where it is. So it is sent only where the process shares our console
// and its own parameters say that it leads its group: then nobody is reached but that group, which
// whoever launched it made for it.
[[nodiscard]] Asked ask_console(const System& system, std::int64_t pid);

}  // namespace rollcall::windows_backend
