#include "plugin/search_path.hpp"

#include <algorithm>
#include <initializer_list>

#include "plugin/file_path.hpp"
#include "plugin/trust.hpp"

namespace rollcall::loader {
namespace {

#if defined(_WIN32)
constexpr char kListSeparator = ';';
#else
constexpr char kListSeparator = ':';
#endif

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kListSeparator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string below(std::string folder, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) folder = join_path(folder, name);
  return folder;
}

}  // namespace

std::vector<std::string> builtin_places(const Surroundings& around) {
  std::vector<std::string> candidates;
  if (!around.library_folder.empty()) {
    candidates.push_back(below(around.library_folder, {"rollcall", "plugins"}));
  }
  if (!around.program_folder.empty()) {
    candidates.push_back(below(around.program_folder, {"..", "lib", "rollcall", "plugins"}));
  }
  if (!around.installed_folder.empty()) candidates.push_back(around.installed_folder);
  return candidates;
}

std::vector<std::string> builtin_folders(const Surroundings& around) {
  std::vector<std::string> folders;
  for (const std::string& candidate : builtin_places(around)) {
    std::string canonical = canonical_folder(candidate);
    if (canonical.empty()) continue;
    if (std::find(folders.begin(), folders.end(), canonical) == folders.end()) {
      folders.push_back(std::move(canonical));
    }
  }
  return folders;
}

std::vector<SearchFolder> search_folders(const Surroundings& around,
                                         const std::vector<std::string>& configured,
                                         bool use_environment, bool use_builtin) {
  std::vector<SearchFolder> folders;
  if (use_environment) {
    for (std::string& path : split_list(around.environment_path)) {
      folders.push_back({.path = std::move(path)});
    }
  }
  for (const std::string& path : configured) folders.push_back({.path = path});
  if (use_builtin) {
    for (std::string& path : builtin_folders(around)) {
      folders.push_back({.path = std::move(path), .builtin = true});
    }
  }
  return folders;
}

}  // namespace rollcall::loader
