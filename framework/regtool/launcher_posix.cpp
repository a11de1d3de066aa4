#include "regtool/launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "core/close_on_exec_posix.hpp"
#include "regtool/orphans_posix.hpp"
#include "regtool/process_state.hpp"
#include "regtool/signal_wait_posix.hpp"
#include "rollcall/tree_hold.hpp"

extern char** environ;

namespace rollcall::regtool::launcher {
namespace {

constexpr std::string_view kSessionVariable = "ROLLCALL_SESSION_ID=";

std::int64_t monotonic_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string errno_text(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> io_failure(std::string_view what, int code) {
  return fail(ErrorCode::kIo, fmt::format("{}: {}", what, errno_text(code)), code);
}

void close_quietly(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Every signal but those that nobody can hold, those that mean a defect or a limit of this very
// process, and those that it was started with as ignored. A signal that is both held and ignored
// would be kept for us all the same.
sigset_t held_signals(const platform::InheritedLimits& inherited) {
  sigset_t set{};
  sigfillset(&set);
  for (const int fault :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE, SIGXFSZ}) {
    sigdelset(&set, fault);
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    // The end of the command must be told; going on is done by the kernel whether ignored or not.
    // SIGURG is how we are asked to stay (rollcall/tree_hold.hpp).
    if (signal == SIGCHLD || signal == SIGCONT || signal == SIGURG) continue;
    if (inherited.ignores(signal)) sigdelset(&set, signal);
  }
  return set;
}

// What is no word of somebody's to the command.
bool is_our_own(int signal) {
  return signal == SIGCHLD || signal == SIGTTIN || signal == SIGTTOU || signal == SIGXCPU;
}

// What the child needs, made before the fork: behind it nothing may be allocated.
struct ChildPlan {
  std::vector<std::string> texts;
  std::vector<char*> argv;
  std::vector<char*> shell_argv;  // for a file without an interpreter line, as execvp(3) does
  std::vector<char*> recorded;    // environments
  std::vector<char*> unrecorded;
  const char* program = nullptr;
  platform::InheritedLimits limits;
  pid_t parent = 0;
  int gate = -1;
  int report = -1;
};

std::vector<char*> pointers(std::vector<std::string>& texts, std::size_t first, std::size_t count) {
  std::vector<char*> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(texts[first + i].data());
  out.push_back(nullptr);
  return out;
}

// Whether our group is the one that the terminal of this session serves.
bool holds_terminal() {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const bool holds = tcgetpgrp(terminal) == getpgrp();
  close(terminal);
  return holds;
}

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

void fill(ChildPlan& child, const Plan& plan) {
  auto& texts = child.texts;
  texts = plan.command;
  const std::size_t words = texts.size();
  texts.push_back(plan.program);
  texts.emplace_back("/bin/sh");
  const std::size_t environment = texts.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, kSessionVariable.data(), kSessionVariable.size()) != 0) {
      texts.emplace_back(*entry);
    }
  }
  const std::size_t variables = texts.size() - environment;
  texts.push_back(std::string(kSessionVariable) + plan.session_id);
  child.argv = pointers(texts, 0, words);
  child.program = texts[words].c_str();
  child.shell_argv = {texts[words + 1].data(), texts[words].data()};
  for (std::size_t i = 1; i < words; ++i) child.shell_argv.push_back(texts[i].data());
  child.shell_argv.push_back(nullptr);
  child.unrecorded = pointers(texts, environment, variables);
  child.recorded = pointers(texts, environment, variables + 1);
  child.limits = plan.limits;
  if (holds_terminal()) {
    // In our own group the command would have had it. It learns of the loan by these signals, which
    // tmux, for one, leaves ignored.
    child.limits.ignored_signals &= ~(bit_of(SIGTTIN) | bit_of(SIGTTOU));
  }
}

// The child's own half: async-signal-safe calls only.
void restore_inherited(const ChildPlan& plan) {
  for (int signal = 1; signal < NSIG; ++signal) {
    std::signal(signal, plan.limits.ignores(signal) ? SIG_IGN : SIG_DFL);
  }
  if (plan.limits.known) {
    const rlimit files{plan.limits.descriptors_soft, plan.limits.descriptors_hard};
    const rlimit core{plan.limits.core_soft, plan.limits.core_hard};
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)setrlimit(RLIMIT_CORE, &core);
  }
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// macOS has nothing of the kind: there the command lives on where its guard is killed.
void die_with_parent([[maybe_unused]] pid_t parent) {
#if defined(__linux__)
  // Set to the thread that forked: the caller lives as long as the process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitRunFailed);  // it died before that was set
#endif
}

[[noreturn]] void be_child(const ChildPlan& plan, int gate_writer, int report_reader) {
  close(gate_writer);
  close(report_reader);
  setpgid(0, 0);
  die_with_parent(plan.parent);
  restore_inherited(plan);
  char word = 0;
  ssize_t got = 0;
  do {
    got = read(plan.gate, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(kExitRunFailed);
  char* const* environment = word == 'r' ? plan.recorded.data() : plan.unrecorded.data();
  execve(plan.program, plan.argv.data(), environment);
  if (errno == ENOEXEC) execve("/bin/sh", plan.shell_argv.data(), environment);
  const int code = errno;
  (void)!write(plan.report, &code, sizeof code);
  _exit(code == ENOENT ? kExitNoCommand : kExitNotRunnable);
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Looks, from outside the stopped wrapper, whether the command goes on, or `terminal` (-1: none)
// that it waits for is our group's, and then wakes the wrapper. The kernel tells only the parent,
// and the parent is stopped.
pid_t start_waker(pid_t wrapper, pid_t command, int terminal) {
  const pid_t waker = fork();
  if (waker != 0) return waker;
  die_with_parent(wrapper);
  while (getppid() == wrapper) {
    const bool can_go_on = run_state(command) != RunState::kStopped ||
                           (terminal >= 0 && tcgetpgrp(terminal) == getpgrp());
    if (can_go_on && run_state(wrapper) == RunState::kStopped) kill(wrapper, SIGCONT);
    const timespec pause{0, 50'000'000};
    nanosleep(&pause, nullptr);
  }
  _exit(0);
}

// Whether there was one.
bool discard_pending(int signal) {
  sigset_t pending{};
  sigpending(&pending);
  if (sigismember(&pending, signal) != 1) return false;
  sigset_t one{};
  sigemptyset(&one);
  sigaddset(&one, signal);
  const timespec no_wait{0, 0};
  return take_signal(one, no_wait) == signal;
}

// The terminal of this session. Where input and output both are one, the command's group has it
// while it runs. Else (a pipeline, a redirection) others of our group may need it, and the command
// gets it once it asks. It comes back when the command stops or ends.
class Terminal {
 public:
  Terminal() = default;
  ~Terminal() { close_quietly(fd_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void find() {
    wanted_ = alone_ = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    fd_ = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  }
  // If it is to have it, and it is ours to give.
  void hand_to(pid_t group) {
    if (wanted_) (void)hand_over(group);
  }
  // The group asked for it, by the signal that the kernel stops it with. Whether it has it.
  bool lend(pid_t group) {
    wanted_ = true;
    return hand_over(group);
  }
  // Whether it had been handed over.
  bool take_back(pid_t group) {
    if (!handed_) return false;
    if (tcgetpgrp(fd_) == group) (void)tcsetpgrp(fd_, getpgrp());
    handed_ = false;
    return true;
  }
  // Whether it was handed over although others of our group may need it.
  [[nodiscard]] bool is_lent() const { return handed_ && !alone_; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool hand_over(pid_t group) {
    if (fd_ < 0) return false;
    const pid_t foreground = tcgetpgrp(fd_);
    if (foreground == group) return true;
    if (foreground != getpgrp() || tcsetpgrp(fd_, group) != 0) return false;
    handed_ = true;
    return true;
  }

  int fd_ = -1;
  bool wanted_ = false;
  bool alone_ = false;
  bool handed_ = false;
};

bool is_executable_file(const std::string& path, int& code) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    code = errno;
    return false;
  }
  if (S_ISDIR(info.st_mode)) {
    code = EISDIR;
    return false;
  }
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    code = errno;
    return false;
  }
  return true;
}

tl::unexpected<Failure> cannot_run(const std::string& command, int code) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  return tl::unexpected<Failure>(
      Failure{missing ? kExitNoCommand : kExitNotRunnable, missing ? "no_command" : "not_runnable",
              fmt::format("cannot run {}: {}", command, errno_text(code)), command});
}

tl::unexpected<Failure> cannot_start(std::string_view what, int code, const Plan& plan) {
  return failure_of(io_failure(what, code).value(), plan.command.front());
}

}  // namespace

void hold_signals(const platform::InheritedLimits& inherited) {
  const sigset_t held = held_signals(inherited);
  sigprocmask(SIG_BLOCK, &held, nullptr);
  // Where it is ignored, the kernel reaps our child and nobody learns how it ended.
  std::signal(SIGCHLD, SIG_DFL);
}

Outcome<std::string> find_program(const std::string& command) {
  int code = ENOENT;
  if (command.find('/') != std::string::npos) {
    if (is_executable_file(command, code)) return command;
    return cannot_run(command, code);
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int worst = ENOENT;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    std::string candidate = folder + "/" + command;
    if (is_executable_file(candidate, code)) return candidate;
    if (code == EACCES || code == EISDIR) worst = EACCES;
    begin = end + 1;
  }
  return cannot_run(command, worst);
}

Status change_directory(const std::string& path) {
  if (chdir(path.c_str()) == 0) return {};
  return io_failure(fmt::format("cannot go to {}", path), errno);
}

struct GatedChild::State {
  ChildPlan plan;
  pid_t pid = -1;
  bool released = false;
  bool ended = false;
  int gate = -1;
  int report = -1;
  Terminal terminal;
  std::optional<int> status;    // as waitpid(2) gives it: it ended before attend()
  int passed_on = 0;            // the last signal that was sent to us and not to it
  bool others_stopped = false;  // of our group, by the kernel, since the terminal was lent
  bool rouse_again = false;     // the others of our group: see pass_on()
  bool keeps_orphans = false;
  std::int64_t held_until_ms = 0;  // on the monotonic clock; see rollcall/tree_hold.hpp
  bool held_for_orphans = false;

  int await_exec();
  void follow_stop(int signal);
  void go_on();
  bool stop_ourselves(int signal);
  void rouse_others();
  void pass_on(int signal);
  int next_signal(const sigset_t& held);
  bool take_hold(const siginfo_t& info);
  void stay_while_held(const sigset_t& held);
  End end_of(int status);
};

// 0: exec closed the pipe, or the child ended before. Else the errno of exec. Meanwhile the child
// may be stopped as well as later.
int GatedChild::State::await_exec() {
  constexpr int kLookAgainMs = 50;
  for (;;) {
    pollfd polled{report, POLLIN, 0};
    if (poll(&polled, 1, kLookAgainMs) > 0) {
      int code = 0;
      const ssize_t got = read(report, &code, sizeof code);
      if (got < 0 && errno == EINTR) continue;
      return got == sizeof code ? code : 0;
    }
    int changed = 0;
    if (waitpid(pid, &changed, WNOHANG | WUNTRACED) != pid) continue;
    if (WIFSTOPPED(changed)) {
      follow_stop(WSTOPSIG(changed));
    } else {
      ended = true;
      status = changed;
    }
  }
}

// The command stopped: for want of the terminal, then it gets it, if our group has it to give. Else
// the terminal comes back, whoever shares our group stops as if the signal had been theirs, and so
// do we, until somebody wakes us or the command can go on.
void GatedChild::State::follow_stop(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal.lend(pid)) {
    kill(-pid, SIGCONT);
    return;
  }
  const bool interactive = terminal.take_back(pid);
  if (interactive && signal == SIGTSTP && getpgrp() == getsid(0)) {
    // Nobody in this session could wake us (no shell with jobs above us): then the kernel ignores
    // the key for the programs that we stand for.
    go_on();
    return;
  }
  if (wants_terminal && terminal.fd() >= 0) {
    kill(0, signal);
  } else if (interactive) {
    kill(0, SIGTSTP);
  }
  if (stop_ourselves(signal)) {
    terminal.hand_to(pid);
  } else {
    go_on();
  }
}

// True: the command goes on by itself. It is not told to then: by the time that we are ready, it
// may have been stopped again, and is to stay so.
bool GatedChild::State::stop_ourselves(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  const pid_t waker = start_waker(getpid(), pid, wants_terminal ? terminal.fd() : -1);
  kill(getpid(), SIGSTOP);
  const bool goes_on = run_state(pid) == RunState::kRunning;
  if (waker > 0) {
    kill(waker, SIGKILL);
    while (waitpid(waker, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (const int seen : {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) (void)discard_pending(seen);
  others_stopped = false;
  return goes_on;
}

void GatedChild::State::go_on() {
  terminal.hand_to(pid);
  kill(-pid, SIGCONT);
}

GatedChild::GatedChild(std::unique_ptr<State> state) : state_(std::move(state)) {}

GatedChild::~GatedChild() {
  if (!state_) return;
  close_quietly(state_->gate);  // the end of the file at the gate ends it
  close_quietly(state_->report);
  if (state_->pid > 0 && !state_->ended) {
    if (!state_->released) kill(state_->pid, SIGKILL);
    while (waitpid(state_->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

Outcome<std::unique_ptr<GatedChild>> GatedChild::start(const Plan& plan) {
  auto state = std::make_unique<State>();
  fill(state->plan, plan);
  state->plan.parent = getpid();
  int gate[2] = {-1, -1};
  int report[2] = {-1, -1};
  if (core::open_pipe(gate) != 0) return cannot_start("cannot make a pipe", errno, plan);
  if (core::open_pipe(report) != 0) {
    const int code = errno;
    close(gate[0]);
    close(gate[1]);
    return cannot_start("cannot make a pipe", code, plan);
  }
  state->plan.gate = gate[0];
  state->plan.report = report[1];
  state->keeps_orphans = keep_orphans();  // the child does not inherit it
  const pid_t pid = fork();
  if (pid == 0) be_child(state->plan, gate[1], report[0]);
  const int code = errno;
  close(gate[0]);
  close(report[1]);
  state->gate = gate[1];
  state->report = report[0];
  state->pid = pid;
  std::unique_ptr<GatedChild> child(new GatedChild(std::move(state)));
  if (pid < 0) return cannot_start("cannot start a process", code, plan);
  (void)setpgid(pid, pid);  // both sides do it, so that it is done whoever comes first
  return child;
}

std::int64_t GatedChild::pid() const { return state_->pid; }

bool GatedChild::can_be_held() const { return state_->keeps_orphans; }

Outcome<void> GatedChild::release(bool recorded) {
  State& state = *state_;
  state.terminal.find();
  state.terminal.hand_to(state.pid);
  const char word = recorded ? 'r' : 'u';
  state.released = true;
  (void)!write(state.gate, &word, 1);
  close_quietly(state.gate);
  const int code = state.await_exec();
  close_quietly(state.report);
  if (code == 0) return {};
  state.terminal.take_back(state.pid);
  while (!state.ended && waitpid(state.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  state.ended = true;
  return cannot_run(state.plan.texts.front(), code);
}

// A key that ended the command would have ended us and whoever shares our group: they were not told
// where its group had the terminal.
End GatedChild::State::end_of(int how) {
  ended = true;
  const bool had_terminal = terminal.take_back(pid);
  for (const int signal : {SIGTTIN, SIGTTOU}) {
    if (discard_pending(signal)) others_stopped = true;
  }
  if ((had_terminal && others_stopped) || rouse_again) kill(0, SIGCONT);
  End end{.exit_code = exit_code_of(how)};
  const int signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  if ((signal != SIGINT && signal != SIGQUIT) || plan.limits.ignores(signal)) return end;
  if (had_terminal || passed_on == signal) end.signal = signal;
  end.tell_group = had_terminal && passed_on != signal;
  return end;
}

void GatedChild::State::rouse_others() {
  kill(0, SIGCONT);
  (void)discard_pending(SIGCONT);  // our own: it would hand the terminal over again
}

void GatedChild::State::pass_on(int signal) {
  if (signal == SIGTTOU && terminal.is_lent()) {
    // The command may wait for the very one that was stopped as it wrote (stty tostop): the next
    // in the pipeline. The kernel signals a group one by one: it may not have reached them yet.
    terminal.take_back(pid);
    rouse_others();
    rouse_again = true;
    return;
  }
  if (signal == SIGTSTP) rouse_again = false;  // from now on they are stopped on purpose
  if (signal == SIGTTIN || signal == SIGTTOU) others_stopped = true;
  if (is_our_own(signal)) return;
  if (signal == SIGCONT) {
    go_on();
    return;
  }
  passed_on = signal;
  kill(-pid, signal);
}

// 0: none, look again.
int GatedChild::State::next_signal(const sigset_t& held) {
  constexpr timespec kRouseAgainAfter{0, 50'000'000};
  siginfo_t info{};
  const int signal =
      rouse_again ? take_signal(held, kRouseAgainAfter, &info) : await_signal(held, info);
  if (signal > 0) return take_hold(info) || is_for_the_tree(info) ? 0 : signal;
  if (!rouse_again) return 0;
  if (errno == EAGAIN) {
    rouse_again = false;
    rouse_others();
  }
  return 0;
}

bool GatedChild::State::take_hold(const siginfo_t& info) {
  const auto asked = hold_asked(info);
  if (!asked) return false;
  if (*asked == plugin::kHoldForOrphans) held_for_orphans = true;
  held_until_ms = *asked == 0 || *asked == plugin::kHoldForOrphans ? 0 : monotonic_ms() + *asked;
  return true;
}

// The command has ended. Whoever stops its tree wants us to stay, so that what it left behind is
// still ours; who wants us gone sends us a signal.
void GatedChild::State::stay_while_held(const sigset_t& held) {
  sigset_t word{};
  sigemptyset(&word);
  sigaddset(&word, SIGURG);
  siginfo_t info{};
  const timespec no_wait{0, 0};
  while (take_signal(word, no_wait, &info) == SIGURG) (void)take_hold(info);
  for (;;) {
    const bool is_any_left = reap_orphans(-1);
    const bool is_timed = held_until_ms > monotonic_ms();
    if (!is_timed && !(held_for_orphans && is_any_left)) return;
    constexpr timespec kStep{0, 20'000'000};
    constexpr timespec kUntilOneEnds{60, 0};  // SIGCHLD says so
    info = {};
    const int signal = take_signal(held, is_timed ? kStep : kUntilOneEnds, &info);
    if (signal > 0 && take_hold(info)) continue;
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT) return;
  }
}

End GatedChild::attend() {
  State& state = *state_;
  if (state.status) return state.end_of(*state.status);
  const sigset_t held = held_signals(state.plan.limits);
  for (;;) {
    int status = 0;
    const pid_t changed = waitpid(state.pid, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed == state.pid && (WIFEXITED(status) || WIFSIGNALED(status))) {
      const End end = state.end_of(status);
      if (state.keeps_orphans) state.stay_while_held(held);
      return end;
    }
    if (state.keeps_orphans) (void)reap_orphans(state.pid);
    if (changed == state.pid && WIFSTOPPED(status)) {
      state.follow_stop(WSTOPSIG(status));
      continue;
    }
    if (changed == state.pid) continue;
    if (changed < 0 && errno != EINTR) return {.exit_code = kExitRunFailed};  // not ours any more
    if (const int signal = state.next_signal(held); signal != 0) state.pass_on(signal);
  }
}

void ask_ourselves_to_stop() { kill(getpid(), SIGTERM); }

void die_of(const End& end) {
  if (end.signal == 0) return;
#if defined(__linux__)
  prctl(PR_SET_DUMPABLE, 0);  // SIGQUIT asks for a core file; there may be a token in ours
#endif
  if (end.tell_group) kill(0, end.signal);  // held: it waits for us
  std::signal(end.signal, SIG_DFL);
  sigset_t one{};
  sigemptyset(&one);
  sigaddset(&one, end.signal);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  raise(end.signal);
}

Detachment::Detachment(Detachment&& other) noexcept
    : is_caller_(other.is_caller_), fd_(std::exchange(other.fd_, -1)) {}

Detachment::~Detachment() { close_quietly(fd_); }

namespace {

// Lets go of everything that the launching process gave us: its terminal, and every descriptor but
// `kept`, since whoever reads the other end would wait for us.
void leave_launcher(int output, int kept) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
  dup2(output >= 0 ? output : nothing, STDERR_FILENO);
#if defined(__linux__)
  if (kept > 3) (void)close_range(3, static_cast<unsigned>(kept) - 1, 0);
  (void)close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
#else
  const int end = std::min(getdtablesize(), 65536);
  for (int fd = 3; fd < end; ++fd) {
    if (fd != kept) close(fd);
  }
#endif
}

}  // namespace

Result<Detachment> Detachment::detach(const std::optional<std::string>& log_file) {
  int output = -1;
  if (log_file) {
    output = open(log_file->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (output < 0) return io_failure(fmt::format("cannot open {}", *log_file), errno);
  }
  int word[2] = {-1, -1};
  if (core::open_pipe(word) != 0) {
    const int code = errno;
    close_quietly(output);
    return io_failure("cannot make a pipe", code);
  }
  const pid_t between = fork();
  if (between == 0) {
    setsid();
    const pid_t detached = fork();
    if (detached != 0) _exit(detached < 0 ? 1 : 0);
    leave_launcher(output, word[1]);
    return Detachment(false, word[1]);
  }
  const int code = errno;
  close_quietly(output);
  close(word[1]);
  if (between < 0) {
    close(word[0]);
    return io_failure("cannot start a process", code);
  }
  while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  return Detachment(true, word[0]);
}

Result<Readiness> Detachment::await() {
  std::string bytes;
  char block[4096];
  for (;;) {
    const ssize_t got = read(fd_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(block, static_cast<std::size_t>(got));
  }
  auto readiness = unpacked(bytes);
  if (!readiness) return fail(ErrorCode::kIo, "the detached process ended before it was ready");
  return std::move(*readiness);
}

void Detachment::tell(const Readiness& readiness) {
  const std::string bytes = packed(readiness);
  std::size_t put = 0;
  while (put < bytes.size()) {
    const ssize_t done = write(fd_, bytes.data() + put, bytes.size() - put);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;
    put += static_cast<std::size_t>(done);
  }
  close_quietly(fd_);
}

}  // namespace rollcall::regtool::launcher
