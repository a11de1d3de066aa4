#include "pidfs.hpp"

#include <fcntl.h>

#include "backend/outcomes.hpp"

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

Sent send_signal(const System& system, int pidfd, std::int64_t pid, int signal,
                 std::optional<int> value) {
  const int sent = value ? system.pidfd_queue_signal(pidfd, signal, *value)
                         : system.pidfd_send_signal(pidfd, signal);
  if (sent == 0) return {};
  const int error = errno;
  if (error == ESRCH && poll_pidfd(system, pidfd, 0) == PidfdState::kExited) {
    return {Sent::Outcome::kEnded, error, {}};
  }
  const char* remark = error == ESRCH ? ", though it has not exited" : "";
  return {Sent::Outcome::kRefused, error,
          "may not signal " + backend::name(pid) + ": " + error_text(error) + remark};
}

int Pidfs::open(std::int64_t pid) {
  if (kind_.load(std::memory_order_acquire) == Kind::kNoPidfd) {
    errno = ENOSYS;
    return -1;
  }
  const int fd = open_pidfd(system_, pid);
  if (fd < 0 && errno == ENOSYS) {
    Kind unknown = Kind::kUnknown;
    kind_.compare_exchange_strong(unknown, Kind::kNoPidfd, std::memory_order_acq_rel);
  }
  return fd;
}

// 0, or the errno that kept it from being learnt; then it is asked again.
int Pidfs::learn(int pidfd, Kind& kind) {
  struct statfs filesystem = {};
  if (system_.fstatfs(pidfd, &filesystem) != 0) return errno;
  const bool pidfs = static_cast<unsigned long>(filesystem.f_type) == kPidfsMagic;
  kind = pidfs ? Kind::kPidfs : Kind::kPlain;
  kind_.store(kind, std::memory_order_release);
  return 0;
}

ExactId Pidfs::exact_id(int pidfd) {
  Kind kind = kind_.load(std::memory_order_acquire);
  if (kind != Kind::kPlain && kind != Kind::kPidfs) {
    const int error = learn(pidfd, kind);
    if (error != 0) return {.outcome = ExactId::Outcome::kFailed, .error = error};
  }
  if (kind == Kind::kPlain) return {};
  struct stat status = {};
  if (system_.fstat(pidfd, &status) != 0) {
    return {.outcome = ExactId::Outcome::kFailed, .error = errno};
  }
  if (status.st_ino == 0) return {.outcome = ExactId::Outcome::kFailed};
  return {.outcome = ExactId::Outcome::kRead, .value = status.st_ino};
}

}  // namespace rollcall::linux_backend
