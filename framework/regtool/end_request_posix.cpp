// Being asked to end, by signals that are taken one by one instead of interrupting anything.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>
#include <utility>

#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {
namespace {

sigset_t end_signals() {
  sigset_t set{};
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

struct EndRequest::State {
  std::atomic<bool> is_over{false};
  sigset_t before{};
  std::thread waiter;
};

EndRequest::EndRequest(std::function<void()> asked) : state_(std::make_unique<State>()) {
  // Blocked in every thread that is started from now on: then only the waiter takes them.
  const sigset_t set = end_signals();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  state_->waiter = std::thread([state = state_.get(), set, asked = std::move(asked)] {
    int signal = 0;
    while (sigwait(&set, &signal) != 0) {
    }
    if (!state->is_over.load()) asked();
  });
}

EndRequest::~EndRequest() {
  state_->is_over.store(true);
  // The waiter's own, so that it is not left behind for anybody else.
  pthread_kill(state_->waiter.native_handle(), SIGTERM);
  state_->waiter.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

}  // namespace rollcall::regtool::platform
