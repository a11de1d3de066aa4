// For *_posix.cpp files only.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace rollcall::core {

// The value of a variable; null where it is unset, or where the program was given privileges that
// its user does not have: then somebody with fewer rights chose it. Source: secure_getenv(3);
// macOS: issetugid(2).
[[nodiscard]] inline const char* trusted_environment(const char* name) {
#if defined(__APPLE__)
  return ::issetugid() != 0 ? nullptr : std::getenv(name);
#else
  return ::secure_getenv(name);
#endif
}

}  // namespace rollcall::core
