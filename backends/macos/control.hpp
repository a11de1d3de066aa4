// rollcall.process-control/1 on macOS, where nothing pins a process: a signal goes to a number, and
// the call before it in the same thread is the reading that found the recorded process there.
#pragma once

#include <cstdint>

#include "bounds.hpp"
#include "rollcall/plugin_parts.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// Has no state: any thread, concurrently.
class Control {
 public:
  explicit constexpr Control(const System& system) : system_(system) {}

  // Reads the process, has that reading judged, reads it again, and only where it is the same
  // process still calls kill(2), with nothing in between. Between these two calls the process may
  // end, be collected by its parent and the number be given to another: that window cannot be
  // closed here. Our own pid is judged and never signalled.
  Status signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                rollcall_signal_outcome& out, const Bounds& bounds) const;

  // By EVFILT_PROC of a kqueue, which is bound to the process itself. It is registered before the
  // reading that is judged: the process that is found alive there is the one that is watched.
  // Cancelling is honoured within 100 ms. Without a kqueue the process is read every 200 ms.
  Status await_exit(std::int64_t pid, const plugin::Judge& judge, rollcall_await_outcome& out,
                    const Bounds& bounds) const;

 private:
  [[nodiscard]] rollcall_observation read(std::int64_t pid) const;
  void send(const rollcall_observation& judged, int signal, rollcall_signal_outcome& out) const;
  Status await_event(const rollcall_observation& judged, int queue, rollcall_await_outcome& out,
                     const Bounds& bounds) const;
  Status await_readings(const rollcall_observation& judged, rollcall_await_outcome& out,
                        const Bounds& bounds) const;
  void still_there(const rollcall_observation& judged, rollcall_await_outcome& out) const;

  const System& system_;
};

}  // namespace rollcall::macos_backend
