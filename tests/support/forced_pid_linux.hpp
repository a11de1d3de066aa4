// Pid reuse on demand: clone3(2) with set_tid. Wants CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE in the
// user namespace that owns the pid namespace: root has it, or anybody inside `in_pid_namespace`.
#pragma once

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "support/process.hpp"

namespace rollcall::testing {

// In a mount namespace of our own: what is mounted from now on shows nowhere else. In a chroot,
// whose root is no mount point, only what is mounted on /proc or below it.
inline bool make_mounts_private() {
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ||
         (errno == EINVAL && ::mount("none", "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

// Starts a child that has the given pid and runs `body` (async-signal-safe calls only, since no
// fork handlers run), then exits with what it returned. -1 and errno: EPERM, EEXIST (held), ...
inline pid_t fork_with_pid(pid_t pid, int (*body)()) {
  ::clone_args arguments;
  std::memset(&arguments, 0, sizeof arguments);
  pid_t wanted = pid;
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uint64_t>(&wanted);
  arguments.set_tid_size = 1;
  const long result = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (result == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  return static_cast<pid_t>(result);
}

// Starts a process that holds the given pid and waits; an empty Child (pid -1) where it cannot be.
inline Child sleeper_with_pid(pid_t pid) { return Child(fork_with_pid(pid, &pause_for_ever)); }

// Whether this process may force pids.
inline bool can_force_pids() { return sleeper_with_pid(free_pid()).pid() > 0; }

// Runs `body` as pid 1's child in a pid (and mount) namespace of its own with its own /proc, in a
// user namespace too where we are not root. The exit code of `body`; -1: no such namespace to be
// had here, -2: ended by a signal. Call it from a single-threaded process.
inline int in_pid_namespace(const std::function<int()>& body) {
  constexpr int kNoNamespace = 251;
  Child outer = Child::run([&]() -> int {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    const int user = uid == 0 ? 0 : CLONE_NEWUSER;
    ::prctl(PR_SET_DUMPABLE, 1);  // else /proc/self is root's after a change of uid
    if (::unshare(user | CLONE_NEWPID | CLONE_NEWNS) != 0) return kNoNamespace;
    if (user != 0) {
      const auto put = [](const char* file, const std::string& text) {
        const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
        if (fd < 0) return false;
        const bool good = ::write(fd, text.data(), text.size()) == ssize_t(text.size());
        ::close(fd);
        return good;
      };
      put("/proc/self/setgroups", "deny");
      if (!put("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1") ||
          !put("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1")) {
        return kNoNamespace;
      }
    }
    Child init = Child::run([&]() -> int {
      if (!make_mounts_private() ||
          ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
        return kNoNamespace;
      }
      Child inner = Child::run(body);
      const auto status = inner.wait(100s);
      return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 252;
    });
    const auto status = init.wait(110s);
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 252;
  });
  const auto status = outer.wait(115s);
  if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) == 252) return -2;
  return WEXITSTATUS(*status) == kNoNamespace ? -1 : WEXITSTATUS(*status);
}

}  // namespace rollcall::testing
