#include "reading.hpp"

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::windows_backend {
namespace {

void unreadable(std::int64_t pid, const std::string& why, Code error, rollcall_observation& out) {
  std::string reason = backend::name(pid) + " is held, but " + why;
  if (error != 0) reason += ": " + error_text(error);
  out.flags = out.start_token_size = 0;
  out.age_ns = out.start_unix_ns = 0;
  plugin::set_unreadable(out, reason, error);
}

// For display only: the wall clock may have been stepped since, and then there is no age.
void set_age(const System& system, std::uint64_t created, rollcall_observation& out) {
  const auto start = unix_ns(created);
  const auto now = unix_ns(system.now());
  if (!start || !now) return;
  out.start_unix_ns = *start;
  out.flags |= ROLLCALL_OBS_START_TIME;
  if (*now < *start) return;
  out.age_ns = *now - *start;
  out.flags |= ROLLCALL_OBS_AGE;
}

// Its start, where one was asked for and could be read. A failure leaves the token out, which the
// framework takes for "cannot be told", never for a difference.
Code read_start(const System& system, const Pin& pin, const rollcall_ask& ask,
                rollcall_observation& out) {
  if ((ask.wants & (ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_AGE)) == 0) return 0;
  std::uint64_t created = 0;
  if (const Code error = system.creation_time(pin.handle.get(), created); error != 0) return error;
  const auto token = start_token(created);
  if (!token) return 0;
  plugin::set_start_token(out, *token);
  if ((ask.wants & ROLLCALL_WANT_AGE) != 0) set_age(system, created, out);
  return 0;
}

}  // namespace

void open_pin(const System& system, std::int64_t pid, std::uint32_t access, Pin& pin) {
  Handle handle = nullptr;
  pin.error = system.open_process(access, static_cast<std::uint32_t>(pid), handle);
  // A failure without an error is one all the same.
  if (pin.error == 0 && handle == nullptr) pin.error = kGeneralFailure;
  pin.other = false;
  if (pin.error != 0) return;
  pin.handle.reset(handle);
  std::uint32_t opened = 0;
  pin.error = system.process_id(handle, opened);
  pin.other = pin.error == 0 && opened != static_cast<std::uint32_t>(pid);
  if (pin.other || pin.error != 0) pin.handle.reset(nullptr);
}

void observe(const System& system, const rollcall_ask& ask, rollcall_observation& out) {
  out.pid = ask.pid;
  if (!backend::is_possible(ask.pid)) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    return;
  }
  Pin pin(system);
  open_pin(system, ask.pid, kToObserve, pin);
  observe_pinned(system, pin, ask, out);
}

void observe_pinned(const System& system, const Pin& pin, const rollcall_ask& ask,
                    rollcall_observation& out) {
  out.pid = ask.pid;
  if (pin.other || pin.error == kInvalidParameter) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    return;
  }
  if (!pin.handle.open()) {
    return unreadable(ask.pid, "it may not be opened", pin.error, out);
  }
  const Code no_start = read_start(system, pin, ask, out);
  Code error = 0;
  switch (system.wait(pin.handle.get(), 0, error)) {
    case WaitState::kSignalled:
      out.presence = ROLLCALL_PRESENCE_EXITED;
      return;
    case WaitState::kTimeout:
      break;
    case WaitState::kFailed:
      return unreadable(ask.pid, "whether it has exited could not be asked", error, out);
  }
  if (no_start != 0)
    return unreadable(ask.pid, "its creation time could not be read", no_start, out);
  out.presence = ROLLCALL_PRESENCE_PRESENT;
}

}  // namespace rollcall::windows_backend
