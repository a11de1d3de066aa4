// Randomness of the operating system. There is no fallback: without it, what needs it fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rollcall/result.hpp"

namespace rollcall::core {

// Fills `out`. Source: getentropy(3); Windows: BCryptGenRandom. Errors: kIo. Threads: any.
[[nodiscard]] Status fill_random(std::span<std::byte> out);

// 64 random bits. Errors: kIo.
[[nodiscard]] inline Result<std::uint64_t> random_u64() {
  std::array<std::byte, 8> bytes{};
  if (auto filled = fill_random(bytes); !filled) return tl::unexpected(filled.error());
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

}  // namespace rollcall::core
