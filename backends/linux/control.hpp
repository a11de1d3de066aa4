// rollcall.process-control/1 on Linux: everything through a pidfd, which no reuse of the pid fools.
#pragma once

#include <cstdint>

#include "reading.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// Settings: proc_root, as Probe's. Threads: all methods may be called concurrently.
class Control final : public plugin::ProcessControl {
 public:
  static constexpr bool kConcurrent = true;

  explicit Control(const plugin::Settings& settings);
  Control(const plugin::Settings& settings, const System& system);
  ~Control() noexcept override = default;

  // Our own pid is judged and never signalled. Never kill(2): where no pidfd is to be had, a
  // process that is gone is ALREADY_GONE and any other is REFUSED with that errno.
  plugin::Status signal(std::int64_t pid, std::uint32_t signal, const plugin::Judge& judge,
                        rollcall_signal_outcome& out, const plugin::Call& call) override;

  // Cancelling is honoured within 100 ms. Without a pidfd the process is read every 200 ms.
  plugin::Status await_exit(std::int64_t pid, const plugin::Judge& judge,
                            rollcall_await_outcome& out, const plugin::Call& call) override;

  // See stop.hpp.
  plugin::Status stop(std::int64_t pid, const plugin::StopPlan& plan, const plugin::Judge& judge,
                      const plugin::StopSink& sink, rollcall_stop_outcome& out,
                      const plugin::Call& call) override;

 private:
  // One reading, through the pidfd where there is one.
  rollcall_observation read(std::int64_t pid, std::uint32_t wants, const Fd& pidfd);
  plugin::Status await_pidfd(std::int64_t pid, int pidfd, rollcall_await_outcome& out,
                             const plugin::Call& call);
  plugin::Status await_readings(const rollcall_observation& first, rollcall_await_outcome& out,
                                const plugin::Call& call);
  void still_there(std::int64_t pid, rollcall_await_outcome& out);

  const System& system_;
  Reader reader_;
};

}  // namespace rollcall::linux_backend
