// The real table.
#pragma once

#include "system.hpp"

namespace rollcall::windows_backend {

// The socket entries want Winsock started (WSAStartup).
[[nodiscard]] const System& windows_system();

}  // namespace rollcall::windows_backend
