// What procfs says of a process, for tests of Linux.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rollcall::testing {

// What /proc/PID/stat holds behind the command name, split on blanks; [0] is field 3, the state.
// Read apart from the code under test. Empty where there is no such process.
std::vector<std::string> stat_fields(pid_t pid);

}  // namespace rollcall::testing
