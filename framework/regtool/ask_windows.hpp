// Asks a command of Windows to stop, as SIGTERM does elsewhere.
#pragma once

#include <windows.h>

namespace rollcall::regtool {

// By its own stop event, where it listens to one; else by Ctrl-Break in its console, and by closing
// the windows of all processes in `job`. `process` is held open, so its pid is nobody else's, and
// leads a console group of its own. `shares_console`: it is on ours. Whoever hears none of these is
// not stopped: what then is the asker's to decide.
void ask_to_stop(HANDLE process, HANDLE job, bool shares_console);

}  // namespace rollcall::regtool
