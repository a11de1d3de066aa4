// Takes one reading of one process. The only place where the system's answers become an
// observation.
#pragma once

#include <cstdint>

#include "rollcall/plugin_parts.hpp"
#include "system.hpp"

namespace rollcall::macos_backend {

// One PROC_PIDTBSDINFO, which shows zombies too.
struct Reading {
  enum class Outcome : std::uint8_t {
    kRead,    // `info` is whole and of the pid that was asked for
    kAbsent,  // ESRCH: no process holds the number
    kFailed,  // nothing was learnt: `error` is errno or 0, `why` static text
  };
  Outcome outcome = Outcome::kFailed;
  int error = 0;
  const char* why = "";
  proc_bsdinfo info = {};
};

// `pid` is within 1..INT32_MAX. One system call.
[[nodiscard]] Reading read_process(const System& system, std::int64_t pid);

// What is asked once for a whole batch, when it is first needed.
struct Once {
  std::int64_t unix_us = -1;  // CLOCK_REALTIME; -1: unknown
};

// Fills `out`, which is zeroed. Never fails: what could not be told is UNREADABLE with a reason.
// The start as an instant and the age come from the wall clock, as it stood when the process
// started and as it stands now; they are left out where it was stepped back behind the start.
void observe(const System& system, const rollcall_ask& ask, Once& once, rollcall_observation& out);

}  // namespace rollcall::macos_backend
