// For *_posix.cpp files only.
#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace rollcall::regtool {

// Takes a pending signal of the set, which is blocked, and waits for one no longer than `within`.
// -1 and EAGAIN: there was none; EINTR: something else came. Source: sigtimedwait(2), which macOS
// has not: there it is looked for every 5 ms, and `info` stays as it was.
[[nodiscard]] inline int take_signal(const sigset_t& set, const timespec& within,
                                     siginfo_t* info = nullptr) {
#if defined(__APPLE__)
  static_cast<void>(info);
  constexpr long kStepNs = 5'000'000;
  for (long long left = within.tv_sec * 1'000'000'000LL + within.tv_nsec;; left -= kStepNs) {
    sigset_t pending{};
    sigpending(&pending);
    for (int signal = 1; signal < NSIG; ++signal) {
      if (sigismember(&set, signal) != 1 || sigismember(&pending, signal) != 1) continue;
      int taken = 0;
      return sigwait(&set, &taken) == 0 ? taken : -1;
    }
    if (left <= 0) break;
    const timespec step{0, kStepNs};
    if (nanosleep(&step, nullptr) != 0) return -1;
  }
  errno = EAGAIN;
  return -1;
#else
  return sigtimedwait(&set, info, &within);
#endif
}

// Waits for a signal of the set, which is blocked. -1 and errno. `info`: as above.
[[nodiscard]] inline int await_signal(const sigset_t& set, siginfo_t& info) {
#if defined(__APPLE__)
  static_cast<void>(info);
  int taken = 0;
  return sigwait(&set, &taken) == 0 ? taken : -1;
#else
  return sigwaitinfo(&set, &info);
#endif
}

}  // namespace rollcall::regtool
