// Links to folders, made the way that this Windows can.
#pragma once

#include <windows.h>
// After windows.h:
#include <winioctl.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
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

// Under Wine, whose older versions make no junction: a symbolic link of the system below it, which
// they show as a reparse point.
inline bool make_unix_link(const std::filesystem::path& link, const std::filesystem::path& target) {
  using UnixName = char*(CDECL*)(const wchar_t*);
  const auto unix_name = reinterpret_cast<UnixName>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32"), "wine_get_unix_file_name")));
  if (unix_name == nullptr) return false;
  const auto unix_path = [&](const std::filesystem::path& path) {
    char* const name = unix_name(path.c_str());
    const std::wstring wide = name == nullptr ? L"" : std::filesystem::path(name).wstring();
    if (name != nullptr) ::HeapFree(::GetProcessHeap(), 0, name);
    return wide;
  };
  const std::wstring folder = unix_path(link.parent_path());
  const std::wstring name = link.filename().wstring();
  std::wstring command = L"ln -s " + unix_path(target) + L" " + folder + L"/" + name;
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(L"Z:\\bin\\ln", command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr,
                       &start, &made) == 0) {
    return false;
  }
  const core::Handle process(made.hProcess);
  const core::Handle thread(made.hThread);
  constexpr DWORD kLimitMs = 10'000;
  for (DWORD waited = 0; waited < kLimitMs; waited += 10) {
    const DWORD attributes = ::GetFileAttributesW(link.c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES) return true;
    ::Sleep(10);
  }
  return false;
}

// False: neither can be had here, and the test is skipped.
inline bool link_to_folder(const std::filesystem::path& link, const std::filesystem::path& target) {
  return make_junction(link, target) || make_unix_link(link, target);
}

// Whether an open handle to a link shows that it is one. Wine 8 shows it in the folder only, and
// opens the target.
inline bool handles_show_links(const std::filesystem::path& link) {
  const core::Handle file(::CreateFileW(
      link.c_str(), FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  FILE_BASIC_INFO basic{};
  return ::GetFileInformationByHandleEx(file.get(), FileBasicInfo, &basic, sizeof basic) != 0 &&
         (basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

}  // namespace rollcall::testing
