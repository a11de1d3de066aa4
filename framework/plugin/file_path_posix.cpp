#include "plugin/file_path.hpp"

namespace rollcall::loader {

bool is_absolute_path(std::string_view path) { return !path.empty() && path.front() == '/'; }

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {};
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string leaf_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string join_path(const std::string& folder, std::string_view leaf) {
  return (folder == "/" ? "/" : folder + "/") + std::string(leaf);
}

}  // namespace rollcall::loader
