#include "pairs/boot_seconds.hpp"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

namespace rollcall::pairs {

std::optional<std::int64_t> boot_seconds() {
#if defined(__APPLE__)
  timeval boot{};
  std::size_t size = sizeof boot;
  if (::sysctlbyname("kern.boottime", &boot, &size, nullptr, 0) == 0 && size == sizeof boot) {
    return static_cast<std::int64_t>(boot.tv_sec);
  }
#endif
  return std::nullopt;
}

}  // namespace rollcall::pairs
