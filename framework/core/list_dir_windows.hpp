// Reading an open directory. For *_windows.cpp files only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <windows.h>

#include "rollcall/result.hpp"

namespace rollcall::core {

[[nodiscard]] inline std::wstring_view name_of(const FILE_ID_BOTH_DIR_INFO& entry) {
  return {static_cast<const wchar_t*>(entry.FileName), entry.FileNameLength / sizeof(wchar_t)};
}

// Every entry but . and .., until `visit` returns false. `dir` was opened with FILE_LIST_DIRECTORY;
// it is opened once more for each reading, since a handle remembers how far it was read. `path` is
// for messages. Errors: kIo, also half-way. Threads: any.
[[nodiscard]] Status list_dir(HANDLE dir, const std::string& path,
                              const std::function<bool(const FILE_ID_BOTH_DIR_INFO&)>& visit);

}  // namespace rollcall::core
