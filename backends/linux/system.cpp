#include "system.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rollcall::linux_backend {
namespace {

// Numbers that are the same on every architecture but alpha; Debian's older headers may lack them.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int real_openat(int directory, const char* path, int flags) {
  return ::openat(directory, path, flags);
}
ssize_t real_getdents64(int fd, void* buffer, std::size_t size) {
  return ::syscall(SYS_getdents64, fd, buffer, size);
}
int real_pidfd_open(pid_t pid, unsigned flags) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, flags));
}
int real_getrlimit(int resource, struct rlimit* out) {
  return ::getrlimit(static_cast<__rlimit_resource>(resource), out);
}
int real_pidfd_send_signal(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}
int real_pidfd_queue_signal(int pidfd, int signal, int value) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = value;
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0));
}
int real_ioctl(int fd, unsigned long request, void* argument) {
  return ::ioctl(fd, request, argument);
}

constexpr System kLinux = {
    .openat = &real_openat,
    .read = &::read,
    .pread = &::pread,
    .close = &::close,
    .readlinkat = &::readlinkat,
    .getdents64 = &real_getdents64,
    .fstat = &::fstat,
    .fstatfs = &::fstatfs,
    .poll = &::poll,
    .kill = &::kill,
    .pidfd_open = &real_pidfd_open,
    .pidfd_send_signal = &real_pidfd_send_signal,
    .pidfd_queue_signal = &real_pidfd_queue_signal,
    .ioctl = &real_ioctl,
    .write = &::write,
    .getpid = &::getpid,
    .getuid = &::getuid,
    .uname = &::uname,
    .clock_gettime = &::clock_gettime,
    .socket = &::socket,
    .send = &::send,
    .recv = &::recv,
    .setsockopt = &::setsockopt,
    .getsockopt = &::getsockopt,
    .getsockname = &::getsockname,
    .getpeername = &::getpeername,
    .epoll_create1 = &::epoll_create1,
    .epoll_ctl = &::epoll_ctl,
    .epoll_wait = &::epoll_wait,
    .inotify_init1 = &::inotify_init1,
    .inotify_add_watch = &::inotify_add_watch,
    .inotify_rm_watch = &::inotify_rm_watch,
    .eventfd = &::eventfd,
    .getrlimit = &real_getrlimit,
};

}  // namespace

const System& linux_system() { return kLinux; }

std::string error_text(int error) { return std::generic_category().message(error); }

bool knows_nobody(const System& system, std::int64_t pid) {
  return system.kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace rollcall::linux_backend
