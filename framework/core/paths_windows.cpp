#include <algorithm>

#include <fmt/format.h>

#include "core/paths.hpp"

namespace rollcall::core {
namespace {

bool is_separator(char c) { return c == '\\' || c == '/'; }

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool starts_with_drive(std::string_view path) {
  return path.size() >= 3 && is_letter(path[0]) && path[1] == ':' && is_separator(path[2]);
}

bool starts_with_two_separators(std::string_view path) {
  return path.size() > 2 && is_separator(path[0]) && is_separator(path[1]);
}

// The length of what names the root: "C:\", "\\server\share", "\\?\C:\". 0: none.
std::size_t root_size(std::string_view path) {
  if (starts_with_drive(path)) return 3;
  if (!starts_with_two_separators(path)) return 0;
  if (path.size() > 3 && path[2] == '?' && is_separator(path[3])) {
    return starts_with_drive(path.substr(4)) ? 7 : 0;
  }
  if (path[2] == '.' || path[2] == '?' || is_separator(path[2])) return 0;
  const auto server = std::find_if(path.begin() + 2, path.end(), is_separator);
  if (server == path.end() || server + 1 == path.end() || is_separator(server[1])) return 0;
  return static_cast<std::size_t>(std::find_if(server + 1, path.end(), is_separator) -
                                  path.begin());
}

}  // namespace

bool is_absolute_path(std::string_view path) { return root_size(path) > 0; }

bool is_root_path(std::string_view path) {
  const std::size_t root = root_size(path);
  return root > 0 &&
         std::all_of(path.begin() + static_cast<std::ptrdiff_t>(root), path.end(), is_separator);
}

std::string clean_path(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\\');
  const std::size_t root = root_size(path);
  while (path.size() > root && (path.ends_with('\\') || path.ends_with("\\."))) {
    path.resize(path.size() - (path.ends_with('\\') ? 1 : 2));
  }
  if (path.size() < root) path.push_back('\\');  // "C:\." lost the separator of its root
  return path;
}

std::string join_path(std::string_view dir, std::string_view name) {
  return fmt::format("{}{}{}", dir, dir.ends_with('\\') || dir.ends_with('/') ? "" : "\\", name);
}

}  // namespace rollcall::core
