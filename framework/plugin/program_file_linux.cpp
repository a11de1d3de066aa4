#include "plugin/program_file.hpp"

#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace rollcall::loader {
namespace {

// Without /proc: the path that the program was started by, which the kernel gives in the auxiliary
// vector (getauxval(3), AT_EXECFN), links resolved. Only an absolute one, and not where the program
// has privileges that its caller lacks, since the caller chooses the path.
std::string started_by() {
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr || name[0] != '/' || ::getauxval(AT_SECURE) != 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(name, nullptr), &std::free);
  return path == nullptr ? std::string() : std::string(path.get());
}

}  // namespace

std::string program_file(std::string& why) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  if (size > 0 && static_cast<std::size_t>(size) < sizeof(path) && path[0] == '/') {
    return {path, static_cast<std::size_t>(size)};
  }
  const std::string reason =
      size < 0 ? std::generic_category().message(errno) : "it names no absolute path";
  std::string found = started_by();
  if (found.empty()) why = "/proc/self/exe: " + reason + "; is /proc mounted?";
  return found;
}

}  // namespace rollcall::loader
