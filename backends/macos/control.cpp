#include "control.hpp"

#include <signal.h>

#include <algorithm>
#include <string_view>

#include "reading.hpp"
#include "verdicts.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kStepNs =
    100 * kMillisecond;                      // at most this long until a cancel is honoured
constexpr std::int64_t kStepsOfReading = 2;  // between two readings, without a kqueue

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

void settle(rollcall_signal_outcome& out, std::uint32_t outcome, const Reason& why, int error = 0) {
  out.outcome = outcome;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, why.view());
}

void settle(rollcall_await_outcome& out, std::uint32_t outcome, const Reason& why) {
  out.outcome = outcome;
  plugin::set_text(out.reason, out.reason_size, why.view());
}

// Why this number is never signalled, whatever the verdict; null: it may be.
const char* never_signalled(std::int64_t pid) {
  if (pid < 1 || pid > INT32_MAX) return " is no pid that a process can hold";
  if (pid == 1) return " is init and is never signalled";
  return nullptr;
}

// How a later reading stands to the one that was judged.
enum class Same : std::uint8_t { kYes, kNo, kUnknown };

Same same_process(const rollcall_observation& judged, const rollcall_observation& now) {
  if (has_ended(now)) return Same::kNo;
  if (now.presence != ROLLCALL_PRESENCE_PRESENT || token(judged).empty() || token(now).empty()) {
    return Same::kUnknown;
  }
  return token(judged) == token(now) ? Same::kYes : Same::kNo;
}

Reason ended_how(const rollcall_observation& now) {
  if (has_ended(now)) return evidence(now);
  return reason("pid ", now.pid, " is held by a process that started at another time");
}

// The verdicts that send nothing. False: it is alive, and was seen to be there.
bool settle_unsent(std::uint32_t verdict, const rollcall_observation& seen,
                   rollcall_signal_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  settle(out, ROLLCALL_SIGNAL_REFUSED, reason(kUnverified, evidence(seen).view()),
         static_cast<int>(seen.os_code));
  return true;
}

// Tells the kernel to report the process's end. False: it cannot be watched.
bool watch(const System& system, int queue, std::int64_t pid) {
  struct kevent change = {};
  EV_SET(&change, static_cast<std::uintptr_t>(pid), EVFILT_PROC, EV_ADD | EV_ONESHOT | EV_RECEIPT,
         NOTE_EXIT, 0, nullptr);
  struct kevent receipt = {};
  const struct timespec at_once = {};
  if (system.kevent(queue, &change, 1, &receipt, 1, &at_once) != 1) return false;
  return (receipt.flags & EV_ERROR) != 0 && receipt.data == 0;
}

Status cancelled() {
  return failed(ROLLCALL_E_CANCELLED, 0, "waiting for the process to end was cancelled");
}

}  // namespace

rollcall_observation Control::read(std::int64_t pid) const {
  Once once;
  rollcall_ask ask = {};
  ask.pid = pid;
  rollcall_observation seen = {};
  observe(system_, ask, once, seen);
  return seen;
}

Status Control::signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                       rollcall_signal_outcome& out, const Bounds& bounds) const {
  const int number = native_signal(signal);
  if (number == 0) return failed(ROLLCALL_E_INVALID, 0, "unknown signal ", std::int64_t{signal});
  if (auto status = bounds.check(); !status.ok()) return status;
  if (const char* never = never_signalled(pid); never != nullptr) {
    settle(out, ROLLCALL_SIGNAL_REFUSED, reason("pid ", pid, never));
    return {};
  }
  const auto judged = read(pid);
  const auto verdict = judge(judged);
  if (pid == system_.getpid()) {  // the recorded process may have had our number before us
    const bool gone = verdict == ROLLCALL_JUDGE_GONE;
    settle(out, gone ? ROLLCALL_SIGNAL_ALREADY_GONE : ROLLCALL_SIGNAL_REFUSED,
           reason("pid ", pid, " is this process itself"));
    return {};
  }
  if (!settle_unsent(verdict, judged, out)) send(judged, number, out);
  return {};
}

void Control::send(const rollcall_observation& judged, int signal,
                   rollcall_signal_outcome& out) const {
  const auto number = static_cast<pid_t>(judged.pid);
  const auto now = read(judged.pid);
  const Same same = same_process(judged, now);
  // The window: from the reading above to the call below.
  const int error = same != Same::kYes || system_.kill(number, signal) == 0 ? 0 : errno;
  if (same == Same::kNo) {
    settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, ended_how(now));
  } else if (same == Same::kUnknown) {
    settle(out, ROLLCALL_SIGNAL_REFUSED, reason(kUnverified, evidence(now).view()),
           static_cast<int>(now.os_code));
  } else if (error == 0) {
    settle(out, ROLLCALL_SIGNAL_SENT, {});
  } else if (error == ESRCH) {
    settle(out, ROLLCALL_SIGNAL_ALREADY_GONE,
           reason("pid ", judged.pid, " ended before the signal"), error);
  } else {
    settle(out, ROLLCALL_SIGNAL_REFUSED,
           reason("may not signal pid ", judged.pid, ": ", error_text(error)), error);
  }
}

Status Control::await_exit(std::int64_t pid, const plugin::Judge& judge,
                           rollcall_await_outcome& out, const Bounds& bounds) const {
  const bool possible = pid >= 1 && pid <= INT32_MAX;
  const Fd queue(system_, possible ? system_.kqueue() : -1);
  const bool watched = queue.open() && watch(system_, queue.get(), pid);
  const auto judged = read(pid);
  const auto verdict = judge(judged);
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_AWAIT_ENDED, evidence(judged));
    return {};
  }
  if (verdict != ROLLCALL_JUDGE_ALIVE || judged.presence != ROLLCALL_PRESENCE_PRESENT) {
    settle(out, ROLLCALL_AWAIT_UNKNOWN, reason(kUnverified, evidence(judged).view()));
    return {};
  }
  return watched ? await_event(judged, queue.get(), out, bounds)
                 : await_readings(judged, out, bounds);
}

Status Control::await_event(const rollcall_observation& judged, int queue,
                            rollcall_await_outcome& out, const Bounds& bounds) const {
  for (;;) {
    const std::int64_t step = std::min(kStepNs, bounds.remaining_ns());  // 0: the last asking
    const auto wait = to_timespec(step);
    struct kevent event = {};
    const int count = system_.kevent(queue, nullptr, 0, &event, 1, &wait);
    if (count < 0 && errno != EINTR) return await_readings(judged, out, bounds);
    if (count > 0) {
      const bool exited = (event.flags & EV_ERROR) == 0 && (event.fflags & NOTE_EXIT) != 0;
      if (!exited) return await_readings(judged, out, bounds);
      settle(out, ROLLCALL_AWAIT_ENDED, reason("pid ", judged.pid, " has exited"));
      return {};
    }
    if (bounds.cancelled()) return cancelled();
    if (step > 0) continue;
    still_there(judged, out);
    return {};
  }
}

Status Control::await_readings(const rollcall_observation& judged, rollcall_await_outcome& out,
                               const Bounds& bounds) const {
  for (;;) {
    const bool last = bounds.remaining_ns() == 0;
    const auto now = read(judged.pid);
    if (same_process(judged, now) == Same::kNo) {
      settle(out, ROLLCALL_AWAIT_ENDED, ended_how(now));
      return {};
    }
    if (bounds.cancelled()) return cancelled();
    if (last) {
      still_there(judged, out);
      return {};
    }
    for (int i = 0; i < kStepsOfReading && !bounds.cancelled(); ++i) {
      const auto wait = to_timespec(std::min(kStepNs, bounds.remaining_ns()));
      (void)system_.nanosleep(&wait, nullptr);
    }
  }
}

// The deadline has come; it is asked once more.
void Control::still_there(const rollcall_observation& judged, rollcall_await_outcome& out) const {
  const auto now = read(judged.pid);
  const Same same = same_process(judged, now);
  if (same == Same::kNo) return settle(out, ROLLCALL_AWAIT_ENDED, ended_how(now));
  if (same == Same::kUnknown) return settle(out, ROLLCALL_AWAIT_UNKNOWN, evidence(now));
  const bool suspended = (now.flags & ROLLCALL_OBS_SUSPENDED) != 0;
  out.flags = suspended ? ROLLCALL_OBS_SUSPENDED : 0U;
  settle(
      out, ROLLCALL_AWAIT_STILL_THERE,
      reason("pid ", judged.pid, suspended ? " is still there, and stopped" : " is still there"));
}

}  // namespace rollcall::macos_backend
