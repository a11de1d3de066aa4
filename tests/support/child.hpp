// Child processes for tests of every platform: Child with sleeper(), pid(), start_token(), kill(),
// wait() and alive(); wait_until() and free_pid().
#pragma once

#if defined(_WIN32)
#include "support/process_windows.hpp"
#else
#include "support/process.hpp"
#endif
