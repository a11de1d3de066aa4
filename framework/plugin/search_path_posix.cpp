#include <dlfcn.h>
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "plugin/search_path.hpp"

#ifndef ROLLCALL_PLUGIN_DIR
#define ROLLCALL_PLUGIN_DIR ""
#endif

namespace rollcall::loader {
namespace {

// The folder of an absolute path; empty for any other: a relative one depends on the working
// directory, from which nothing is ever loaded.
std::string folder_of(std::string_view path) {
  if (path.empty() || path.front() != '/') return {};
  return std::string(path.substr(0, path.rfind('/')));
}

std::string own_library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&read_surroundings), &info) == 0) return {};
  return info.dli_fname == nullptr ? std::string() : folder_of(info.dli_fname);
}

// Without /proc: the path that the program was started by, which the kernel gives in the auxiliary
// vector (getauxval(3), AT_EXECFN), links resolved. Only an absolute one, and not where the program
// has privileges that its caller lacks, since the caller chooses the path.
std::string started_by_folder() {
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr || name[0] != '/' || ::getauxval(AT_SECURE) != 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(name, nullptr), &std::free);
  return path == nullptr ? std::string() : folder_of(path.get());
}

void find_program_folder(Surroundings& around) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  if (size > 0 && static_cast<std::size_t>(size) < sizeof(path)) {
    around.program_folder = folder_of({path, static_cast<std::size_t>(size)});
    if (!around.program_folder.empty()) return;
  }
  const std::string why =
      size < 0 ? std::generic_category().message(errno) : "it names no absolute path";
  around.program_folder = started_by_folder();
  if (around.program_folder.empty()) {
    around.program_fault =
        "this program's own folder could not be told (/proc/self/exe: " + why +
        "), so ../lib/rollcall/plugins from it was not looked in; is /proc mounted?";
  }
}

}  // namespace

Surroundings read_surroundings() {
  Surroundings around;
  if (const char* path = ::secure_getenv("ROLLCALL_PLUGIN_PATH")) around.environment_path = path;
  around.library_folder = own_library_folder();
  find_program_folder(around);
  around.installed_folder = ROLLCALL_PLUGIN_DIR;
  return around;
}

}  // namespace rollcall::loader
