// Paths as this platform writes them, as text: nothing here looks at a file. Pure; any thread.
// Windows: UTF-8; '\\' and '/' both separate, '\\' is what is written.
#pragma once

#include <string>
#include <string_view>

namespace rollcall::core {

// Whether it names the same object from every current directory. Windows: "C:\x", "\\server\share"
// and "\\?\C:\x"; neither "\x" nor "C:x", nor a device ("\\.\x").
[[nodiscard]] bool is_absolute_path(std::string_view path);

// Whether it names a root: "/", "C:\", "\\server\share". `path` is absolute and clean.
[[nodiscard]] bool is_root_path(std::string_view path);

// Without separators and "." at the end: "/a/b/" and "/a/b/." name what "/a/b" names, but would
// follow a link there. Windows: separators become '\\'.
[[nodiscard]] std::string clean_path(std::string path);

// `dir` with a name in it.
[[nodiscard]] std::string join_path(std::string_view dir, std::string_view name);

}  // namespace rollcall::core
