// Running code that may hang, without hanging.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace rollcall::loader {

// The clock that waits are measured by, and that plugins are told: CLOCK_MONOTONIC's.
[[nodiscard]] std::int64_t steady_now_ns();

// Waits until pred() holds or steady_now_ns() reaches the deadline; what pred() says then.
[[nodiscard]] bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                              std::int64_t deadline_ns, const std::function<bool()>& pred);

// How long a call that was cancelled may still take to notice it.
inline constexpr std::int64_t kCancelPatienceNs = 2'000'000'000;

// Runs `body` on a thread of its own and waits for its end, at most until the deadline, and at most
// kCancelPatienceNs more once `cancelled` (which may be empty) says so. False: it still runs, and
// goes on by itself; so it owns all that it uses. The body must not throw.
// Throws std::system_error where no thread can be had.
[[nodiscard]] bool run_watched(std::function<void()> body, std::int64_t deadline_ns,
                               const std::function<bool()>& cancelled = nullptr);

}  // namespace rollcall::loader
