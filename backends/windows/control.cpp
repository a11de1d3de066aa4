#include "control.hpp"

#include <string>
#include <string_view>

#include "asking.hpp"
#include "backend/outcomes.hpp"
#include "decode.hpp"

namespace rollcall::windows_backend {
namespace {

using backend::ended;
using backend::kStepMs;
using backend::name;
using backend::settle;
using backend::step_ms;

enum class Way : std::uint8_t { kUnknown, kAsk, kBreak, kKill, kNone };

Way way_of(std::uint32_t signal) {
  switch (signal) {
    case ROLLCALL_SIGNAL_TERM:
      return Way::kAsk;
    case ROLLCALL_SIGNAL_INT:
    case ROLLCALL_SIGNAL_QUIT:
      return Way::kBreak;
    case ROLLCALL_SIGNAL_KILL:
      return Way::kKill;
    case ROLLCALL_SIGNAL_HUP:
    case ROLLCALL_SIGNAL_USR1:
    case ROLLCALL_SIGNAL_USR2:
    case ROLLCALL_SIGNAL_CONT:
    case ROLLCALL_SIGNAL_STOP:
      return Way::kNone;
    default:
      return Way::kUnknown;
  }
}

bool has_ended(const System& system, const Pin& pin) {
  Code ignored = 0;
  return system.wait(pin.handle.get(), 0, ignored) == WaitState::kSignalled;
}

void refuse(const std::string& why, Code error, rollcall_signal_outcome& out) {
  settle(out, ROLLCALL_SIGNAL_REFUSED, error == 0 ? why : why + ": " + error_text(error), error);
}

void ended_before(std::int64_t pid, rollcall_signal_outcome& out) {
  settle(out, ROLLCALL_SIGNAL_ALREADY_GONE, name(pid) + " ended before the signal");
}

void kill(const System& system, const Pin& pin, std::int64_t pid, Code denied,
          rollcall_signal_outcome& out) {
  // Wine takes the end of a process that has ended for done; Windows says "access denied" of it.
  if (has_ended(system, pin)) return ended_before(pid, out);
  const Code error = denied != 0 ? denied : system.terminate(pin.handle.get(), kKilled);
  if (error == 0) return settle(out, ROLLCALL_SIGNAL_SENT, {});
  if (has_ended(system, pin)) return ended_before(pid, out);
  refuse("may not end " + name(pid), error, out);
}

void ask(const System& system, const Pin& pin, const rollcall_observation& seen, bool break_only,
         rollcall_signal_outcome& out) {
  const Asked asked = break_only ? ask_console(system, seen.pid) : ask_to_stop(system, seen);
  if (asked.sent) return settle(out, ROLLCALL_SIGNAL_SENT, asked.how);
  if (has_ended(system, pin)) return ended_before(seen.pid, out);
  refuse(asked.how, asked.error, out);
}

// All 32 bits of its code.
void settle_ended(const System& system, const Pin& pin, std::int64_t pid,
                  rollcall_await_outcome& out) {
  std::uint32_t code = 0;
  const std::string text = name(pid) + " has exited";
  if (system.exit_code(pin.handle.get(), code) != 0) {
    plugin::set_text(out.exit.why, out.exit.why_size, "its handle did not tell it");
    return ended(out, text);
  }
  out.exit.kind = ROLLCALL_EXIT_CODE;
  out.exit.value = static_cast<std::int32_t>(code);
  ended(out, text + " with code " + std::to_string(code));
}

plugin::Status await_handle(const System& system, const Pin& pin, std::int64_t pid,
                            rollcall_await_outcome& out, const plugin::Call& call) {
  for (;;) {
    const std::int64_t step = step_ms(call, kStepMs);  // 0: this is the last asking
    Code error = 0;
    switch (system.wait(pin.handle.get(), static_cast<std::uint32_t>(step), error)) {
      case WaitState::kSignalled:
        settle_ended(system, pin, pid, out);
        return {};
      case WaitState::kFailed:
        plugin::set_text(out.reason, out.reason_size,
                         "its handle could not be waited on: " + error_text(error));
        return {};
      case WaitState::kTimeout:
        break;
    }
    if (call.cancelled()) return backend::cancelled();
    if (step > 0) continue;
    backend::still_there(pid, false, out);
    return {};
  }
}

}  // namespace

plugin::Status Control::signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                               rollcall_signal_outcome& out, const plugin::Call& call) {
  const Way way = way_of(signal);
  if (way == Way::kUnknown) {
    return {ROLLCALL_E_INVALID, "unknown signal " + std::to_string(signal)};
  }
  if (way == Way::kNone) {
    return {ROLLCALL_E_UNSUPPORTED,
            "Windows has no such signal; TERM asks a process to stop, KILL ends it"};
  }
  if (auto status = call.check(); !status.ok()) return status;
  if (const char* never = backend::never_signalled(pid); never != nullptr) {
    settle(out, ROLLCALL_SIGNAL_REFUSED, name(pid) + never);
    return {};
  }
  Pin pin(system_);
  open_pin(system_, pid, kToObserve | (way == Way::kKill ? kMayTerminate : 0), pin);
  const Code denied = way == Way::kKill && pin.error == kAccessDenied ? pin.error : 0;
  if (denied != 0) open_pin(system_, pid, kToObserve, pin);  // to see at least whether it is gone
  rollcall_observation seen = {};
  observe_pinned(system_, pin, {.pid = pid, .wants = judge.wants() | ROLLCALL_WANT_START_TOKEN},
                 seen);
  const auto verdict = judge(seen);
  if (pid == system_.current_pid()) {
    backend::settle_own(verdict, pid, out);
  } else if (!backend::settle_unsent(verdict, seen, out)) {
    if (way == Way::kKill) {
      kill(system_, pin, pid, denied, out);
    } else {
      ask(system_, pin, seen, way == Way::kBreak, out);
    }
  }
  return {};
}

plugin::Status Control::await_exit(std::int64_t pid, const plugin::Judge& judge,
                                   rollcall_await_outcome& out, const plugin::Call& call) {
  Pin pin(system_);
  rollcall_observation seen = {.pid = pid, .presence = ROLLCALL_PRESENCE_ABSENT};
  if (backend::is_possible(pid)) {
    open_pin(system_, pid, kToObserve, pin);
    observe_pinned(system_, pin, {.pid = pid, .wants = judge.wants() | ROLLCALL_WANT_START_TOKEN},
                   seen);
  }
  const auto verdict = judge(seen);
  if (verdict == ROLLCALL_JUDGE_GONE && seen.presence == ROLLCALL_PRESENCE_EXITED) {
    settle_ended(system_, pin, pid, out);
    return {};
  }
  if (backend::settle_awaited(verdict, seen, out)) return {};
  return await_handle(system_, pin, pid, out, call);
}

}  // namespace rollcall::windows_backend
