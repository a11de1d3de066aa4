// rollcall.process-control/1 on Windows: everything through one handle. While it is open the
// process's number is nobody else's, so that what goes by number reaches that process too.
#pragma once

#include <cstdint>

#include "reading.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::windows_backend {

// The exit code of a process that KILL ended: 128 + 9, what a shell says of SIGKILL.
inline constexpr std::uint32_t kKilled = 137;

// No settings. Threads: all methods may be called concurrently.
class Control : public plugin::ProcessControl {
 public:
  static constexpr bool kConcurrent = true;

  explicit Control(const System& system) : system_(system) {}
  ~Control() noexcept override = default;

  // TERM asks, by the first of these that there is:
  //   1. the event of rollcall/windows_stop.hpp;
  //   2. WM_CLOSE to its visible top-level windows on our desktop;
  //   3. CTRL_BREAK, where it leads a console process group and shares our console. It reaches
  //      that whole group.
  // Where there is none of them: REFUSED. INT and QUIT are the third alone. KILL is
  // TerminateProcess with kKilled. The others are E_UNSUPPORTED: Windows has nothing like them.
  // Our own pid is judged and never signalled.
  plugin::Status signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                        rollcall_signal_outcome& out, const plugin::Call& call) override;

  // Waits on the handle. Cancelling is honoured within 100 ms. The reason names the exit code.
  plugin::Status await_exit(std::int64_t pid, const plugin::Judge& judge,
                            rollcall_await_outcome& out, const plugin::Call& call) override;

 private:
  const System& system_;
};

}  // namespace rollcall::windows_backend
