// The bounds of one call, on the host's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rollcall/plugin_parts.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// The clock that deadlines are measured by. A host without one measures none, and no deadline
// holds.
class Clock {
 public:
  // Called once, by init.
  static void use(const rollcall_host& host) { host_ = host; }
  [[nodiscard]] static bool known() { return host_.monotonic_now_ns != nullptr; }
  [[nodiscard]] static std::int64_t now_ns() { return host_.monotonic_now_ns(host_.context); }

 private:
  static inline rollcall_host host_{};
};

// A missing rollcall_call means no bounds.
class Bounds {
 public:
  explicit Bounds(const rollcall_call* call) : call_(plugin::detail::copy_sized(call)) {
    if (call == nullptr || !Clock::known()) call_.deadline_ns = INT64_MAX;
  }
  [[nodiscard]] bool cancelled() const {
    return call_.cancelled != nullptr && call_.cancelled(call_.context) != 0;
  }
  // Until the deadline, at least 0; INT64_MAX: there is none.
  [[nodiscard]] std::int64_t remaining_ns() const {
    if (call_.deadline_ns == INT64_MAX) return INT64_MAX;
    return std::max<std::int64_t>(0, call_.deadline_ns - Clock::now_ns());
  }
  // E_CANCELLED, E_TIMEOUT, or success: go on.
  [[nodiscard]] Status check() const {
    if (cancelled()) return failed(ROLLCALL_E_CANCELLED, 0, "the call was cancelled");
    if (remaining_ns() == 0) return failed(ROLLCALL_E_TIMEOUT, 0, "the call's deadline passed");
    return {};
  }

 private:
  rollcall_call call_;
};

// A time to wait, as the system takes it.
[[nodiscard]] inline struct timespec to_timespec(std::int64_t ns) {
  struct timespec time = {};
  time.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  time.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return time;
}

}  // namespace rollcall::macos_backend
