#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>

#include "regtool/process_state.hpp"

namespace rollcall::regtool {

// One system call, without the C library's locks or memory.
RunState run_state(std::int64_t pid) noexcept {
  proc_bsdinfo info = {};
  const int size = proc_pidinfo(static_cast<int>(pid), PROC_PIDTBSDINFO, 0, &info, sizeof info);
  if (size != static_cast<int>(sizeof info)) return RunState::kUnknown;
  return info.pbi_status == SSTOP ? RunState::kStopped : RunState::kRunning;
}

}  // namespace rollcall::regtool
