// Lock files by LockFileEx: given back by the system when their holder ends.
#include "core/file_lock_windows.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "core/native_windows.hpp"
#include "core/private_files.hpp"
#include "core/security_windows.hpp"
#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

// One byte, far beyond the end of the file: a lock here keeps nobody from reading it.
OVERLAPPED lock_place() {
  OVERLAPPED place{};
  place.OffsetHigh = 0x4000'0000;
  return place;
}

// Opens the file, or makes it. Nobody can remove it while it is open here: the lock and its name
// stay one.
native::Status open_lock_file(HANDLE dir, const std::wstring& name, const OwnerOnly& ours,
                              Handle& file) {
  return native::open_at({.dir = dir,
                          .name = name,
                          .access = FILE_READ_DATA | FILE_WRITE_DATA | FILE_READ_ATTRIBUTES,
                          .how = native::How::kOpenOrCreate,
                          .security = ours.descriptor(),
                          .share = FILE_SHARE_READ | FILE_SHARE_WRITE},
                         file);
}

bool is_regular(HANDLE file) {
  FILE_BASIC_INFO basic{};
  constexpr DWORD kOdd = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
  return ::GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof basic) != 0 &&
         (basic.FileAttributes & kOdd) == 0;
}

// One attempt. Returns ERROR_SUCCESS, an error that waiting may cure (may_pass), or one that it
// does not.
unsigned long try_lock(HANDLE dir, const std::wstring& name, const OwnerOnly& ours, Handle& file) {
  if (!file.valid()) {
    const native::Status status = open_lock_file(dir, name, ours, file);
    if (status == native::kFileIsADirectory) return ERROR_NOT_SUPPORTED;
    if (!native::succeeded(status)) return native::to_win32(status);
    if (!is_regular(file.get())) return ERROR_NOT_SUPPORTED;
  }
  OVERLAPPED place = lock_place();
  const bool locked = ::LockFileEx(file.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY,
                                   0, 1, 0, &place) != 0;
  return locked ? ERROR_SUCCESS : ::GetLastError();
}

bool may_pass(unsigned long code) {
  return code == ERROR_LOCK_VIOLATION || code == ERROR_IO_PENDING ||
         code == ERROR_SHARING_VIOLATION || code == ERROR_ACCESS_DENIED;
}

}  // namespace

Result<Handle> take_file_lock(HANDLE dir, const std::wstring& name, const std::string& path,
                              const Clock& clock, std::int64_t deadline_ns,
                              const CancelToken& cancel) {
  const auto ours = OwnerOnly::make();
  if (!ours) return tl::unexpected(ours.error());
  Handle file;
  std::int64_t pause_ns = 500'000;
  constexpr std::int64_t kLongestPauseNs = 10'000'000;
  while (true) {
    const unsigned long code = try_lock(dir, name, *ours, file);
    if (code == ERROR_SUCCESS) return file;
    const std::string shown = text::for_terminal(path);
    if (code == ERROR_NOT_SUPPORTED) {
      return fail(ErrorCode::kDenied, fmt::format("{} is not a regular file; remove it", shown));
    }
    if (!may_pass(code)) {
      return fail(ErrorCode::kIo, fmt::format("cannot lock {}: {}", shown, error_text(code)), code);
    }
    if (cancel.cancelled()) {
      return fail(ErrorCode::kCancelled, fmt::format("cancelled while waiting for {}", shown));
    }
    const std::int64_t left = deadline_ns - clock.monotonic_ns();
    if (left <= 0) {
      return fail(ErrorCode::kTimeout,
                  code == ERROR_ACCESS_DENIED
                      ? fmt::format("cannot lock {}: {}", shown, error_text(code))
                      : fmt::format("another process holds {}; nothing was changed", shown),
                  code);
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(pause_ns, left)));
    pause_ns = std::min(pause_ns * 2, kLongestPauseNs);
  }
}

FileLock::~FileLock() {
  if (descriptor_ == -1) return;
  const Handle file(reinterpret_cast<HANDLE>(descriptor_));
  OVERLAPPED place = lock_place();
  static_cast<void>(::UnlockFileEx(file.get(), 0, 1, 0, &place));
}

}  // namespace rollcall::core
