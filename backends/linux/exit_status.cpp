// How a process that is nobody's child of ours ended: read from its pidfd.
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <string>

#include "pidfs.hpp"
#include "rollcall/plugin_parts.hpp"

namespace rollcall::linux_backend {
namespace {

// struct pidfd_info of linux/pidfd.h, Linux 6.15, which Debian's headers lack: its first version.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup_id;
  std::uint32_t pid, tgid, ppid;
  std::uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  std::int32_t exit_code;  // as wait(2) gives it
};
static_assert(sizeof(PidfdInfo) == 64);

constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);  // PIDFD_GET_INFO
constexpr std::uint64_t kInfoExit = 8;                          // PIDFD_INFO_EXIT

void unknown(rollcall_exit& out, std::string_view why) {
  out.kind = ROLLCALL_EXIT_UNKNOWN;
  plugin::set_text(out.why, out.why_size, why);
}

}  // namespace

void read_exit(const System& system, int pidfd, int wait_ms, rollcall_exit& out) {
  out = {};
  // Without events only the hang-up is awaited, which is the reap.
  struct pollfd reaped = {.fd = pidfd, .events = 0, .revents = 0};
  (void)system.poll(&reaped, 1, wait_ms);
  PidfdInfo info = {};
  info.mask = kInfoExit;
  if (system.ioctl(pidfd, kGetInfo, &info) != 0) {
    const int error = errno;
    if (error == ENOTTY || error == EINVAL || error == ESRCH) {
      return unknown(out, "this kernel does not tell it (Linux 6.15 and later do)");
    }
    return unknown(out, "its pidfd did not tell it: " + error_text(error));
  }
  if ((info.mask & kInfoExit) == 0) return unknown(out, "exit unknown (not yet reaped)");
  if (WIFSIGNALED(info.exit_code)) {
    out.kind = ROLLCALL_EXIT_SIGNAL;
    out.value = WTERMSIG(info.exit_code);
  } else {
    out.kind = ROLLCALL_EXIT_CODE;
    out.value = WEXITSTATUS(info.exit_code);
  }
}

}  // namespace rollcall::linux_backend
