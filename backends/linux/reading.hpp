// Takes one reading of one process. The only place where the system's answers become an
// observation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pidfs.hpp"
#include "procfs.hpp"
#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::linux_backend {

struct Stat;

// What is asked once for a whole batch, when it is first needed.
struct Once {
  std::optional<bool> proc_is_ours;
  bool clocks_read = false;
  std::int64_t since_boot_ns = -1;  // CLOCK_BOOTTIME, as this time namespace sees it; -1: unknown
  std::int64_t unix_ns = -1;        // CLOCK_REALTIME
};

// Threads: any, concurrently; each with an Once of its own.
class Reader {
 public:
  Reader(const System& system, std::string proc_root);

  // Fills `out`, which is zeroed. Never fails: what could not be told is UNREADABLE with a reason.
  // No allocation, and no call beyond those that the answer needs, where the process is there.
  void observe(const rollcall_ask& ask, Once& once, rollcall_observation& out);

  // The same through a pidfd of the process: what is read here was this process's, or the
  // observation says EXITED. An exact id that was asked for, that the kernel has and that could not
  // be read makes it UNREADABLE.
  void observe_pinned(int pidfd, const rollcall_ask& ask, Once& once, rollcall_observation& out);

  [[nodiscard]] const System& system() const { return system_; }
  [[nodiscard]] const Procfs& procfs() const { return procfs_; }
  [[nodiscard]] Pidfs& pidfs() { return pidfs_; }

 private:
  // Why a stat told nothing. `why` is static text; `error` is errno, or 0.
  struct Failure {
    const char* why = nullptr;
    int error = 0;
  };

  bool by_pidfd(const rollcall_ask& ask, Once& once, rollcall_observation& out);
  void by_stat(const rollcall_ask& ask, Once& once, rollcall_observation& out);
  Failure read_stat(const rollcall_ask& ask, Once& once, rollcall_observation& out);
  Failure read_stat_once(const rollcall_ask& ask, Once& once, rollcall_observation& out);
  void without_stat(const rollcall_ask& ask, const Failure& failure, rollcall_observation& out);
  void unreadable(const rollcall_ask& ask, const Failure& failure, rollcall_observation& out) const;
  void apply(const Stat& stat, const rollcall_ask& ask, Once& once, rollcall_observation& out);
  void set_age(std::uint64_t start_ticks, Once& once, rollcall_observation& out);
  void read_clocks(Once& once) const;

  const System& system_;
  Procfs procfs_;
  Pidfs pidfs_;
  std::int64_t ticks_per_second_;
};

}  // namespace rollcall::linux_backend
