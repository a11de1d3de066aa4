#include <dlfcn.h>

#include <string_view>

#include "core/trusted_environment_posix.hpp"
#include "plugin/program_file.hpp"
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

void find_program_folder(Surroundings& around) {
  std::string why;
  around.program_folder = folder_of(program_file(why));
  if (around.program_folder.empty()) {
    around.program_fault = "this program's own folder could not be told (" + why +
                           "), so ../lib/rollcall/plugins from it was not looked in";
  }
}

}  // namespace

Surroundings read_surroundings() {
  Surroundings around;
  if (const char* path = core::trusted_environment("ROLLCALL_PLUGIN_PATH"))
    around.environment_path = path;
  around.library_folder = own_library_folder();
  find_program_folder(around);
  around.installed_folder = ROLLCALL_PLUGIN_DIR;
  return around;
}

}  // namespace rollcall::loader
