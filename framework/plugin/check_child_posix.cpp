#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "plugin/check.hpp"
#include "plugin/check_suite.hpp"
#include "plugin/watched.hpp"

extern char** environ;

namespace rollcall {
namespace {

constexpr std::size_t kMaxOutput = 1U << 20;
constexpr std::size_t kMaxNoise = 4096;
constexpr std::string_view kReportStart = "{\"schema\":\"rollcall.plugin-check/1\"";
constexpr std::string_view kProgress = "\nrollcall-check-at: ";

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
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
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
      const std::size_t room = limit - std::min(limit, into.size());
      into.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
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
    if (child.out.read >= 0 && !drain(child.out.read, child.output, kMaxOutput)) {
      Pipe::close_end(child.out.read);
    }
    if (child.err.read >= 0 && !drain(child.err.read, child.noise, kMaxNoise)) {
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
  if (child.out.read >= 0) drain(child.out.read, child.output, kMaxOutput);
  if (child.err.read >= 0) drain(child.err.read, child.noise, kMaxNoise);
  // What it started ends with it. It is not reaped yet, so the group's number is still its own;
  // where the host ignores SIGCHLD it may not be, and nothing is signalled.
  if (exited) ::kill(-child.pid, SIGKILL);
  while (::waitpid(child.pid, &child.status, 0) < 0 && errno == EINTR) {
  }
}

std::string last_progress(const std::string& output) {
  const std::size_t at = output.rfind(kProgress);
  if (at == output.npos) return "before anything of it was tried";
  const std::size_t begin = at + kProgress.size();
  return fmt::format("while this was tried: \"{}\"",
                     output.substr(begin, output.find('\n', begin) - begin));
}

bool was_loading(const std::string& output) {
  return last_progress(output).find("\"load:") != std::string::npos;
}

std::string first_line(const std::string& noise) {
  std::string line = noise.substr(0, std::min<std::size_t>(noise.find('\n'), 300));
  return line.empty() ? line : fmt::format(" (it said: {})", line);
}

std::string ending_of(const Child& child, std::int64_t limit_ns) {
  const std::string when = last_progress(child.output);
  const bool loading = was_loading(child.output);
  if (child.timed_out) {
    return fmt::format("it hung and was killed after {} s, {}{}", limit_ns / 1'000'000'000, when,
                       loading ? ": a static constructor or its init does not return" : "");
  }
  if (WIFSIGNALED(child.status)) {
    const int signal = WTERMSIG(child.status);
    const char* why = "";
    if (signal == SIGABRT) {
      why = loading ? ": a static constructor threw, or it called abort()"
                    : ": an exception left the plugin, or it called abort()";
    }
    return fmt::format("it was killed by SIG{}, {}{}{}", ::sigabbrev_np(signal), when, why,
                       first_line(child.noise));
  }
  const int code = WEXITSTATUS(child.status);
  return fmt::format("it ended the process with exit code {}, {}{}{}", code, when,
                     loading ? ": a static constructor called exit()" : ": it called exit()",
                     first_line(child.noise));
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
  const std::size_t at = child.output.rfind(kReportStart);
  if (at != child.output.npos && WIFEXITED(child.status)) {
    std::string_view json(child.output);
    json = json.substr(at, json.find('\n', at) - at);
    if (auto report = parse_check_report(json)) return report;
  }
  CheckReport report;
  report.file = file;
  report.ending = ending_of(child, limit_ns);
  return report;
}

}  // namespace rollcall
