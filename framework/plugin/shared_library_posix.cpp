#include "plugin/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "plugin/library_symbols.hpp"

namespace rollcall::loader {
namespace {

// dlerror(3) begins with the path that the caller names anyway.
std::string linker_reason(const std::string& path) {
  const char* text = ::dlerror();
  std::string_view reason = text == nullptr ? "the dynamic linker gives no reason" : text;
  if (reason.substr(0, path.size()) == path) reason.remove_prefix(path.size());
  while (!reason.empty() && (reason.front() == ':' || reason.front() == ' ')) {
    reason.remove_prefix(1);
  }
  return std::string(reason);
}

}  // namespace

Result<SharedLibrary> SharedLibrary::load(const std::string& path) {
  void* handle = nullptr;
  // What a static constructor throws mostly ends the process inside dlopen. Where it comes through,
  // it is at least told; the linker's lock may stay with this thread. dlopen is declared not to
  // throw, so only a pointer that the compiler cannot see through is guarded.
  void* (*volatile open)(const char*, int) = &::dlopen;
  try {
    handle = open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kCorrupt, fmt::format("a static constructor threw: {}", thrown.what()));
  } catch (...) {
    return fail(ErrorCode::kCorrupt, "a static constructor threw no std::exception");
  }
  if (handle == nullptr) return fail(ErrorCode::kCorrupt, linker_reason(path));
  return SharedLibrary(handle);
}

Result<std::span<const std::byte>> SharedLibrary::find(const char* symbol) const {
  ::dlerror();
  const void* address = ::dlsym(handle_, symbol);
  if (address == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("it exports no `{}`: it is no Rollcall plugin, or one of another ABI "
                            "major",
                            symbol));
  }
  return std::span(static_cast<const std::byte*>(address), symbol_size(address));
}

}  // namespace rollcall::loader
