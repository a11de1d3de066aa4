#include "core/paths.hpp"

#include <fmt/format.h>

namespace rollcall::core {

bool is_absolute_path(std::string_view path) { return path.starts_with('/'); }

bool is_root_path(std::string_view path) { return path == "/"; }

std::string clean_path(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) {
    path.resize(path.size() - (path.ends_with('/') ? 1 : 2));
  }
  if (path.empty()) path.push_back('/');
  return path;
}

std::string join_path(std::string_view dir, std::string_view name) {
  return fmt::format("{}/{}", dir, name);
}

}  // namespace rollcall::core
