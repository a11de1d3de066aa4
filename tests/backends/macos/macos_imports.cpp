#include "macos_imports.hpp"

#include <arpa/inet.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "fake_mac.hpp"

namespace rollcall::testing {
namespace {

// macOS numbers AF_INET6 30, Linux 10.
const char* from_macos_inet_ntop(int family, const void* address, char* text, socklen_t size) {
  return ::inet_ntop(family == 30 ? AF_INET6 : family, address, text, size);
}

int* errno_place() { return &errno; }
void zero(void* memory, std::size_t size) { std::memset(memory, 0, size); }
[[noreturn]] void never() { std::abort(); }
std::uint64_t stack_guard = 0x7A1F00C35B96D201;

// The overloads of the C++ library are not what a C program imports.
const void* find_byte(const void* memory, int byte, std::size_t size) {
  return std::memchr(memory, byte, size);
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* import_for_macos(std::string_view name) {
  if (void* faked = FakeMac::function(name)) return faked;
  static const std::map<std::string_view, void*> kAlike = {
      {"___bzero", address(&zero)},
      {"_bzero", address(&zero)},
      {"___error", address(&errno_place)},
      {"___stack_chk_fail", address(&never)},
      {"___stack_chk_guard", &stack_guard},
      {"dyld_stub_binder", address(&never)},  // everything is bound at once
      {"_abort", address(&std::abort)},
      {"_free", address(&std::free)},
      {"_malloc", address(&std::malloc)},
      {"_realloc", address(&std::realloc)},
      {"_memchr", address(&find_byte)},
      {"_memcmp", address(&std::memcmp)},
      {"_memcpy", address(&std::memcpy)},
      {"_memmove", address(&std::memmove)},
      {"_memset", address(&std::memset)},
      {"_strcmp", address(&std::strcmp)},
      {"_strlen", address(&std::strlen)},
      {"_qsort", reinterpret_cast<void*>(
                     static_cast<void (*)(void*, std::size_t, std::size_t,
                                          int (*)(const void*, const void*))>(&std::qsort))},
      {"_inet_ntop", address(&from_macos_inet_ntop)},
  };
  const auto it = kAlike.find(name);
  return it == kAlike.end() ? nullptr : it->second;
}

}  // namespace rollcall::testing
