#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

#include "core/random.hpp"

namespace rollcall::core {

Status fill_random(std::span<std::byte> out) {
  constexpr std::size_t kMost = 256;  // what getentropy takes in one call
  while (!out.empty()) {
    const std::size_t size = out.size() < kMost ? out.size() : kMost;
    if (::getentropy(out.data(), size) != 0) {
      const int code = errno;
      return fail(ErrorCode::kIo,
                  fmt::format("cannot read randomness from the system: {}", std::strerror(code)),
                  code);
    }
    out = out.subspan(size);
  }
  return {};
}

}  // namespace rollcall::core
