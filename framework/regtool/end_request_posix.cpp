// Being asked to end, by signals that one thread takes instead of interrupting anything.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>

#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {
namespace {

constexpr std::array<int, 3> kEndSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr char kAsked = 'a';
constexpr char kOver = 'o';

// A handler has no context. The writing end of the pipe; -1: nobody listens.
std::atomic<int> g_asked{-1};  // NOLINT: see above
static_assert(std::atomic<int>::is_always_lock_free);

void tell(int fd, char word) {
  const int before = errno;
  while (::write(fd, &word, 1) < 0 && errno == EINTR) {
  }
  errno = before;
}

extern "C" void end_was_asked(int) {
  if (const int fd = g_asked.load(); fd >= 0) tell(fd, kAsked);
}

// False: there are no descriptors left.
bool open_pipe(std::array<int, 2>& ends) {
  if (::pipe(ends.data()) != 0) return false;
  for (const int fd : ends) (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return true;
}

// Of other files poll(2) says nothing about who reads.
bool is_output_piped() {
  struct stat info {};
  if (::fstat(STDOUT_FILENO, &info) != 0) return false;
  return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode);
}

// Until there is a word, or, with `output`, nobody reads standard output any more: then kAsked.
char next_word(int fd, bool& output) {
  for (;;) {
    std::array<pollfd, 2> polled{{{fd, POLLIN, 0}, {output ? STDOUT_FILENO : -1, 0, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return kOver;
    if (polled[1].revents != 0) {
      output = false;
      if ((polled[1].revents & POLLNVAL) == 0) return kAsked;
    }
    if (polled[0].revents == 0) continue;
    char word = 0;
    const auto read = ::read(fd, &word, 1);
    if (read == 1) return word;
    if (read == 0 || errno != EINTR) return kOver;
  }
}

}  // namespace

struct EndRequest::State {
  bool output = false;  // is looked at, too
  std::array<int, 2> pipe{-1, -1};
  sigset_t taken{};  // those that are not ignored: what nohup(1) or a shell's `&` did stands
  std::array<struct sigaction, kEndSignals.size()> actions{};  // as they were
  sigset_t mask{};                                             // as it was
  std::thread waiter;

  void take_signals();
  void wait(const std::function<void()>& asked);
};

// Once SIGINT or SIGTERM was told, the same again has its usual effect: who does not get an end
// when asking for it can still force one. A terminal that hangs up does so more than once.
void EndRequest::State::take_signals() {
  sigemptyset(&taken);
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    (void)::sigaction(kEndSignals[i], nullptr, &actions[i]);
    if (actions[i].sa_handler == SIG_IGN) continue;
    sigaddset(&taken, kEndSignals[i]);
  }
  // Blocked in every thread that is started from now on: then only the waiter takes them.
  pthread_sigmask(SIG_BLOCK, &taken, &mask);
  for (const int number : kEndSignals) {
    if (sigismember(&taken, number) != 1) continue;
    struct sigaction action {};
    action.sa_handler = &end_was_asked;
    action.sa_flags = SA_RESTART | (number == SIGHUP ? 0 : static_cast<int>(SA_RESETHAND));
    (void)::sigaction(number, &action, nullptr);
  }
}

void EndRequest::State::wait(const std::function<void()>& asked) {
  pthread_sigmask(SIG_UNBLOCK, &taken, nullptr);
  bool told = false;
  while (next_word(pipe[0], output) == kAsked) {
    if (!std::exchange(told, true)) asked();
  }
}

EndRequest::EndRequest(std::function<void()> asked, Readers readers)
    : state_(std::make_unique<State>()) {
  if (!open_pipe(state_->pipe)) return;  // then a signal ends the process, as it does without us
  state_->output = readers == Readers::kNeeded && is_output_piped();
  g_asked.store(state_->pipe[1]);
  state_->take_signals();
  state_->waiter =
      std::thread([state = state_.get(), asked = std::move(asked)] { state->wait(asked); });
}

EndRequest::~EndRequest() {
  if (!state_->waiter.joinable()) return;
  tell(state_->pipe[1], kOver);
  state_->waiter.join();
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    if (sigismember(&state_->taken, kEndSignals[i]) != 1) continue;
    (void)::sigaction(kEndSignals[i], &state_->actions[i], nullptr);
  }
  g_asked.store(-1);
  pthread_sigmask(SIG_SETMASK, &state_->mask, nullptr);
  for (const int fd : state_->pipe) ::close(fd);
}

}  // namespace rollcall::regtool::platform
