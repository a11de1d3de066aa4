// What the tests of the Linux backend share: asking it, fixtures of /proc, a table of system calls
// that refuses on demand and counts.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/linux/probe.hpp"
#include "backends/linux/system.hpp"
#include "rollcall/plugin.hpp"
#include "support/process.hpp"

namespace rollcall::testing {

inline constexpr std::uint32_t kToken = ROLLCALL_WANT_START_TOKEN;
inline constexpr std::uint32_t kExact = ROLLCALL_WANT_EXACT_ID;
inline constexpr std::uint32_t kSuffices = ROLLCALL_WANT_EXACT_SUFFICES;

// No bounds.
inline plugin::Call unbounded() { return plugin::Call(nullptr); }

// Bounds of `limit` from now.
plugin::Call bounded(std::chrono::milliseconds limit);

// One reading; the observation is zeroed first.
rollcall_observation observe(linux_backend::Probe& probe, std::int64_t pid,
                             std::uint32_t wants = kToken);
std::string token_of(const rollcall_observation& seen);
std::string reason_of(const rollcall_observation& seen);
std::uint64_t exact_id_of(pid_t pid);  // 0: this kernel has none; read apart from the backend

// A probe of a procfs root, with the real calls or others.
class ProbeAt {
 public:
  explicit ProbeAt(const std::string& root,
                   const linux_backend::System& system = linux_backend::linux_system());
  linux_backend::Probe& operator*() { return probe_; }
  linux_backend::Probe* operator->() { return &probe_; }

 private:
  linux_backend::Probe probe_;
};

struct StatLine {
  std::string name = "sleep";
  char state = 'S';
  std::string start = "78475";
  int threads = 1;
  int exit_signal = 17;
  int parent = 1;
};
// A line as the kernel writes it, 52 fields and a newline.
std::string stat_line(std::int64_t pid, const StatLine& fields = {});

// A procfs of our own making, whose `self` link names this process.
class FakeProc {
 public:
  FakeProc();
  FakeProc& stat(std::int64_t pid, std::string_view line);
  [[nodiscard]] std::string root() const { return dir_.path().string(); }
  [[nodiscard]] const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
};

// The real calls, counted, each refused with the errno that `refuse` names for it. One at a time.
class FakeSystem {
 public:
  FakeSystem();
  ~FakeSystem();
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  [[nodiscard]] const linux_backend::System& table() const { return table_; }

  std::map<std::string, int> refuse;  // call -> errno
  // call -> the one call of it that is refused, counted from 1, and with which errno
  std::map<std::string, std::pair<int, int>> refuse_nth;
  std::map<std::string, int> counts;  // call -> how often
  std::vector<std::string> opened;    // the paths of openat, in order
  std::size_t read_at_most = 0;       // bytes of one read(2); 0: no limit
  bool plain_pidfds = false;          // fstatfs says: not pidfs
  int sent_signals = 0;
  std::function<void()> before_poll;  // called before each poll
  std::function<void()> before_send;  // called before each pidfd_send_signal
  std::function<void()> after_stat;   // called after each read(2)

  void reset_counts();
  // How many calls in all since then.
  [[nodiscard]] int total() const;

 private:
  linux_backend::System table_;
};

}  // namespace rollcall::testing
