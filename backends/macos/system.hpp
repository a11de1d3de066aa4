// The system calls of the backend, behind a table that tests can fake.
#pragma once

#include <libproc.h>
#include <sys/event.h>
#include <sys/proc_info.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rollcall::macos_backend {

// Each entry has the contract of the call of its name: libproc's give 0 or less and errno when they
// fail, the others -1 and errno. All are thread-safe. A table is constant and outlives everything
// that it was handed to.
struct System {
  int (*proc_listallpids)(void* buffer, int size);
  int (*proc_pidinfo)(int pid, int flavor, std::uint64_t argument, void* buffer, int size);
  int (*proc_pidfdinfo)(int pid, int fd, int flavor, void* buffer, int size);
  int (*sysctl)(int* name, unsigned length, void* old, std::size_t* old_size, void* fresh,
                std::size_t fresh_size);
  int (*sysctlbyname)(const char* name, void* old, std::size_t* old_size, void* fresh,
                      std::size_t fresh_size);
  int (*kqueue)();
  int (*kevent)(int queue, const struct kevent* changes, int change_count, struct kevent* events,
                int event_count, const struct timespec* timeout);
  int (*open)(const char* path, int flags, ...);
  int (*close)(int fd);
  int (*getrlimit)(int resource, struct rlimit* out);
  int (*kill)(pid_t pid, int signal);
  pid_t (*getpid)();
  uid_t (*getuid)();
  int (*gethostuuid)(unsigned char* uuid, const struct timespec* wait);
  int (*gethostname)(char* name, std::size_t size);
  int (*clock_gettime)(clockid_t clock, struct timespec* out);
  int (*nanosleep)(const struct timespec* time, struct timespec* left);
  int (*getsockopt)(int fd, int level, int name, void* value, socklen_t* size);
  int (*getsockname)(int fd, struct sockaddr* out, socklen_t* size);
  int (*getpeername)(int fd, struct sockaddr* out, socklen_t* size);
  int (*getpeereid)(int fd, uid_t* uid, gid_t* gid);
};

// The real one.
[[nodiscard]] const System& macos_system();

// What an errno says, in English: "No such process". Static text; "unknown error" for the rest,
// whose number stands in os_code.
[[nodiscard]] std::string_view error_text(int error);

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

 private:
  const System* system_;
  int fd_;
};

}  // namespace rollcall::macos_backend
