// The system calls of the backend, behind a table that tests can fake.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace rollcall::linux_backend {

// Each entry has the contract of the call of its name: -1 and errno when it fails. All are
// thread-safe. A table is constant and outlives everything that it was handed to.
struct System {
  int (*openat)(int directory, const char* path, int flags);
  ssize_t (*read)(int fd, void* buffer, std::size_t size);
  ssize_t (*pread)(int fd, void* buffer, std::size_t size, off_t at);
  int (*close)(int fd);
  ssize_t (*readlinkat)(int directory, const char* path, char* buffer, std::size_t size);
  ssize_t (*getdents64)(int fd, void* buffer, std::size_t size);
  int (*fstat)(int fd, struct stat* out);
  int (*fstatfs)(int fd, struct statfs* out);
  int (*poll)(struct pollfd* fds, nfds_t count, int timeout_ms);
  int (*kill)(pid_t pid, int signal);
  int (*pidfd_open)(pid_t pid, unsigned flags);
  int (*pidfd_send_signal)(int pidfd, int signal);
  int (*pidfd_queue_signal)(int pidfd, int signal, int value);  // si_code SI_QUEUE
  int (*ioctl)(int fd, unsigned long request, void* argument);
  ssize_t (*write)(int fd, const void* bytes, std::size_t size);
  pid_t (*getpid)();
  uid_t (*getuid)();
  int (*uname)(struct utsname* out);
  int (*clock_gettime)(clockid_t clock, struct timespec* out);
  int (*socket)(int domain, int type, int protocol);
  ssize_t (*send)(int fd, const void* bytes, std::size_t size, int flags);
  ssize_t (*recv)(int fd, void* buffer, std::size_t size, int flags);
  int (*setsockopt)(int fd, int level, int name, const void* value, socklen_t size);
  int (*getsockopt)(int fd, int level, int name, void* value, socklen_t* size);
  int (*getsockname)(int fd, struct sockaddr* out, socklen_t* size);
  int (*getpeername)(int fd, struct sockaddr* out, socklen_t* size);
  int (*epoll_create1)(int flags);
  int (*epoll_ctl)(int epoll, int operation, int fd, struct epoll_event* event);
  int (*epoll_wait)(int epoll, struct epoll_event* events, int most, int timeout_ms);
  int (*inotify_init1)(int flags);
  int (*inotify_add_watch)(int inotify, const char* path, std::uint32_t mask);
  int (*inotify_rm_watch)(int inotify, int watch);
  int (*eventfd)(unsigned value, int flags);
  int (*getrlimit)(int resource, struct rlimit* out);
};

// The real one.
[[nodiscard]] const System& linux_system();

// Whether kill(2) finds no process of that number. Both EPERM and success mean that it is held. A
// filter of system calls may answer with any errno: absence takes a second call that agrees.
[[nodiscard]] bool knows_nobody(const System& system, std::int64_t pid);

// What an errno says, in English: "No such process".
[[nodiscard]] std::string error_text(int error);

// A descriptor that closes itself. errno survives the closing.
class Fd {
 public:
  Fd(const System& system, int fd) : system_(&system), fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ < 0) return;
    const int saved = errno;
    system_->close(fd_);
    errno = saved;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  // It is the caller's from now on.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  const System* system_;
  int fd_;
};

}  // namespace rollcall::linux_backend
