// pidfds, and what this kernel's can say.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

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

// Whether pidfds here stand on pidfs, asked once on our own.
class Pidfs {
 public:
  explicit Pidfs(const System& system) : system_(system) {}

  enum class Kind : std::uint8_t {
    kUnknown,  // could not be asked (no descriptors left); the next call asks again
    kNoPidfd,  // the kernel has no pidfd_open or a filter refuses it
    kPlain,    // pidfds that all share one inode
    kPidfs,    // Linux 6.9: the inode number is the process's own, never reused in a boot
  };
  [[nodiscard]] Kind kind();

  // The process's exact id; nullopt where this pidfd is not on the pidfs that was seen first.
  [[nodiscard]] std::optional<std::uint64_t> exact_id(int pidfd);

 private:
  Kind ask();

  const System& system_;
  std::atomic<Kind> kind_{Kind::kUnknown};
  std::atomic<std::uint64_t> device_{0};
};

}  // namespace rollcall::linux_backend
