#include <windows.h>
// After windows.h:
#include <bcrypt.h>

#include <fmt/format.h>

#include "core/random.hpp"

namespace rollcall::core {

Status fill_random(std::span<std::byte> out) {
  constexpr std::size_t kMost = 1U << 20;
  while (!out.empty()) {
    const std::size_t size = out.size() < kMost ? out.size() : kMost;
    const NTSTATUS status =
        ::BCryptGenRandom(nullptr, reinterpret_cast<UCHAR*>(out.data()), static_cast<ULONG>(size),
                          BCRYPT_USE_SYSTEM_PREFERRED_RNG);
    if (status != 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("cannot read randomness from the system: status {:#010x}",
                              static_cast<std::uint32_t>(status)),
                  status);
    }
    out = out.subspan(size);
  }
  return {};
}

}  // namespace rollcall::core
