#include "system.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/sysctl.h>

namespace rollcall::macos_backend {
namespace {

// glibc's takes an enumeration.
int limit_of(int resource, struct rlimit* out) {
  return ::getrlimit(static_cast<decltype(RLIMIT_NOFILE)>(resource), out);
}

constexpr System kMacos = {
    .proc_listallpids = &::proc_listallpids,
    .proc_pidinfo = &::proc_pidinfo,
    .proc_pidfdinfo = &::proc_pidfdinfo,
    .sysctl = &::sysctl,
    .sysctlbyname = &::sysctlbyname,
    .kqueue = &::kqueue,
    .kevent = &::kevent,
    .open = &::open,
    .close = &::close,
    .getrlimit = &limit_of,
    .kill = &::kill,
    .getpid = &::getpid,
    .getuid = &::getuid,
    .gethostuuid = &::gethostuuid,
    .gethostname = &::gethostname,
    .clock_gettime = &::clock_gettime,
    .nanosleep = &::nanosleep,
    .getsockopt = &::getsockopt,
    .getsockname = &::getsockname,
    .getpeername = &::getpeername,
    .getpeereid = &::getpeereid,
};

}  // namespace

const System& macos_system() { return kMacos; }

std::string_view error_text(int error) {
  switch (error) {
    case EPERM:
      return "Operation not permitted";
    case ENOENT:
      return "No such file or directory";
    case ESRCH:
      return "No such process";
    case EINTR:
      return "Interrupted system call";
    case EIO:
      return "Input/output error";
    case EBADF:
      return "Bad file descriptor";
    case ENOMEM:
      return "Cannot allocate memory";
    case EACCES:
      return "Permission denied";
    case EFAULT:
      return "Bad address";
    case ENOTDIR:
      return "Not a directory";
    case EINVAL:
      return "Invalid argument";
    case ENFILE:
      return "Too many open files in system";
    case EMFILE:
      return "Too many open files";
    case ENOSPC:
      return "No space left on device";
    case ELOOP:
      return "Too many levels of symbolic links";
    case ENAMETOOLONG:
      return "File name too long";
    case ENOTSOCK:
      return "Socket operation on non-socket";
    case ENOTCONN:
      return "Socket is not connected";
    case ENOTSUP:
      return "Operation not supported";
    default:
      return "unknown error";
  }
}

}  // namespace rollcall::macos_backend
