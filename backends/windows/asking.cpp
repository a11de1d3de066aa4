#include "asking.hpp"

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "details.hpp"
#include "reading.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::windows_backend {
namespace {

bool leads_its_group(const System& system, std::int64_t pid) {
  Pin pin(system);
  open_pin(system, pid, kToObserve | kMayReadMemory, pin);
  if (!pin.handle.open()) return false;
  PebPlace place;
  Parameters parameters;
  return read_parameters(system, pin.handle.get(), pid, place, parameters).ok() &&
         parameters.group == static_cast<std::uint32_t>(pid);
}

}  // namespace

Asked ask_console(const System& system, std::int64_t pid) {
  const auto group = static_cast<std::uint32_t>(pid);
  if (!system.shares_console(group)) {
    return {.how = backend::name(pid) + " shares no console with this program"};
  }
  if (!leads_its_group(system, pid)) {
    return {.how = backend::name(pid) +
                   " leads no console process group of its own, and a console "
                   "event would reach others"};
  }
  if (const Code error = system.send_break(group); error != 0) {
    return {.how = "Ctrl-Break cannot be sent to " + backend::name(pid), .error = error};
  }
  return {.sent = true, .how = "asked by Ctrl-Break"};
}

Asked ask_to_stop(const System& system, const rollcall_observation& seen) {
  const auto event =
      from_ascii(plugin::stop_event_name(seen.pid, {seen.start_token, seen.start_token_size}));
  const Code no_event = seen.start_token_size == 0 ? kFileNotFound : system.set_event(event);
  if (no_event == 0) return {.sent = true, .how = "asked by its stop event"};
  std::uint32_t asked = 0;
  const Code no_window = system.close_windows(static_cast<std::uint32_t>(seen.pid), asked);
  if (asked > 0) return {.sent = true, .how = "asked to close its windows"};
  Asked console = ask_console(system, seen.pid);
  if (console.sent) return console;
  if (no_event != kFileNotFound) {
    return {.how = "its stop event may not be set", .error = no_event};
  }
  if (no_window != 0) return {.how = "its windows may not be closed", .error = no_window};
  if (console.error != 0) return console;
  return {.how = backend::name(seen.pid) +
                 " has no stop event, no window here and no console group of ours: only KILL can "
                 "end it"};
}

}  // namespace rollcall::windows_backend
