#include "regtool/orphans_posix.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "rollcall/tree_hold.hpp"

namespace rollcall::regtool {

bool keep_orphans() { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void reap_orphans(pid_t command) {
  for (;;) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (ended.si_pid == 0 || ended.si_pid == command) return;
    if (waitpid(ended.si_pid, nullptr, WNOHANG) != ended.si_pid) return;
  }
}

std::optional<std::int64_t> hold_asked(const siginfo_t& info) {
  if (info.si_signo != SIGURG || info.si_code != SI_QUEUE) return std::nullopt;
  return plugin::held_ms(info.si_value.sival_int);
}

}  // namespace rollcall::regtool
