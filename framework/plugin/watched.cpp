#include "plugin/watched.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "plugin/detached_thread.hpp"

namespace rollcall::loader {
namespace {

// How often a cancel token, which nobody can wait for, is looked at.
constexpr std::int64_t kCancelSliceNs = 50'000'000;

struct Run {
  std::function<void()> body;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

}  // namespace

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                std::int64_t deadline_ns, const std::function<bool()>& pred) {
  while (!pred()) {
    const std::int64_t now = steady_now_ns();
    if (now >= deadline_ns) return false;
    // In slices, so that a deadline near the end of time cannot overflow the clock.
    const auto slice =
        std::chrono::nanoseconds(std::min<std::int64_t>(deadline_ns - now, 1'000'000'000));
#if defined(__SANITIZE_THREAD__)
    // gcc 12's ThreadSanitizer does not know pthread_cond_clockwait.
    changed.wait_until(lock, std::chrono::system_clock::now() + slice);
#else
    changed.wait_for(lock, slice);
#endif
  }
  return true;
}

bool run_watched(std::function<void()> body, std::int64_t deadline_ns,
                 const std::function<bool()>& cancelled) {
  auto run = std::make_shared<Run>();
  run->body = std::move(body);
  start_detached([run] {
    run->body();
    run->body = nullptr;  // what it owns goes with the run, not with who waits longest
    const std::lock_guard lock(run->mutex);
    run->done = true;
    run->changed.notify_all();
  });
  std::unique_lock lock(run->mutex);
  const auto done = [&] { return run->done; };
  if (!cancelled) return wait_until(run->changed, lock, deadline_ns, done);
  bool hurried = false;
  for (;;) {
    const std::int64_t now = steady_now_ns();
    if (!hurried && cancelled()) {
      hurried = true;
      deadline_ns = std::min(deadline_ns, now + kCancelPatienceNs);
    }
    const std::int64_t slice_end = now + std::min<std::int64_t>(kCancelSliceNs, deadline_ns - now);
    if (wait_until(run->changed, lock, slice_end, done)) return true;
    if (steady_now_ns() >= deadline_ns) return false;
  }
}

}  // namespace rollcall::loader
