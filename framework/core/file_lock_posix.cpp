// Lock files by flock(2): given back by the kernel when the last holder of the descriptor ends.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/descriptor_posix.hpp"
#include "core/private_files.hpp"
#include "core/text.hpp"

namespace rollcall::core {
namespace {

constexpr mode_t kFileMode = 0600;

// Opens the file, or makes it. An errno of EACCES may pass: its maker may not have given it back
// yet what an odd umask took.
int open_lock_file(int dir, const std::string& name, Descriptor& file) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file = Descriptor(::openat(dir, name.c_str(), kFlags));
  if (file.valid()) return 0;
  if (errno == ELOOP || errno == EMLINK || errno == EISDIR) return ENOTSUP;  // a link, a directory
  if (errno != ENOENT) return errno;
  file = Descriptor(::openat(dir, name.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode));
  if (!file.valid()) return errno;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno;
  if ((info.st_mode & 0777) != kFileMode && ::fchmod(file.get(), kFileMode) != 0) return errno;
  return 0;
}

bool is_regular(const Descriptor& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
}

// One attempt. Returns 0, an errno that waiting may cure (EWOULDBLOCK, EACCES, EEXIST, EINTR), or
// one that it does not.
int try_lock(int dir, const std::string& name, Descriptor& file) {
  if (!file.valid()) {
    if (const int code = open_lock_file(dir, name, file); code != 0) return code;
    if (!is_regular(file)) return ENOTSUP;
  }
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

bool may_pass(int code) {
  return code == EWOULDBLOCK || code == EACCES || code == EEXIST || code == EINTR;
}

}  // namespace

Result<Descriptor> take_file_lock(int dir, const std::string& name, const std::string& path,
                                  const Clock& clock, std::int64_t deadline_ns,
                                  const CancelToken& cancel) {
  Descriptor file;
  std::int64_t pause_ns = 200'000;
  constexpr std::int64_t kLongestPauseNs = 10'000'000;
  while (true) {
    const int code = try_lock(dir, name, file);
    if (code == 0) return file;
    const std::string shown = text::for_terminal(path);
    if (code == ENOTSUP) {
      return fail(ErrorCode::kDenied, fmt::format("{} is not a regular file; remove it", shown));
    }
    if (!may_pass(code)) {
      return fail(ErrorCode::kIo, fmt::format("cannot lock {}: {}", shown, std::strerror(code)),
                  code);
    }
    if (cancel.cancelled()) {
      return fail(ErrorCode::kCancelled, fmt::format("cancelled while waiting for {}", shown));
    }
    const std::int64_t left = deadline_ns - clock.monotonic_ns();
    if (left <= 0) {
      return fail(ErrorCode::kTimeout,
                  code == EACCES
                      ? fmt::format("cannot lock {}: {}", shown, std::strerror(code))
                      : fmt::format("another process holds {}; nothing was changed", shown),
                  code);
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(pause_ns, left)));
    pause_ns = std::min(pause_ns * 2, kLongestPauseNs);
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  // Unlocked before it is closed: a child that was forked meanwhile holds a duplicate.
  const int file = static_cast<int>(descriptor_);
  static_cast<void>(::flock(file, LOCK_UN));
  static_cast<void>(::close(file));
}

}  // namespace rollcall::core
