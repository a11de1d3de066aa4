// Whether this process was launched from a terminal.
#pragma once

namespace rollcall {

// Asked by opening the controlling terminal itself (/dev/tty; Windows: the console, CONIN$), not by
// isatty(3) on a descriptor, which a redirection would change. False too where it cannot be opened
// for another reason.
// Threads: any.
[[nodiscard]] bool has_controlling_terminal();

}  // namespace rollcall
