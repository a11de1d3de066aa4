#include "control.hpp"

#include <signal.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/outcomes.hpp"
#include "pidfs.hpp"
#include "stop.hpp"

namespace rollcall::linux_backend {
namespace {

using backend::cancelled;
using backend::ended;
using backend::evidence;
using backend::kStepMs;
using backend::name;
using backend::settle;
using backend::step_ms;

constexpr std::int64_t kReadingMs = 200;  // between two readings, without a pidfd
constexpr const char* kEndedBefore = "it had ended before it was looked at";
constexpr std::int64_t kReapMs = 50;  // for the exit status of one whose parent reaps it

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

void send(const System& system, int pidfd, std::int64_t pid, int signal,
          rollcall_signal_outcome& out) {
  const Sent sent = send_signal(system, pidfd, pid, signal);
  switch (sent.outcome) {
    case Sent::Outcome::kSent:
      return settle(out, ROLLCALL_SIGNAL_SENT, {});
    case Sent::Outcome::kEnded:
      return settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, name(pid) + " ended before the signal",
                    sent.error);
    case Sent::Outcome::kRefused:
      return settle(out, ROLLCALL_SIGNAL_REFUSED, sent.reason, sent.error);
  }
}

void settle_unpinned(std::int64_t pid, int error, rollcall_signal_outcome& out) {
  settle(out, ROLLCALL_SIGNAL_REFUSED,
         name(pid) + " cannot be pinned (pidfd_open: " + error_text(error) +
             "), and signalling it by number could reach another",
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

// The shots in the system's numbers. False: one is none that is known here.
bool translate(const plugin::StopPlan& plan, std::vector<Shot>& shots, plugin::Status& problem) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const int number = native_signal(plan.shot(i).signal);
    if (number == 0) {
      problem = {ROLLCALL_E_INVALID, "unknown signal " + std::to_string(plan.shot(i).signal)};
      return false;
    }
    shots.push_back({number, plan.shot(i).after_ns});
  }
  return true;
}

void settle(rollcall_stop_outcome& out, const rollcall_signal_outcome& from) {
  out.outcome = from.outcome;
  out.os_code = from.os_code;
  plugin::set_text(out.reason, out.reason_size, {from.reason, from.reason_size});
  plugin::set_text(out.exit.why, out.exit.why_size, kEndedBefore);
  if (from.outcome == ROLLCALL_SIGNAL_ALREADY_GONE) out.end = ROLLCALL_AWAIT_ENDED;
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
  if (const char* never = backend::never_signalled(pid); never != nullptr) {
    settle(out, ROLLCALL_SIGNAL_REFUSED, name(pid) + never);
    return {};
  }
  const Fd pidfd(system_, open_pidfd(system_, pid));
  const int error = pidfd.open() ? 0 : errno;
  const auto seen = read(pid, judge.wants(), pidfd);
  const auto verdict = judge(seen);
  if (pid == system_.getpid()) {
    backend::settle_own(verdict, pid, out);
    return {};
  }
  if (backend::settle_unsent(verdict, seen, out)) return {};
  if (pidfd.open()) {
    send(system_, pidfd.get(), pid, number, out);
  } else {
    settle_unpinned(pid, error, out);
  }
  return {};
}

plugin::Status Control::await_exit(std::int64_t pid, const plugin::Judge& judge,
                                   rollcall_await_outcome& out, const plugin::Call& call) {
  const Fd pidfd(system_, backend::is_possible(pid) ? open_pidfd(system_, pid) : -1);
  const auto seen = read(pid, judge.wants() | ROLLCALL_WANT_START_TOKEN, pidfd);
  const auto verdict = judge(seen);
  if (backend::settle_awaited(verdict, seen, out)) {
    if (out.outcome != ROLLCALL_AWAIT_ENDED) return {};
    // Whoever exited under this number need not be the recorded process.
    plugin::set_text(out.exit.why, out.exit.why_size, kEndedBefore);
    return {};
  }
  return pidfd.open() ? await_pidfd(pid, pidfd.get(), out, call) : await_readings(seen, out, call);
}

plugin::Status Control::stop(std::int64_t pid, const plugin::StopPlan& plan,
                             const plugin::Judge& judge, const plugin::StopSink& sink,
                             rollcall_stop_outcome& out, const plugin::Call& call) {
  std::vector<Shot> shots;
  plugin::Status problem;
  if (!translate(plan, shots, problem)) return problem;
  if (auto status = call.check(); !status.ok()) return status;
  rollcall_signal_outcome unsent = {};
  if (const char* never = backend::never_signalled(pid); never != nullptr) {
    backend::settle(unsent, ROLLCALL_SIGNAL_REFUSED, name(pid) + never);
    settle(out, unsent);
    return {};
  }
  Fd pidfd(system_, open_pidfd(system_, pid));
  const int error = pidfd.open() ? 0 : errno;
  const auto seen = read(pid, judge.wants(), pidfd);
  const auto verdict = judge(seen);
  if (pid == system_.getpid()) {
    backend::settle_own(verdict, pid, unsent);
    settle(out, unsent);
    return {};
  }
  if (backend::settle_unsent(verdict, seen, unsent)) {
    settle(out, unsent);
    return {};
  }
  if (!pidfd.open()) {
    settle_unpinned(pid, error, unsent);
    settle(out, unsent);
    return {};
  }
  Stop stopping(system_, reader_.procfs(), plan, std::move(shots), call);
  const auto run = stopping.run(pid, pidfd.release(), out);
  // Who cancels it is still told what was sent.
  if (!run.ok() && out.outcome != ROLLCALL_SIGNAL_SENT) return run;
  return stopping.give(sink);
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
        read_exit(system_, pidfd, static_cast<int>(step_ms(call, kReapMs)), out.exit);
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
  backend::still_there(pid, (now.flags & ROLLCALL_OBS_SUSPENDED) != 0, out);
}

}  // namespace rollcall::linux_backend
