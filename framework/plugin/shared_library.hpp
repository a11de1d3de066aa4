// A shared library of this process. Never unloaded: code of it may run in a thread_local's
// destructor or in an abandoned thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rollcall/result.hpp"

namespace rollcall::loader {

class SharedLibrary {
 public:
  // Every symbol is bound at once, and none is lent to other libraries (RTLD_NOW, RTLD_LOCAL). On
  // Windows what it needs is looked for in its own folder and the system's, and nowhere else.
  // The library's constructors run in here: what they throw, or their exit(), ends the process.
  // Errors: kCorrupt, with the dynamic linker's reason (a missing symbol is named).
  [[nodiscard]] static Result<SharedLibrary> load(const std::string& path);

  // A datum's bytes, as many as its symbol says; on Windows, where a symbol has no size, as many as
  // are left of its section. Errors: kNotFound, kCorrupt.
  [[nodiscard]] Result<std::span<const std::byte>> find(const char* symbol) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// What a library file offers to the dynamic linker, sorted; read from the file, without loading.
// On Windows what has a number and no name is "#7".
// Errors: kCorrupt, kIo.
[[nodiscard]] Result<std::vector<std::string>> exported_symbols(const std::string& path);

}  // namespace rollcall::loader
