// What the benchmarks share: processes to look at, a home full of records, and the same work done
// by bare system calls.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rollcall/file_store.hpp"
#include "rollcall/host.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/registry.hpp"

namespace bench {

// Ends the program with a message: a benchmark that cannot be set up measures nothing.
[[noreturn]] void die(const std::string& what);

// The value of a result, or the end of the program.
template <class T>
T must(rollcall::Result<T> result) {
  if (!result) die(result.error().message);
  return std::move(*result);
}
inline void must(rollcall::Status status) {
  if (!status) die(status.error().message);
}

// Whether pidfds are on pidfs, so that processes have an exact id (Linux 6.9 and later).
[[nodiscard]] bool has_pidfs();

// Raises the soft limit of descriptors to the hard one. Returns what it is now.
std::size_t raise_descriptor_limit();

// Processes that do nothing. Killed and reaped when it goes; they die with this process too.
class Sleepers {
 public:
  explicit Sleepers(std::size_t count);
  ~Sleepers();
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;
  [[nodiscard]] const std::vector<pid_t>& pids() const { return pids_; }

 private:
  std::vector<pid_t> pids_;
};

// `count` sleepers, made once for the program and shared by its benchmarks. They must be made
// before the first thread and before memory is filled; main() asks for the most that it will need.
const std::vector<pid_t>& shared_pids(std::size_t count);

// A folder of its own under TMPDIR, removed when it goes.
class TempHome {
 public:
  TempHome();
  ~TempHome();
  TempHome(const TempHome&) = delete;
  TempHome& operator=(const TempHome&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string running() const { return path_ + "/running"; }

 private:
  std::string path_;
};

// The host with its plugins from this build tree, its probe and a registry over a home.
struct Stack {
  std::unique_ptr<rollcall::Host> host;
  std::shared_ptr<rollcall::ProcessProbe> probe;
  std::shared_ptr<rollcall::FileStore> files;
  std::unique_ptr<rollcall::Registry> registry;
};
[[nodiscard]] Stack open_stack(const std::string& home, const rollcall::DoorLimits& limits = {});

// A true record of a process, with or without a door.
[[nodiscard]] rollcall::Record make_record(rollcall::Registry& registry, pid_t pid,
                                           std::size_t index);
// "ses_" and 32 hex digits that sort by index.
[[nodiscard]] std::string session_id(std::size_t index);
// Writes records into a home, as their writers would have left them.
void write_records(const TempHome& home, const std::vector<rollcall::Record>& records);

// The bare system calls. Each ends the program where one of them fails.
// openat + read + close of PID/stat below an open /proc.
std::size_t bare_stat(int proc, pid_t pid);
// pidfd_open + fstat + poll + close.
std::uint64_t bare_pidfd(pid_t pid);
// All that a listing without doors cannot do without: the directory's names; of each record openat
// + fstat + read + close; of its process (here: of the next of `pids`) what the verdict takes,
// which is bare_pidfd where there is pidfs and else bare_stat, and `with_age`, which the uptime
// column takes, bare_stat in any case.
std::size_t bare_sweep(const std::string& running, const std::vector<pid_t>& pids, bool with_age);

// Two pieces of work in turns, and the least time of each.
class InTurns {
 public:
  template <class First, class Second>
  void round(First&& first, Second&& second) {
    best_first_ = std::min(best_first_, timed(first));
    best_second_ = std::min(best_second_, timed(second));
  }
  // Sets first_us, second_us and ratio, the first by the second.
  template <class Counters>
  void report(Counters& counters) const {
    counters["first_us"] = best_first_;
    counters["second_us"] = best_second_;
    counters["ratio"] = best_first_ / best_second_;
  }

 private:
  template <class Work>
  static double timed(Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
  }
  double best_first_ = std::numeric_limits<double>::max();
  double best_second_ = std::numeric_limits<double>::max();
};

}  // namespace bench
