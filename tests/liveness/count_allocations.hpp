// Counts what this program allocates through operator new on the calling thread.
#pragma once

#include <cstddef>

namespace rollcall::test {

[[nodiscard]] std::size_t allocations();

}  // namespace rollcall::test
