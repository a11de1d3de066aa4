#include "procfs.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include "decode.hpp"

namespace rollcall::linux_backend {
namespace {

ssize_t read_some(const System& system, int fd, void* buffer, std::size_t size) {
  ssize_t got = 0;
  do {
    got = system.read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

// The layout of getdents64(2).
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
};
constexpr std::size_t kNameAt = 19;

}  // namespace

ProcPath::ProcPath(std::int64_t pid, std::string_view name) {
  char* end = std::to_chars(text_, text_ + 21, pid).ptr;
  *end++ = '/';
  const std::size_t room = static_cast<std::size_t>(text_ + sizeof text_ - end) - 1;
  const std::size_t size = name.size() < room ? name.size() : room;
  std::memcpy(end, name.data(), size);
  end[size] = '\0';
}

Procfs::Procfs(const System& system, std::string root) : system_(system), path_(std::move(root)) {
  (void)this->root();
}

Procfs::~Procfs() {
  const int fd = root_.load();
  if (fd >= 0) system_.close(fd);
}

int Procfs::root() const {
  const int held = root_.load(std::memory_order_acquire);
  if (held >= 0) return held;
  const int fd = system_.openat(AT_FDCWD, path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  int expected = -1;
  if (root_.compare_exchange_strong(expected, fd)) return fd;
  system_.close(fd);  // another thread was first
  return expected;
}

bool Procfs::is_ours() const {
  char target[24];
  const ssize_t size = read_link("self", target, sizeof target);
  if (size <= 0) return false;
  const auto pid = parse_pid({target, static_cast<std::size_t>(size)});
  return pid && *pid == system_.getpid();
}

int Procfs::read_stat(std::int64_t pid, char* buffer, std::size_t size,
                      std::optional<Stat>& stat) const {
  stat.reset();
  const int directory = root();
  if (directory < 0) return errno;
  const Fd file(system_, system_.openat(directory, ProcPath(pid, "stat").c_str(),
                                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.open()) return errno;
  std::size_t held = 0;
  while (held < size) {
    const ssize_t got = read_some(system_, file.get(), buffer + held, size - held);
    if (got < 0) return errno;
    if (got == 0) break;
    held += static_cast<std::size_t>(got);
    // The file ends in a newline; a newline in the command name does not make a whole line.
    if (buffer[held - 1] != '\n') continue;
    stat = decode_stat({buffer, held});
    if (stat) return 0;
  }
  stat = decode_stat({buffer, held});
  return 0;
}

int Procfs::read_file(const char* name, std::size_t limit, std::string& out, bool* whole) const {
  const int directory = root();
  if (directory < 0) return errno;
  const Fd file(system_, system_.openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return errno;
  const int error = read_all(system_, file.get(), limit, out);
  char first = 0;
  if (whole != nullptr) *whole = error == 0 && system_.pread(file.get(), &first, 1, 0) == 1;
  return error;
}

ssize_t Procfs::read_link(const char* name, char* buffer, std::size_t size) const {
  const int directory = root();
  if (directory < 0) return -1;
  return system_.readlinkat(directory, name, buffer, size);
}

int Procfs::each_entry(const char* name, const Visitor& visit) const {
  constexpr std::size_t kBuffer = 32768;
  const int held = root();
  if (held < 0) return errno;
  const Fd directory(system_, system_.openat(held, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.open()) return errno;
  const auto buffer = std::make_unique<char[]>(kBuffer);
  for (;;) {
    const ssize_t got = system_.getdents64(directory.get(), buffer.get(), kBuffer);
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      Entry entry;
      std::memcpy(&entry, &buffer[at], sizeof entry);
      if (!visit(directory.get(), std::string_view(&buffer[at + kNameAt]))) return 0;
      at += entry.size;
    }
  }
}

int read_all(const System& system, int fd, std::size_t limit, std::string& out) {
  constexpr std::size_t kPiece = 65536;
  out.clear();
  std::size_t piece = 4096;
  for (;;) {
    const std::size_t held = out.size();
    out.resize(held + piece);
    const ssize_t got = read_some(system, fd, out.data() + held, piece);
    const int error = got < 0 ? errno : 0;
    out.resize(held + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0) return error;
    if (got == 0) return 0;
    if (out.size() > limit) return EFBIG;
    piece = kPiece;
  }
}

}  // namespace rollcall::linux_backend
