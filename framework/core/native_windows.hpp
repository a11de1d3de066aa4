// Files by the system's native calls: they open a name below a folder that is open already, as
// openat(2) does, so that what was checked is what is used. For *_windows.cpp files only.
//
// Unlike Win32 calls they know no device names (CON, NUL), cut no dots or blanks off a name's end,
// and have no limit of 260 units. Every handle here is not inherited by children. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <windows.h>

#include "core/handle_windows.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core::native {

using Status = std::int32_t;  // NTSTATUS
inline constexpr auto kAccessDenied = static_cast<Status>(0xC000'0022);
inline constexpr auto kObjectNameCollision = static_cast<Status>(0xC000'0035);
inline constexpr auto kSharingViolation = static_cast<Status>(0xC000'0043);
inline constexpr auto kDeletePending = static_cast<Status>(0xC000'0056);
inline constexpr auto kFileIsADirectory = static_cast<Status>(0xC000'00BA);
inline constexpr auto kNotADirectory = static_cast<Status>(0xC000'0103);
inline constexpr auto kCannotDelete = static_cast<Status>(0xC000'0121);
inline constexpr auto kObjectNameInvalid = static_cast<Status>(0xC000'0033);

[[nodiscard]] constexpr bool succeeded(Status status) { return status >= 0; }
[[nodiscard]] unsigned long to_win32(Status status);

// The `disposition` and `options` of NtCreateFile.
enum class How : std::uint32_t { kOpen = 1, kCreate = 2, kOpenOrCreate = 3 };
inline constexpr std::uint32_t kDirectoryFile = 0x1;
inline constexpr std::uint32_t kWriteThrough = 0x2;
inline constexpr std::uint32_t kSynchronous = 0x20;
inline constexpr std::uint32_t kNonDirectoryFile = 0x40;
inline constexpr std::uint32_t kOpenReparsePoint = 0x20'0000;
inline constexpr std::uint32_t kOpenNoRecall = 0x40'0000;

struct OpenAt {
  HANDLE dir = nullptr;
  std::wstring_view name;  // one name, or empty: the folder once more
  ACCESS_MASK access = 0;  // SYNCHRONIZE is added
  How how = How::kOpen;
  std::uint32_t options = 0;  // kSynchronous and kOpenReparsePoint are added
  PSECURITY_DESCRIPTOR security = nullptr;
  std::uint32_t share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
};
[[nodiscard]] Status open_at(const OpenAt& what, Handle& out);

// Whether the folder has an entry of exactly this name: opening does not tell `S1` from `s1`, nor a
// name from its short form (S1~1.JSO). True where the system does not say.
[[nodiscard]] bool has_exact_name(HANDLE dir, std::wstring_view name);

// Renames what `file` (opened with DELETE) is, to `name` in `dir`, in one step. `replace`: takes
// the place of a file there; one that others have open too where the file system can.
[[nodiscard]] Status rename(HANDLE file, HANDLE dir, std::wstring_view name, bool replace);

// Removes what `file` (opened with DELETE) is: its name is free at once where the file system can
// do that, else when the last handle to it is closed.
[[nodiscard]] Status remove(HANDLE file);

// Whether another attempt may succeed: somebody has the file open in a way that forbids it, which
// scanners and readers do for a moment.
[[nodiscard]] bool is_busy(Status status);

// Calls `attempt` until it is not busy: about two seconds in all.
template <class Attempt>
[[nodiscard]] Status while_busy(const Attempt& attempt) {
  constexpr int kAttempts = 60;
  Status status = attempt();
  for (int i = 1; i < kAttempts && is_busy(status); ++i) {
    ::Sleep(static_cast<DWORD>(i < 40 ? i : 40));
    status = attempt();
  }
  return status;
}

// A path as the system takes it at any length: "C:\x\y" becomes "\\?\C:\x\y", "." and ".." are
// resolved. Errors: kInvalid (not absolute, a zero byte, not UTF-8, a device).
[[nodiscard]] Result<std::wstring> long_path(std::string_view path);

}  // namespace rollcall::core::native
