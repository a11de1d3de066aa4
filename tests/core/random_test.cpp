#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/random.hpp"

namespace rollcall::core {
namespace {

TEST(FillRandom, FillsMoreThanOneCallTakes) {
  std::vector<std::byte> bytes(1000);
  ASSERT_TRUE(fill_random(bytes));
  // Each stretch of 100 bytes holds something: all zero has a probability of 2^-800.
  for (std::size_t at = 0; at < bytes.size(); at += 100) {
    EXPECT_TRUE(std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + 100),
                            [](std::byte byte) { return byte != std::byte{0}; }));
  }
}

TEST(FillRandom, DiffersFromCallToCall) { EXPECT_NE(*random_u64(), *random_u64()); }

}  // namespace
}  // namespace rollcall::core
