#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "core/close_on_exec_posix.hpp"
#include "plugin/check_child.hpp"
#include "plugin/check_suite.hpp"
#include "plugin/watched.hpp"

extern char** environ;

namespace rollcall {
namespace {

using loader::kMaxChildNoise;
using loader::kMaxChildOutput;

std::string errno_text(int code) { return std::generic_category().message(code); }

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  [[nodiscard]] bool open() {
    int ends[2] = {-1, -1};
    if (core::open_pipe(ends) != 0) return false;
    read = ends[0];
    write = ends[1];
    return ::fcntl(read, F_SETFL, O_NONBLOCK) == 0;
  }
};

// Takes what is there now, the first `limit` bytes of it. False: the other end is closed.
bool drain(int fd, std::string& into, std::size_t limit) {
  std::array<char, 8192> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      loader::append_bounded(into, {buffer.data(), static_cast<std::size_t>(got)}, limit);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      return got < 0 && errno == EAGAIN;
    }
  }
}

struct Child {
  pid_t pid = -1;
  Pipe out;
  Pipe err;
  std::string output;
  std::string noise;
  int status = 0;
  bool timed_out = false;
};

Status start(Child& child, const std::string& program, const std::vector<std::string>& args) {
  if (!child.out.open() || !child.err.open()) {
    return fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", errno_text(errno)), errno);
  }
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(program.c_str()));  // NOLINT: posix_spawn(3) writes to none
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));  // NOLINT
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, child.out.write, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, child.err.write, STDERR_FILENO);
  // A group of its own, so that what the candidate starts ends with it.
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int code =
      ::posix_spawn(&child.pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  Pipe::close_end(child.out.write);
  Pipe::close_end(child.err.write);
  if (code != 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", program, errno_text(code)),
                code);
  }
  return {};
}

// Collects both pipes until the child has exited; what a grandchild holds open is not waited for.
void wait_for(Child& child, std::int64_t deadline_ns) {
  bool exited = false;
  bool over = false;
  while (!over) {
    std::array<pollfd, 2> polled = {{{child.out.read, POLLIN, 0}, {child.err.read, POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), 20);
    if (child.out.read >= 0 && !drain(child.out.read, child.output, kMaxChildOutput)) {
      Pipe::close_end(child.out.read);
    }
    if (child.err.read >= 0 && !drain(child.err.read, child.noise, kMaxChildNoise)) {
      Pipe::close_end(child.err.read);
    }
    siginfo_t info{};
    const int asked =
        ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    exited = info.si_pid == child.pid;
    over = exited || (asked != 0 && errno == ECHILD);
    if (!over && !child.timed_out && loader::steady_now_ns() >= deadline_ns) {
      child.timed_out = true;
      ::kill(-child.pid, SIGKILL);  // not reaped yet, so the group is the child's
    }
  }
  if (child.out.read >= 0) drain(child.out.read, child.output, kMaxChildOutput);
  if (child.err.read >= 0) drain(child.err.read, child.noise, kMaxChildNoise);
  // What it started ends with it. It is not reaped yet, so the group's number is still its own;
  // where the host ignores SIGCHLD it may not be, and nothing is signalled.
  if (exited) ::kill(-child.pid, SIGKILL);
  while (::waitpid(child.pid, &child.status, 0) < 0 && errno == EINTR) {
  }
}

// "SIGABRT". Source: sigabbrev_np(3); macOS: sys_signame(3), in lower case.
std::string signal_name(int signal) {
#if defined(__APPLE__)
  const char* name = signal > 0 && signal < NSIG ? sys_signame[signal] : nullptr;
#else
  const char* name = ::sigabbrev_np(signal);
#endif
  if (name == nullptr) return fmt::format("signal {}", signal);
  std::string upper = "SIG";
  for (; *name != '\0'; ++name) {
    upper.push_back(*name >= 'a' && *name <= 'z' ? static_cast<char>(*name - 'a' + 'A') : *name);
  }
  return upper;
}

std::string ending_of(const Child& child, std::int64_t limit_ns) {
  if (child.timed_out) return loader::hung_ending(child.output, limit_ns);
  if (!WIFSIGNALED(child.status)) {
    return loader::exit_ending(child.output, child.noise, WEXITSTATUS(child.status));
  }
  const int signal = WTERMSIG(child.status);
  const char* why = "";
  if (signal == SIGABRT) {
    why = loader::was_loading(child.output)
              ? ": a static constructor threw, or it called abort()"
              : ": an exception left the plugin, or it called abort()";
  }
  return fmt::format("it was killed by {}, {}{}{}", signal_name(signal),
                     loader::last_progress(child.output), why, loader::first_words(child.noise));
}

}  // namespace

std::int64_t loader::own_pid() { return ::getpid(); }

Result<CheckReport> check_in_child(const std::string& program, const std::vector<std::string>& args,
                                   const std::string& file, std::int64_t limit_ns) {
  Child child;
  if (Status ok = start(child, program, args); !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  wait_for(child, loader::steady_now_ns() + limit_ns);
  if (WIFEXITED(child.status)) {
    if (auto report = loader::report_in(child.output)) return std::move(*report);
  }
  CheckReport report;
  report.file = file;
  report.ending = ending_of(child, limit_ns);
  return report;
}

}  // namespace rollcall
