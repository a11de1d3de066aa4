#include "control.hpp"

#include <signal.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "pidfs.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kStepMs = 100;     // at most this long until a cancel is honoured
constexpr std::int64_t kReadingMs = 200;  // between two readings, without a pidfd

int native_signal(std::uint32_t signal) {
  switch (signal) {
    case ROLLCALL_SIGNAL_TERM:
      return SIGTERM;
    case ROLLCALL_SIGNAL_INT:
      return SIGINT;
    case ROLLCALL_SIGNAL_HUP:
      return SIGHUP;
    case ROLLCALL_SIGNAL_QUIT:
      return SIGQUIT;
    case ROLLCALL_SIGNAL_KILL:
      return SIGKILL;
    case ROLLCALL_SIGNAL_USR1:
      return SIGUSR1;
    case ROLLCALL_SIGNAL_USR2:
      return SIGUSR2;
    case ROLLCALL_SIGNAL_CONT:
      return SIGCONT;
    case ROLLCALL_SIGNAL_STOP:
      return SIGSTOP;
    default:
      return 0;
  }
}

constexpr const char* kUnverified = "it could not be verified that this is the recorded process: ";

std::string name(std::int64_t pid) { return "pid " + std::to_string(pid); }

void settle(rollcall_signal_outcome& out, std::uint32_t outcome, std::string_view reason,
            int error = 0) {
  out.outcome = outcome;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, reason);
}

// What the observation itself says, for a verdict's reason.
std::string evidence(const rollcall_observation& seen) {
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
const char* never_signalled(std::int64_t pid) {
  if (pid < 1 || pid > INT32_MAX) return " is no pid that a process can hold";
  if (pid == 1) return " is init and is never signalled";
  return nullptr;
}

// The verdicts that send nothing. False: it is alive, and was seen to be there.
bool settle_unsent(std::uint32_t verdict, const rollcall_observation& seen,
                   rollcall_signal_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  settle(out, ROLLCALL_SIGNAL_REFUSED, kUnverified + evidence(seen),
         static_cast<int>(seen.os_code));
  return true;
}

// Our own number: the recorded process may have had it before us, but no signal follows.
void settle_own(std::uint32_t verdict, std::int64_t pid, rollcall_signal_outcome& out) {
  const bool gone = verdict == ROLLCALL_JUDGE_GONE;
  settle(out, gone ? ROLLCALL_SIGNAL_ALREADY_GONE : ROLLCALL_SIGNAL_REFUSED,
         name(pid) + " is this process itself");
}

void send(const System& system, int pidfd, std::int64_t pid, int signal,
          rollcall_signal_outcome& out) {
  if (system.pidfd_send_signal(pidfd, signal) == 0) {
    return settle(out, ROLLCALL_SIGNAL_SENT, {});
  }
  const int error = errno;
  if (error == ESRCH) {
    return settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, name(pid) + " ended before the signal", error);
  }
  settle(out, ROLLCALL_SIGNAL_REFUSED, "may not signal " + name(pid) + ": " + error_text(error),
         error);
}

// The same process still, as far as two readings tell.
bool differs(const rollcall_observation& first, const rollcall_observation& now) {
  const auto both = first.flags & now.flags;
  if ((both & ROLLCALL_OBS_EXACT_ID) != 0) return first.exact_id != now.exact_id;
  return (both & ROLLCALL_OBS_START_TOKEN) != 0 &&
         std::string_view(first.start_token, first.start_token_size) !=
             std::string_view(now.start_token, now.start_token_size);
}

// How long to wait now, in ms rounded up; 0: the deadline has come.
std::int64_t step_ms(const plugin::Call& call, std::int64_t at_most) {
  const std::int64_t remaining = call.remaining_ns();
  if (remaining >= at_most * kMillisecond) return at_most;
  return (remaining + kMillisecond - 1) / kMillisecond;
}

plugin::Status cancelled() {
  return {ROLLCALL_E_CANCELLED, "waiting for the process to end was cancelled"};
}

void ended(rollcall_await_outcome& out, std::string_view how) {
  out.outcome = ROLLCALL_AWAIT_ENDED;
  plugin::set_text(out.reason, out.reason_size, how);
}

}  // namespace

Control::Control(const plugin::Settings& settings) : Control(settings, linux_system()) {}

Control::Control(const plugin::Settings& settings, const System& system)
    : system_(system), reader_(system, std::string(settings.get("proc_root", "/proc"))) {}

plugin::Status Control::signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                               rollcall_signal_outcome& out, const plugin::Call& call) {
  const int number = native_signal(signal);
  if (number == 0) return {ROLLCALL_E_INVALID, "unknown signal " + std::to_string(signal)};
  if (auto status = call.check(); !status.ok()) return status;
  if (const char* never = never_signalled(pid); never != nullptr) {
    settle(out, ROLLCALL_SIGNAL_REFUSED, name(pid) + never);
    return {};
  }
  const Fd pidfd(system_, open_pidfd(system_, pid));
  const int error = pidfd.open() ? 0 : errno;
  const auto seen = read(pid, judge.wants(), pidfd);
  const auto verdict = judge(seen);
  if (pid == system_.getpid()) {
    settle_own(verdict, pid, out);
    return {};
  }
  if (settle_unsent(verdict, seen, out)) return {};
  if (pidfd.open()) {
    send(system_, pidfd.get(), pid, number, out);
  } else {
    settle(out, ROLLCALL_SIGNAL_REFUSED,
           name(pid) + " cannot be pinned (pidfd_open: " + error_text(error) +
               "), and signalling it by number could reach another",
           error);
  }
  return {};
}

plugin::Status Control::await_exit(std::int64_t pid, const plugin::Judge& judge,
                                   rollcall_await_outcome& out, const plugin::Call& call) {
  const bool possible = pid >= 1 && pid <= INT32_MAX;
  const Fd pidfd(system_, possible ? open_pidfd(system_, pid) : -1);
  const auto seen = read(pid, judge.wants() | ROLLCALL_WANT_START_TOKEN, pidfd);
  const auto verdict = judge(seen);
  if (verdict == ROLLCALL_JUDGE_GONE) {
    ended(out, evidence(seen));
    return {};
  }
  if (verdict != ROLLCALL_JUDGE_ALIVE || seen.presence != ROLLCALL_PRESENCE_PRESENT) {
    plugin::set_text(out.reason, out.reason_size, kUnverified + evidence(seen));
    return {};
  }
  return pidfd.open() ? await_pidfd(pid, pidfd.get(), out, call) : await_readings(seen, out, call);
}

rollcall_observation Control::read(std::int64_t pid, std::uint32_t wants, const Fd& pidfd) {
  Once once;
  rollcall_observation seen = {};
  const rollcall_ask ask = {.pid = pid, .wants = wants};
  if (pidfd.open()) {
    reader_.observe_pinned(pidfd.get(), ask, once, seen);
  } else {
    reader_.observe(ask, once, seen);
  }
  return seen;
}

plugin::Status Control::await_pidfd(std::int64_t pid, int pidfd, rollcall_await_outcome& out,
                                    const plugin::Call& call) {
  for (;;) {
    const std::int64_t step = step_ms(call, kStepMs);  // 0: this is the last asking
    switch (poll_pidfd(system_, pidfd, static_cast<int>(step))) {
      case PidfdState::kExited:
        ended(out, name(pid) + " has exited");
        return {};
      case PidfdState::kUnknown:
        plugin::set_text(out.reason, out.reason_size,
                         "its pidfd could not be polled: " + error_text(errno));
        return {};
      case PidfdState::kRunning:
        break;
    }
    if (call.cancelled()) return cancelled();
    if (step > 0) continue;
    still_there(pid, out);
    return {};
  }
}

plugin::Status Control::await_readings(const rollcall_observation& first,
                                       rollcall_await_outcome& out, const plugin::Call& call) {
  const std::int64_t pid = first.pid;
  const rollcall_ask ask = {.pid = pid,
                            .wants = ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_EXACT_ID};
  for (;;) {
    const bool last = call.remaining_ns() <= 0;
    Once once;
    rollcall_observation now = {};
    reader_.observe(ask, once, now);
    if (now.presence == ROLLCALL_PRESENCE_ABSENT || now.presence == ROLLCALL_PRESENCE_EXITED) {
      ended(out, evidence(now));
      return {};
    }
    if (differs(first, now)) {
      ended(out, name(pid) + " is held by a process that started at another time");
      return {};
    }
    if (call.cancelled()) return cancelled();
    if (last && now.presence == ROLLCALL_PRESENCE_PRESENT) {
      still_there(pid, out);
      return {};
    }
    if (last) {
      plugin::set_text(out.reason, out.reason_size, evidence(now));
      return {};
    }
    for (std::int64_t slept = 0; slept < kReadingMs && !call.cancelled(); slept += kStepMs) {
      (void)system_.poll(nullptr, 0, static_cast<int>(step_ms(call, kStepMs)));
    }
  }
}

void Control::still_there(std::int64_t pid, rollcall_await_outcome& out) {
  Once once;
  rollcall_observation now = {};
  reader_.observe({.pid = pid, .wants = ROLLCALL_WANT_STATE}, once, now);
  const bool suspended = (now.flags & ROLLCALL_OBS_SUSPENDED) != 0;
  out.outcome = ROLLCALL_AWAIT_STILL_THERE;
  out.flags = suspended ? ROLLCALL_OBS_SUSPENDED : 0U;
  plugin::set_text(out.reason, out.reason_size,
                   name(pid) + (suspended ? " is still there, and stopped" : " is still there"));
}

}  // namespace rollcall::linux_backend
