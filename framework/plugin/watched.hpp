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

// Runs `body` on a thread of its own and waits for its end, at most until the deadline. False: it
// still runs, and goes on by itself; so it owns all that it uses. The body must not throw.
// Throws std::system_error where no thread can be had.
[[nodiscard]] bool run_watched(std::function<void()> body, std::int64_t deadline_ns);

}  // namespace rollcall::loader
