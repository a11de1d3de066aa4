#include "liveness/count_allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t count = 0;
}  // namespace

namespace rollcall::test {
std::size_t allocations() { return count; }
}  // namespace rollcall::test

#if !defined(ROLLCALL_SANITIZED)  // a sanitizer owns operator new
void* operator new(std::size_t size) {
  ++count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
