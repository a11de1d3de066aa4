#include <chrono>

#include "rollcall/call.hpp"

namespace rollcall {
namespace {

template <class C>
std::int64_t ns_since_epoch() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(C::now().time_since_epoch()).count();
}

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override {
    return ns_since_epoch<std::chrono::steady_clock>();
  }
  [[nodiscard]] std::int64_t unix_ns() const override {
    return ns_since_epoch<std::chrono::system_clock>();
  }
};

}  // namespace

std::shared_ptr<const Clock> system_clock() { return std::make_shared<const SystemClock>(); }

}  // namespace rollcall
