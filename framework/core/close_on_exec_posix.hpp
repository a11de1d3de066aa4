// Descriptors that no program which is started later inherits. For *_posix.cpp files only.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace rollcall::core {

// As pipe(2), both ends close-on-exec. macOS has no call that does both at once: a process that
// another thread starts in between inherits the ends.
[[nodiscard]] inline int open_pipe(int (&ends)[2]) {
#if defined(__APPLE__)
  if (::pipe(ends) != 0) return -1;
  for (const int end : ends) static_cast<void>(::fcntl(end, F_SETFD, FD_CLOEXEC));
  return 0;
#else
  return ::pipe2(ends, O_CLOEXEC);
#endif
}

}  // namespace rollcall::core
