// Links to folders, made the way that this Windows can.
#pragma once

#include <windows.h>
// After windows.h:
#include <winioctl.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/handle_windows.hpp"

namespace rollcall::testing {

// Makes `link` (absent) a junction to the folder `target`: no privilege is needed for one.
inline bool make_junction(const std::filesystem::path& link, const std::filesystem::path& target) {
  struct Header {  // REPARSE_DATA_BUFFER of a mount point
    ULONG tag;
    USHORT data_length;
    USHORT reserved;
    USHORT substitute_offset;
    USHORT substitute_length;
    USHORT print_offset;
    USHORT print_length;
  };
  const std::wstring substitute = L"\\??\\" + target.wstring();
  const std::size_t bytes = substitute.size() * sizeof(wchar_t);
  std::vector<std::byte> buffer(sizeof(Header) + bytes + 2 * sizeof(wchar_t));
  const Header header = {
      IO_REPARSE_TAG_MOUNT_POINT, static_cast<USHORT>(buffer.size() - 8),       0, 0,
      static_cast<USHORT>(bytes), static_cast<USHORT>(bytes + sizeof(wchar_t)), 0};
  std::memcpy(buffer.data(), &header, sizeof header);
  std::memcpy(buffer.data() + sizeof header, substitute.data(), bytes);
  if (::CreateDirectoryW(link.c_str(), nullptr) == 0) return false;
  core::Handle folder(::CreateFileW(link.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                                    nullptr));
  DWORD ignored = 0;
  if (folder.valid() &&
      ::DeviceIoControl(folder.get(), FSCTL_SET_REPARSE_POINT, buffer.data(),
                        static_cast<DWORD>(buffer.size()), nullptr, 0, &ignored, nullptr) != 0) {
    return true;
  }
  static_cast<void>(folder.close());
  ::RemoveDirectoryW(link.c_str());
  return false;
}

// Runs a program of the system below Wine and waits until it has done `done`. False: this is no
// Wine, or it did not.
inline bool run_below_wine(const std::wstring& program, const std::wstring& arguments,
                           const std::function<bool()>& done) {
  std::wstring command = program + L" " + arguments;
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION made{};
  if (::CreateProcessW((L"Z:\\bin\\" + program).c_str(), command.data(), nullptr, nullptr, FALSE, 0,
                       nullptr, nullptr, &start, &made) == 0) {
    return false;
  }
  const core::Handle process(made.hProcess);
  const core::Handle thread(made.hThread);
  for (int tenths = 0; tenths < 1000 && !done(); ++tenths) ::Sleep(10);
  return done();
}

// A path as the system below Wine has it; empty where this is no Wine.
inline std::wstring path_below_wine(const std::filesystem::path& path) {
  using UnixName = char*(CDECL*)(const wchar_t*);
  const auto unix_name = reinterpret_cast<UnixName>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32"), "wine_get_unix_file_name")));
  char* const name = unix_name == nullptr ? nullptr : unix_name(path.c_str());
  if (name == nullptr) return {};
  std::wstring wide = std::filesystem::path(name).wstring();
  ::HeapFree(::GetProcessHeap(), 0, name);
  return wide;
}

inline bool is_there(const std::filesystem::path& path) {
  return ::GetFileAttributesW(path.c_str()) != INVALID_FILE_ATTRIBUTES;
}

// A link to a folder for as long as the object lives: a junction or, under Wine, whose older
// versions make none, a symbolic link of the system below it.
class FolderLink {
 public:
  FolderLink(std::filesystem::path link, const std::filesystem::path& target)
      : link_(std::move(link)), below_(path_below_wine(link_.parent_path())) {
    if (!below_.empty()) below_ += L"/" + link_.filename().wstring();
    junction_ = make_junction(link_, target);
    symlink_ = !junction_ && !below_.empty() &&
               run_below_wine(L"ln", L"-s " + path_below_wine(target) + L" " + below_,
                              [&] { return is_there(link_); });
  }
  FolderLink(const FolderLink&) = delete;
  FolderLink& operator=(const FolderLink&) = delete;
  ~FolderLink() {
    if (junction_) ::RemoveDirectoryW(link_.c_str());
    // Not by Wine, which would remove what it points at.
    if (symlink_) run_below_wine(L"rm", L"-f " + below_, [&] { return !is_there(link_); });
  }

  // False: none can be had here, and the test is skipped.
  [[nodiscard]] bool made() const { return junction_ || symlink_; }

  // Whether an open handle to it shows that it is one. Wine 8 shows it in the folder only, and
  // opens the target.
  [[nodiscard]] bool shows_by_handle() const {
    const core::Handle file(::CreateFileW(
        link_.c_str(), FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
        nullptr));
    FILE_BASIC_INFO basic{};
    return ::GetFileInformationByHandleEx(file.get(), FileBasicInfo, &basic, sizeof basic) != 0 &&
           (basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  }

 private:
  std::filesystem::path link_;
  std::wstring below_;
  bool junction_ = false;
  bool symlink_ = false;
};

}  // namespace rollcall::testing
