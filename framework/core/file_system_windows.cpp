// Which file systems only this machine can write to.
#include <string>
#include <string_view>

#include <windows.h>

#include "core/handle_windows.hpp"
#include "core/native_windows.hpp"
#include "core/paths.hpp"
#include "core/private_files.hpp"

namespace rollcall::core {
namespace {

// Whether the open directory is on a disk of this machine: no share, and a file system that keeps
// owners. What is not known counts as shared: that only makes a verdict more careful.
bool is_local(HANDLE dir) {
  FILE_REMOTE_PROTOCOL_INFO remote{};
  if (::GetFileInformationByHandleEx(dir, FileRemoteProtocolInfo, &remote, sizeof remote) != 0) {
    return false;
  }
  wchar_t name[MAX_PATH + 1];
  if (::GetVolumeInformationByHandleW(dir, nullptr, 0, nullptr, nullptr, nullptr, name,
                                      MAX_PATH + 1) == 0) {
    return false;
  }
  const std::wstring_view type = name;
  return type == L"NTFS" || type == L"ReFS";
}

// The folder that a path is in; empty at the root.
std::string parent_of(const std::string& path) {
  if (is_root_path(path)) return {};
  return clean_path(path.substr(0, path.find_last_of('\\') + 1));
}

}  // namespace

bool is_on_local_file_system(const std::string& path) {
  for (std::string at = clean_path(path); !at.empty(); at = parent_of(at)) {
    const auto native_path = native::long_path(at);
    if (!native_path) return false;
    const Handle dir(::CreateFileW(native_path->c_str(), FILE_READ_ATTRIBUTES,
                                   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                   OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    if (dir.valid()) return is_local(dir.get());
    const unsigned long code = ::GetLastError();
    if (code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND) return false;
  }
  return false;
}

}  // namespace rollcall::core
