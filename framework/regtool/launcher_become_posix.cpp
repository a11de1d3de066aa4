#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "regtool/launcher.hpp"

extern char** environ;

namespace rollcall::regtool::launcher {
namespace {

// What prepare_process() changed. The mask of held signals is as we were given it.
void give_back(const platform::InheritedLimits& limits) {
  for (int signal = 1; signal < NSIG; ++signal) {
    std::signal(signal, limits.ignores(signal) ? SIG_IGN : SIG_DFL);
  }
  if (!limits.known) return;
  const rlimit files{limits.descriptors_soft, limits.descriptors_hard};
  const rlimit core{limits.core_soft, limits.core_hard};
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &files));
  static_cast<void>(setrlimit(RLIMIT_CORE, &core));
}

}  // namespace

bool can_become_command() { return true; }

tl::unexpected<Failure> become_command(const Plan& plan) {
  std::vector<char*> argv;
  for (const std::string& word : plan.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  give_back(plan.limits);
  execve(plan.program.c_str(), argv.data(), environ);
  int code = errno;
  if (code == ENOEXEC) {  // a file without an interpreter line, as execvp(3) does
    std::string shell = "/bin/sh";
    std::vector<char*> words = {shell.data(), const_cast<char*>(plan.program.c_str())};
    words.insert(words.end(), argv.begin() + 1, argv.end());
    execve(shell.c_str(), words.data(), environ);
    code = errno;
  }
  const bool none = code == ENOENT;
  return tl::unexpected<Failure>(
      Failure{none ? kExitNoCommand : kExitNotRunnable, none ? "no_command" : "not_runnable",
              fmt::format("cannot run {}: {}", plan.program, std::strerror(code)), plan.program});
}

}  // namespace rollcall::regtool::launcher
