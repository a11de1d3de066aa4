// pidfds, and what this kernel's can say.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::linux_backend {

// Opens process N, not a thread of one: pidfd_open(2) with no flags. The pidfd is close-on-exec by
// itself. -1 and errno. ESRCH: nothing holds the number. ENOENT (before Linux 6.15: EINVAL): a
// thread's id, most likely. ENOSYS, EPERM (a seccomp filter), EMFILE, ENFILE, ENOMEM: no pidfd is
// to be had, and nothing was learnt.
[[nodiscard]] int open_pidfd(const System& system, std::int64_t pid);

// Whether pidfd_open failed in a way that says that the number is, or was, some thread's.
[[nodiscard]] inline bool says_thread(int error) { return error == ENOENT || error == EINVAL; }

// Whether the number is the id of a thread that is no leader: it can be opened as a thread only.
// Linux 6.9 and later; false means "not proven".
[[nodiscard]] bool is_proven_thread(const System& system, std::int64_t pid);

enum class PidfdState : std::uint8_t { kRunning, kExited, kUnknown };

// Whether the process has exited, all its threads; a zombie has. Waits up to `timeout_ms`.
// kUnknown: poll(2) failed, errno says how; EINTR counts as kRunning when there was time to wait.
[[nodiscard]] PidfdState poll_pidfd(const System& system, int pidfd, int timeout_ms);

// What came of a signal through a pidfd. kEnded: the process was seen to have exited; ESRCH alone
// may be a filter's answer (seccomp). kRefused: `reason` says why.
struct Sent {
  enum class Outcome : std::uint8_t { kSent, kEnded, kRefused };
  Outcome outcome = Outcome::kSent;
  int error = 0;
  std::string reason;
};
// `value`: sent along, as sigqueue(3) does.
[[nodiscard]] Sent send_signal(const System& system, int pidfd, std::int64_t pid, int signal,
                               std::optional<int> value = std::nullopt);

// How the process of a pidfd ended, as pidfs tells it (Linux 6.15 and later): after the reap only,
// and only on a pidfd that was opened before. Waits up to `wait_ms` for the reap. UNKNOWN with its
// reason otherwise; that it was not reaped yet is one of them.
// Source: linux/pidfd.h of 6.15, PIDFD_GET_INFO and PIDFD_INFO_EXIT; wait(2) for the status.
void read_exit(const System& system, int pidfd, int wait_ms, rollcall_exit& out);

// What a pidfd says of its process's exact id. That the kernel has none and that it could not be
// read are two things: only the first lets a start token stand in its place.
struct ExactId {
  enum class Outcome : std::uint8_t { kNone, kRead, kFailed };
  Outcome outcome = Outcome::kNone;
  std::uint64_t value = 0;  // with kRead: the process's own, never reused in a boot
  int error = 0;            // with kFailed: errno; 0: the kernel gave the number 0
};

// Whether pidfds here stand on pidfs (Linux 6.9), learnt from the first one that says so.
class Pidfs {
 public:
  explicit Pidfs(const System& system) : system_(system) {}

  // As open_pidfd; ENOSYS at once where the kernel has said so before.
  [[nodiscard]] int open(std::int64_t pid);

  [[nodiscard]] ExactId exact_id(int pidfd);

 private:
  enum class Kind : std::uint8_t {
    kUnknown,  // none was asked yet, or it did not say; the next is asked again
    kNoPidfd,  // the kernel has no pidfd_open; a pidfd that is there all the same is asked
    kPlain,    // pidfds that all share one inode
    kPidfs,    // the inode number is the process's own
  };
  int learn(int pidfd, Kind& kind);

  const System& system_;
  std::atomic<Kind> kind_{Kind::kUnknown};
};

}  // namespace rollcall::linux_backend
