#include "regtool/orphans_posix.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>

#include "rollcall/tree_hold.hpp"

namespace rollcall::regtool {

bool keep_orphans() { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

bool reap_orphans(pid_t command) {
  for (;;) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return errno != ECHILD;
    if (ended.si_pid == 0 || ended.si_pid == command) return true;
    if (waitpid(ended.si_pid, nullptr, WNOHANG) != ended.si_pid) return true;
  }
}

std::optional<std::int64_t> hold_asked(const siginfo_t& info) {
  if (info.si_signo != SIGURG || info.si_code != SI_QUEUE) return std::nullopt;
  return plugin::held_ms(info.si_value.sival_int);
}

bool is_for_the_tree(const siginfo_t& info) {
  return info.si_code == SI_QUEUE && info.si_value.sival_int == plugin::kTreeSignal;
}

}  // namespace rollcall::regtool
