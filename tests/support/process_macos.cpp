// Source: sysctl(3), KERN_PROC_PID and struct kinfo_proc (sys/sysctl.h, sys/proc.h); libproc.h and
// sys/proc_info.h.
#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>

#include "support/process.hpp"

namespace rollcall::testing {
namespace {

std::optional<extern_proc> process_of(pid_t pid) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, pid};
  kinfo_proc info{};
  std::size_t size = sizeof info;
  if (::sysctl(name, 4, &info, &size, nullptr, 0) != 0 || size != sizeof info) return {};
  return info.kp_proc;
}

std::vector<proc_fdinfo> descriptors_of(pid_t pid) {
  const int most = ::proc_pidinfo(pid, PROC_PIDLISTFDS, 0, nullptr, 0);
  if (most <= 0) return {};
  std::vector<proc_fdinfo> all(static_cast<std::size_t>(most) / sizeof(proc_fdinfo) + 16);
  const int size = ::proc_pidinfo(pid, PROC_PIDLISTFDS, 0, all.data(),
                                  static_cast<int>(all.size() * sizeof(proc_fdinfo)));
  all.resize(size <= 0 ? 0 : static_cast<std::size_t>(size) / sizeof(proc_fdinfo));
  return all;
}

}  // namespace

std::string start_token_of(pid_t pid) {
  const auto process = process_of(pid);
  if (!process) return {};
  char token[64];
  std::snprintf(token, sizeof token, "%lld.%06d",
                static_cast<long long>(process->p_starttime.tv_sec),
                static_cast<int>(process->p_starttime.tv_usec));
  return token;
}

char state_of(pid_t pid) {
  const auto process = process_of(pid);
  if (!process) return '\0';
  switch (process->p_stat) {
    case SIDL:
      return 'I';
    case SRUN:
      return 'R';  // also of one that sleeps
    case SSLEEP:
      return 'S';
    case SSTOP:
      return 'T';
    case SZOMB:
      return 'Z';
    default:
      return '?';
  }
}

bool is_zombie(pid_t pid) { return state_of(pid) == 'Z'; }

std::vector<int> descriptors() {
  std::vector<int> all;
  for (const proc_fdinfo& each : descriptors_of(::getpid())) all.push_back(each.proc_fd);
  return all;
}

std::vector<std::string> open_files_of(pid_t pid) {
  std::vector<std::string> all;
  for (const proc_fdinfo& each : descriptors_of(pid)) {
    vnode_fdinfowithpath file{};
    if (each.proc_fdtype == PROX_FDTYPE_VNODE &&
        ::proc_pidfdinfo(pid, each.proc_fd, PROC_PIDFDVNODEPATHINFO, &file, sizeof file) ==
            static_cast<int>(sizeof file)) {
      all.emplace_back(file.pvip.vip_path);
    }
  }
  return all;
}

void end_with_parent() {}

void end_orphan(pid_t pid) {
  if (pid > 1) ::kill(pid, SIGKILL);
}

}  // namespace rollcall::testing
