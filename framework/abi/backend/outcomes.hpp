// What every platform's process control answers alike: the reasons in words, and which verdicts
// and numbers send nothing. For Rollcall's own backends; not installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rollcall/plugin.hpp"

namespace rollcall::backend {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kStepMs = 100;  // at most this long until a cancel is honoured

inline constexpr const char* kUnverified =
    "it could not be verified that this is the recorded process: ";

inline std::string name(std::int64_t pid) { return "pid " + std::to_string(pid); }

inline bool is_possible(std::int64_t pid) { return pid >= 1 && pid <= INT32_MAX; }

inline void settle(rollcall_signal_outcome& out, std::uint32_t outcome, std::string_view reason,
                   std::int64_t error = 0) {
  out.outcome = outcome;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, reason);
}

inline void settle(rollcall_watch_outcome& out, std::uint32_t outcome, std::string_view reason,
                   std::int64_t error = 0) {
  out.outcome = outcome;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, reason);
}

// What the observation itself says, for a verdict's reason.
inline std::string evidence(const rollcall_observation& seen) {
  if (seen.reason_size > 0) return {seen.reason, seen.reason_size};
  if ((seen.flags & ROLLCALL_OBS_THREAD) != 0) return name(seen.pid) + " is a thread's id";
  switch (seen.presence) {
    case ROLLCALL_PRESENCE_ABSENT:
      return "no process holds " + name(seen.pid);
    case ROLLCALL_PRESENCE_EXITED:
      return name(seen.pid) + " has exited";
    default:
      return name(seen.pid) + " is held";
  }
}

// Why this number is never signalled, whatever the verdict; null: it may be.
inline const char* never_signalled(std::int64_t pid) {
  if (!is_possible(pid)) return " is no pid that a process can hold";
  if (pid == 1) return " is init and is never signalled";
  return nullptr;
}

// The verdicts that send nothing. False: it is alive, and was seen to be there.
inline bool settle_unsent(std::uint32_t verdict, const rollcall_observation& seen,
                          rollcall_signal_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  settle(out, ROLLCALL_SIGNAL_REFUSED, kUnverified + evidence(seen), seen.os_code);
  return true;
}

// Our own number: the recorded process may have had it before us, but no signal follows.
inline void settle_own(std::uint32_t verdict, std::int64_t pid, rollcall_signal_outcome& out) {
  const bool gone = verdict == ROLLCALL_JUDGE_GONE;
  settle(out, gone ? ROLLCALL_SIGNAL_ALREADY_GONE : ROLLCALL_SIGNAL_REFUSED,
         name(pid) + " is this process itself");
}

// How long to wait now, in ms rounded up; 0: the deadline has come.
inline std::int64_t step_ms(const plugin::Call& call, std::int64_t at_most) {
  const std::int64_t remaining = call.remaining_ns();
  if (remaining >= at_most * kMillisecond) return at_most;
  return (remaining + kMillisecond - 1) / kMillisecond;
}

// How long to wait for events, in ms rounded up and at most `most`: a longer wait ends early, for
// no reason. -1: for ever.
inline std::int64_t wait_ms(const plugin::Call& call, std::int64_t most) {
  const std::int64_t left = call.remaining_ns();
  if (left == INT64_MAX) return -1;
  const std::int64_t ms = left / kMillisecond + (left % kMillisecond > 0 ? 1 : 0);
  return ms < most ? ms : most;
}

// The verdicts upon which nothing is watched. False: it is alive, and was seen to be there.
inline bool settle_unwatched(std::uint32_t verdict, const rollcall_observation& seen,
                             rollcall_watch_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_WATCH_GONE, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  settle(out, ROLLCALL_WATCH_UNVERIFIED, kUnverified + evidence(seen), seen.os_code);
  return true;
}

inline plugin::Status cancelled() {
  return {ROLLCALL_E_CANCELLED, "waiting for the process to end was cancelled"};
}

inline void ended(rollcall_await_outcome& out, std::string_view how) {
  out.outcome = ROLLCALL_AWAIT_ENDED;
  plugin::set_text(out.reason, out.reason_size, how);
}

// The verdicts after which there is nothing to wait for. False: it is alive, and was seen there.
inline bool settle_awaited(std::uint32_t verdict, const rollcall_observation& seen,
                           rollcall_await_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    ended(out, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  plugin::set_text(out.reason, out.reason_size, kUnverified + evidence(seen));
  return true;
}

inline void still_there(std::int64_t pid, bool suspended, rollcall_await_outcome& out) {
  out.outcome = ROLLCALL_AWAIT_STILL_THERE;
  out.flags = suspended ? ROLLCALL_OBS_SUSPENDED : 0U;
  plugin::set_text(out.reason, out.reason_size,
                   name(pid) + (suspended ? " is still there, and stopped" : " is still there"));
}

}  // namespace rollcall::backend
