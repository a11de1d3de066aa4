#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>

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

std::string own_program_folder() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0 || static_cast<std::size_t>(size) == sizeof(path)) return {};
  return folder_of({path, static_cast<std::size_t>(size)});
}

}  // namespace

Surroundings read_surroundings() {
  Surroundings around;
  if (const char* path = ::secure_getenv("ROLLCALL_PLUGIN_PATH")) around.environment_path = path;
  around.library_folder = own_library_folder();
  around.program_folder = own_program_folder();
  around.installed_folder = ROLLCALL_PLUGIN_DIR;
  return around;
}

}  // namespace rollcall::loader
