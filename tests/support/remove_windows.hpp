// Removing a directory of a test's: one that std::filesystem::remove_all() of mingw leaves, by long
// paths, device names and read-only files, or hangs at, by links.
#pragma once

#include <windows.h>

#include <filesystem>
#include <string>

namespace rollcall::testing {

// `dir`: of any length, in the form "\\\\?\\C:\\x".
inline void remove_long(const std::wstring& dir) {
  WIN32_FIND_DATAW entry{};
  const HANDLE find = ::FindFirstFileW((dir + L"\\*").c_str(), &entry);
  for (bool more = find != INVALID_HANDLE_VALUE; more; more = ::FindNextFileW(find, &entry) != 0) {
    const std::wstring name = static_cast<const wchar_t*>(entry.cFileName);
    if (name == L"." || name == L"..") continue;
    const std::wstring path = dir + L"\\" + name;
    const bool link = (entry.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
    if (link) continue;  // whoever made it removes it
    if ((entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
      remove_long(path);
      continue;
    }
    ::SetFileAttributesW(path.c_str(), FILE_ATTRIBUTE_NORMAL);
    ::DeleteFileW(path.c_str());
  }
  if (find != INVALID_HANDLE_VALUE) ::FindClose(find);
  ::RemoveDirectoryW(dir.c_str());
}

inline void remove_with_contents(const std::filesystem::path& dir) {
  remove_long(L"\\\\?\\" + std::filesystem::absolute(dir).make_preferred().wstring());
}

}  // namespace rollcall::testing
