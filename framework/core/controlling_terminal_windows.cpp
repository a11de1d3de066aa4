#include <windows.h>

#include "core/controlling_terminal.hpp"
#include "core/handle_windows.hpp"

namespace rollcall {

bool has_controlling_terminal() {
  // The console's own input, whatever the standard handles were pointed at. A process that was
  // made detached has none.
  const core::Handle console(::CreateFileW(L"CONIN$", GENERIC_READ,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                           OPEN_EXISTING, 0, nullptr));
  return console.valid();
}

}  // namespace rollcall
