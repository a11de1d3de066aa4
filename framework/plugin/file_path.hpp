// Absolute paths of plugins and their folders, taken apart and put together as the platform writes
// them. Nothing here asks the system. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace rollcall::loader {

// Whether the path means the same file whatever the working directory (and, on Windows, whatever
// the working drive). A path to another machine, \\SERVER\SHARE, is none.
[[nodiscard]] bool is_absolute_path(std::string_view path);

// What stands before the last separator; a root keeps it. Empty where there is no separator.
[[nodiscard]] std::string folder_of(std::string_view path);

// What stands behind it.
[[nodiscard]] std::string leaf_of(std::string_view path);

[[nodiscard]] std::string join_path(const std::string& folder, std::string_view leaf);

}  // namespace rollcall::loader
