// One line out of a command's words, as programs of Windows take it apart again: there a process is
// given a line, not words. Built and tested everywhere. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rollcall/result.hpp"

namespace rollcall::core {

// The line that CommandLineToArgvW, and the C runtimes, split into exactly `words`. words[0] is the
// program's name, in which backslashes are not special and no quote can stand.
// Source:  "Parsing C++ command-line arguments" (learn.microsoft.com, cpp/cpp/main-function).
// Errors:  kInvalid: there is no word, a NUL byte in one, a quote in the first; kTooLarge: above
// the
//          32,766 units that CreateProcessW takes (counted in bytes, which are no fewer).
[[nodiscard]] Result<std::string> windows_command_line(const std::vector<std::string>& words);

// Whether the system would hand this file to cmd.exe: it ends in .bat or .cmd, in any case, with
// whatever blanks and dots Windows ignores behind it.
[[nodiscard]] bool is_batch_file(std::string_view path);

// The line for cmd.exe (`shell`, a full path) to run a batch file with words[1...]. cmd.exe knows
// no escape for a percent sign, a quote or a line break that holds for every batch file: a word
// with one is refused, never guessed at. Errors:  kInvalid (names the word), kTooLarge (cmd.exe
// takes 8,191).
[[nodiscard]] Result<std::string> batch_command_line(const std::string& shell,
                                                     const std::string& script,
                                                     const std::vector<std::string>& words);

}  // namespace rollcall::core
