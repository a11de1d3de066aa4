#include "pidfs.hpp"

#include <fcntl.h>

namespace rollcall::linux_backend {
namespace {

constexpr unsigned long kPidfsMagic = 0x50494446;  // PID_FS_MAGIC, linux/magic.h of 6.9
constexpr unsigned kPidfdThread = O_EXCL;          // PIDFD_THREAD, linux/pidfd.h of 6.9

}  // namespace

int open_pidfd(const System& system, std::int64_t pid) {
  return system.pidfd_open(static_cast<pid_t>(pid), 0);
}

bool is_proven_thread(const System& system, std::int64_t pid) {
  const Fd thread(system, system.pidfd_open(static_cast<pid_t>(pid), kPidfdThread));
  if (!thread.open()) return false;
  // Asked again while the thread is held: it was not a process in between either.
  const Fd process(system, open_pidfd(system, pid));
  return !process.open() && says_thread(errno) &&
         poll_pidfd(system, thread.get(), 0) == PidfdState::kRunning;
}

PidfdState poll_pidfd(const System& system, int pidfd, int timeout_ms) {
  struct pollfd ready = {.fd = pidfd, .events = POLLIN, .revents = 0};
  const int count = system.poll(&ready, 1, timeout_ms);
  if (count == 0) return PidfdState::kRunning;
  if (count < 0) {
    return errno == EINTR && timeout_ms > 0 ? PidfdState::kRunning : PidfdState::kUnknown;
  }
  if ((ready.revents & POLLNVAL) != 0) return PidfdState::kUnknown;
  return PidfdState::kExited;
}

Pidfs::Kind Pidfs::kind() {
  const Kind known = kind_.load(std::memory_order_acquire);
  return known != Kind::kUnknown ? known : ask();
}

Pidfs::Kind Pidfs::ask() {
  const Fd own(system_, open_pidfd(system_, system_.getpid()));
  if (!own.open()) {
    if (errno != ENOSYS && errno != EPERM) return Kind::kUnknown;
    kind_.store(Kind::kNoPidfd, std::memory_order_release);
    return Kind::kNoPidfd;
  }
  struct statfs filesystem = {};
  struct stat status = {};
  if (system_.fstatfs(own.get(), &filesystem) != 0 || system_.fstat(own.get(), &status) != 0) {
    return Kind::kUnknown;
  }
  Kind kind = Kind::kPlain;
  if (static_cast<unsigned long>(filesystem.f_type) == kPidfsMagic) {
    device_.store(status.st_dev, std::memory_order_relaxed);
    kind = Kind::kPidfs;
  }
  kind_.store(kind, std::memory_order_release);
  return kind;
}

std::optional<std::uint64_t> Pidfs::exact_id(int pidfd) {
  if (kind() != Kind::kPidfs) return std::nullopt;
  struct stat status = {};
  if (system_.fstat(pidfd, &status) != 0) return std::nullopt;
  if (status.st_dev != device_.load(std::memory_order_relaxed) || status.st_ino == 0) {
    return std::nullopt;
  }
  return status.st_ino;
}

}  // namespace rollcall::linux_backend
