#include "plugin/program_file.hpp"

#include <mach-o/dyld.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace rollcall::loader {

// Source: dyld(3), _NSGetExecutablePath: the path that the program was started by, which its caller
// chooses; the links in it are resolved.
std::string program_file(std::string& why) {
  if (::issetugid() != 0) {
    why = "the program has privileges that its caller lacks";
    return {};
  }
  std::uint32_t size = 0;
  (void)::_NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (size == 0 || ::_NSGetExecutablePath(path.data(), &size) != 0) {
    why = "the system names none";
    return {};
  }
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real != nullptr) return real.get();
  why = std::generic_category().message(errno);
  return {};
}

}  // namespace rollcall::loader
