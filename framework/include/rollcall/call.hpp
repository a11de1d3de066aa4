// What bounds a call: clock, deadline, cancellation. Clocks are passed in, never global.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "rollcall/export.hpp"

namespace rollcall {

// Two clocks. Threads: any.
class ROLLCALL_API Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since an arbitrary point; never steps. Deadlines are measured by it.
  [[nodiscard]] virtual std::int64_t monotonic_ns() const = 0;
  // Nanoseconds since 1970-01-01 UTC; may step. For display and for records only.
  [[nodiscard]] virtual std::int64_t unix_ns() const = 0;
};

[[nodiscard]] ROLLCALL_API std::shared_ptr<const Clock> system_clock();

// Shared by the caller, who sets it, and the callee, who asks. Threads: any. Async-signal-safe to
// set. A default-constructed token can be set too; copies share it.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const noexcept { flag_->store(true); }
  [[nodiscard]] bool cancelled() const noexcept { return flag_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

inline constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();

// Bounds of one call. `deadline_ns` is absolute on Clock::monotonic_ns().
struct Call {
  std::int64_t deadline_ns = kNoDeadline;
  CancelToken cancel{};
};

}  // namespace rollcall
