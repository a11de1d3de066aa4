// Starts a process that is given exactly the handles that it is meant to have. For *_windows.cpp
// files only.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <windows.h>

#include "core/handle_windows.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

struct Spawn {
  std::string program;       // the file itself: nothing is looked up, nothing is appended
  std::string command_line;  // of core/command_line.hpp
  DWORD flags = 0;           // CREATE_SUSPENDED and its like; the environment is ours
  // Input, output, error: whatever they are, the process gets duplicates of them. Null: it has
  // none.
  std::array<HANDLE, 3> streams{};
  std::vector<HANDLE> also;  // further handles, which are inheritable already, under their numbers
};

struct Spawned {
  Handle process;
  Handle thread;  // the first one
  DWORD pid = 0;
};

// Errors: kInvalid (a text that is not UTF-8), kNotFound (no such file), kIo; os_code is
// GetLastError(). Threads: any; a handle made inheritable by another thread at this moment goes to
// no process that is started here.
[[nodiscard]] Result<Spawned> spawn(const Spawn& what);

}  // namespace rollcall::core
