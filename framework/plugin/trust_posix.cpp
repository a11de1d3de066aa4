#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "plugin/trust.hpp"

namespace rollcall::loader {
namespace {

#if defined(O_PATH)
constexpr int kPathOnly = O_PATH;  // a folder that may be passed and not read can be walked
#else
constexpr int kPathOnly = 0;
#endif

std::string errno_text(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> io_error(std::string message, int code) {
  const ErrorCode kind = code == ENOENT || code == ENOTDIR ? ErrorCode::kNotFound
                         : code == EACCES || code == EPERM ? ErrorCode::kDenied
                                                           : ErrorCode::kIo;
  return fail(kind, fmt::format("{}: {}", message, errno_text(code)), code);
}

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

bool is_ours(const struct stat& info) { return info.st_uid == 0 || info.st_uid == ::geteuid(); }

std::string owner_fault(const struct stat& info) {
  return fmt::format("belongs to uid {}, who is neither root nor the effective user (uid {})",
                     info.st_uid, ::geteuid());
}

// Why others could write to it; empty: they cannot.
std::string write_fault(const struct stat& info) {
  const unsigned mode = info.st_mode & 07777U;
  const bool group = (mode & S_IWGRP) != 0;
  const bool world = (mode & S_IWOTH) != 0;
  if (!group && !world) return {};
  const char* who = group && world ? "the group and all others"
                    : group        ? "the group"
                                   : "all others";
  return fmt::format("is writable by {} (mode {:04o})", who, mode);
}

std::string mend_command(const struct stat& info, const std::string& path) {
  const bool world = (info.st_mode & S_IWOTH) != 0;
  return fmt::format("run: chmod {} '{}'", world ? "go-w" : "g-w", path);
}

tl::unexpected<Error> denied(std::string message) {
  return fail(ErrorCode::kDenied, std::move(message));
}

// One folder on the way. `last`: it holds the plugins itself.
Status check_folder(const struct stat& info, const std::string& path, bool last) {
  if (!is_ours(info)) return denied(fmt::format("the folder {} {}", path, owner_fault(info)));
  const std::string fault = write_fault(info);
  if (fault.empty()) return {};
  const bool sticky_root = info.st_uid == 0 && (info.st_mode & S_ISVTX) != 0;
  if (sticky_root && !last) return {};
  if (sticky_root) {
    return denied(
        fmt::format("the folder {} is one in which everybody may make files: put the "
                    "plugin into a folder of its own",
                    path));
  }
  return denied(fmt::format("the folder {} {}; {}", path, fault, mend_command(info, path)));
}

Status check_file(const struct stat& info, const std::string& path) {
  if (!is_ours(info)) return denied(fmt::format("{} {}", path, owner_fault(info)));
  const std::string fault = write_fault(info);
  if (fault.empty()) return {};
  return denied(fmt::format("{} {}; {}", path, fault, mend_command(info, path)));
}

std::string kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::optional<std::string> real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return std::nullopt;
  std::string result(resolved);
  std::free(resolved);  // NOLINT: realpath(3) allocates with malloc
  return result;
}

std::vector<std::string> names_in(DIR* folder) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Opens the next folder below `parent` and checks it through the descriptor.
Result<Fd> step_into(int parent, const std::string& name, const std::string& path, bool last,
                     const TrustRules& rules) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd fd(::openat(parent, name.c_str(), last ? kFlags : (kFlags | kPathOnly)));
  if (!fd.valid()) return io_error(fmt::format("cannot open the folder {}", path), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return io_error(fmt::format("cannot look at the folder {}", path), errno);
  }
  if (!rules.accept_untrusted) {
    if (Status ok = check_folder(info, path, last); !ok) {
      return tl::unexpected<Error>(std::move(ok.error()));
    }
  }
  return fd;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

struct TrustedFile::State {
  std::string path;
  Fd fd;
  struct stat info {};
};

TrustedFile::TrustedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrustedFile::TrustedFile(TrustedFile&&) noexcept = default;
TrustedFile& TrustedFile::operator=(TrustedFile&&) noexcept = default;
TrustedFile::~TrustedFile() = default;

const std::string& TrustedFile::path() const { return state_->path; }

Result<std::string> TrustedFile::read(std::size_t limit) const {
  std::string bytes(limit + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::pread(state_->fd.get(), bytes.data() + size, bytes.size() - size,
                                static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(fmt::format("cannot read {}", state_->path), errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > limit) {
    return fail(ErrorCode::kTooLarge,
                fmt::format("{} has more than {} bytes", state_->path, limit));
  }
  bytes.resize(size);
  return bytes;
}

Status TrustedFile::still_there() const {
  struct stat now {};
  if (::lstat(state_->path.c_str(), &now) == 0 && same_file(now, state_->info)) return {};
  return denied(fmt::format("{} was exchanged while it was being loaded; try again", state_->path));
}

struct TrustedFolder::State {
  std::string path;
  Fd fd;
  TrustRules rules;
};

TrustedFolder::TrustedFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrustedFolder::TrustedFolder(TrustedFolder&&) noexcept = default;
TrustedFolder& TrustedFolder::operator=(TrustedFolder&&) noexcept = default;
TrustedFolder::~TrustedFolder() = default;

const std::string& TrustedFolder::path() const { return state_->path; }

Result<TrustedFolder> TrustedFolder::open(const std::string& path, const TrustRules& rules) {
  if (path.empty() || path.front() != '/') {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is a relative path: name plugins by absolute paths, since a "
                            "relative one means another file in another working directory",
                            path));
  }
  const auto canonical = real_path(path);
  if (!canonical) return io_error(fmt::format("cannot find the folder {}", path), errno);
  auto state = std::make_unique<State>();
  state->path = *canonical;
  state->rules = rules;
  auto at = step_into(AT_FDCWD, "/", "/", *canonical == "/", rules);
  std::size_t begin = 1;
  while (at && begin < canonical->size()) {
    const std::size_t end = std::min(canonical->find('/', begin), canonical->size());
    at = step_into(at->get(), canonical->substr(begin, end - begin), canonical->substr(0, end),
                   end == canonical->size(), rules);
    begin = end + 1;
  }
  if (!at) return tl::unexpected<Error>(std::move(at.error()));
  state->fd = std::move(*at);
  return TrustedFolder(std::move(state));
}

Result<std::vector<std::string>> TrustedFolder::list() const {
  // A descriptor of its own: reading a folder moves its offset.
  const int copy = ::openat(state_->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = copy < 0 ? nullptr : ::fdopendir(copy);
  if (folder == nullptr) {
    const int code = errno;
    if (copy >= 0) ::close(copy);
    return io_error(fmt::format("cannot read the folder {}", state_->path), code);
  }
  std::vector<std::string> names = names_in(folder);
  ::closedir(folder);
  return names;
}

Result<TrustedFile> TrustedFolder::open_file(std::string_view name) const {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no file name", name));
  }
  auto state = std::make_unique<TrustedFile::State>();
  const std::string leaf(name);
  state->path = state_->path == "/" ? "/" + leaf : state_->path + "/" + leaf;
  // Looked at before it is opened: opening a FIFO or a device can block or act.
  struct stat before {};
  if (::fstatat(state_->fd.get(), leaf.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error(fmt::format("cannot find {}", state->path), errno);
  }
  if (!S_ISREG(before.st_mode)) {
    return denied(fmt::format("{} is {} and no regular file: a plugin is named by its own path",
                              state->path, kind_of(before.st_mode)));
  }
  state->fd = Fd(::openat(state_->fd.get(), leaf.c_str(),
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!state->fd.valid()) return io_error(fmt::format("cannot open {}", state->path), errno);
  if (::fstat(state->fd.get(), &state->info) != 0) {
    return io_error(fmt::format("cannot look at {}", state->path), errno);
  }
  if (!same_file(before, state->info)) {
    return denied(fmt::format("{} was exchanged while it was being opened", state->path));
  }
  if (!state_->rules.accept_untrusted) {
    if (Status ok = check_file(state->info, state->path); !ok) {
      return tl::unexpected<Error>(std::move(ok.error()));
    }
  }
  return TrustedFile(std::move(state));
}

std::vector<std::string> peek_names(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return {};
  std::vector<std::string> names = names_in(folder);
  ::closedir(folder);
  return names;
}

std::string canonical_folder(const std::string& path) { return real_path(path).value_or(""); }

}  // namespace rollcall::loader
