#include "plugin/file_path.hpp"

namespace rollcall::loader {
namespace {

constexpr std::string_view kSeparators = "\\/";

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// "C:" and a separator.
bool begins_with_root(std::string_view path) {
  return path.size() >= 3 && is_letter(path[0]) && path[1] == ':' &&
         kSeparators.find(path[2]) != kSeparators.npos;
}

// Where the leaf begins. In "C:x" it is x, of the drive's own working directory.
std::size_t leaf_begin(std::string_view path) {
  const std::size_t separator = path.find_last_of(kSeparators);
  if (separator != path.npos) return separator + 1;
  return path.size() >= 2 && is_letter(path[0]) && path[1] == ':' ? 2 : 0;
}

}  // namespace

bool is_absolute_path(std::string_view path) { return begins_with_root(path); }

std::string folder_of(std::string_view path) {
  const std::size_t begin = leaf_begin(path);
  if (begin == 0) return {};
  if (path[begin - 1] == ':') return std::string(path.substr(0, begin)) + ".";
  const bool root = begin == 1 || (begin == 3 && begins_with_root(path));
  return std::string(path.substr(0, root ? begin : begin - 1));
}

std::string leaf_of(std::string_view path) { return std::string(path.substr(leaf_begin(path))); }

std::string join_path(const std::string& folder, std::string_view leaf) {
  const bool ends = !folder.empty() && kSeparators.find(folder.back()) != kSeparators.npos;
  return (ends ? folder : folder + "\\") + std::string(leaf);
}

}  // namespace rollcall::loader
