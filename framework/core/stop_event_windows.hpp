// This process's own stop event (rollcall/windows_stop.hpp). For *_windows.cpp files only.
#pragma once

#include "core/handle_windows.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

// Makes it. It can be asked by as long as the handle is open, and is not inherited.
// Errors: kExists (it was made before, by us or by somebody who squats on its name), kIo.
[[nodiscard]] Result<Handle> make_stop_event();

}  // namespace rollcall::core
