// A target that writes down every signal it gets.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "support/process.hpp"

namespace rollcall::test {

class SignalLog {
 public:
  enum Manner { kStays, kLeaves };  // whether the target exits after its first SIGTERM

  SignalLog() {
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
  }
  SignalLog(const SignalLog&) = delete;
  SignalLog& operator=(const SignalLog&) = delete;
  ~SignalLog() {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  // Returns once the target is ready for signals.
  testing::Child start_target(Manner manner) {
    const int out = pipe_[1];
    auto target = testing::Child::run([manner, out]() -> int {
      sigset_t all;
      ::sigfillset(&all);
      ::sigprocmask(SIG_BLOCK, &all, nullptr);
      unsigned char number = 0;
      (void)!::write(out, &number, 1);
      for (;;) {
        int caught = 0;
        if (::sigwait(&all, &caught) != 0) continue;
        number = static_cast<unsigned char>(caught);
        (void)!::write(out, &number, 1);
        if (manner == kLeaves && caught == SIGTERM) return 0;
      }
    });
    testing::wait_until([&] {
      drain();
      return ready_;
    });
    return target;
  }

  // What arrived, in order, once at least `count` did (or a deadline passed).
  std::vector<int> signals(std::size_t count) {
    testing::wait_until([&] {
      drain();
      return seen_.size() >= count;
    });
    return seen_;
  }

 private:
  void drain() {
    unsigned char number = 0;
    while (::read(pipe_[0], &number, 1) == 1) {
      if (number == 0) {
        ready_ = true;
      } else {
        seen_.push_back(number);
      }
    }
  }

  int pipe_[2] = {-1, -1};
  bool ready_ = false;
  std::vector<int> seen_;
};

}  // namespace rollcall::test
