#include "core/private_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/descriptor_posix.hpp"
#include "core/paths.hpp"
#include "core/remove_tree_posix.hpp"
#include "core/text.hpp"

namespace rollcall::core {
namespace {

constexpr mode_t kDirMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr mode_t kReadableMode = 0644;
constexpr std::uint64_t kAnyOwner = ~std::uint64_t{0};  // no uid: chown(2) takes it for "as it is"

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kRegular;
  if (S_ISDIR(mode)) return FileKind::kDirectory;
  if (S_ISLNK(mode)) return FileKind::kSymlink;
  if (S_ISFIFO(mode)) return FileKind::kFifo;
  if (S_ISSOCK(mode)) return FileKind::kSocket;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileKind::kDevice;
  return FileKind::kUnknown;
}

FileKind kind_of_entry(unsigned char type) {
  switch (type) {
    case DT_REG:
      return FileKind::kRegular;
    case DT_DIR:
      return FileKind::kDirectory;
    case DT_LNK:
      return FileKind::kSymlink;
    case DT_FIFO:
      return FileKind::kFifo;
    case DT_SOCK:
      return FileKind::kSocket;
    case DT_CHR:
    case DT_BLK:
      return FileKind::kDevice;
    default:
      return FileKind::kUnknown;
  }
}

std::int64_t ns_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& info) {
#if defined(__APPLE__)
  const timespec changed = info.st_ctimespec;
  const timespec modified = info.st_mtimespec;
#else
  const timespec changed = info.st_ctim;
  const timespec modified = info.st_mtim;
#endif
  return {.kind = kind_of(info.st_mode),
          .device = static_cast<std::uint64_t>(info.st_dev),
          .inode = static_cast<std::uint64_t>(info.st_ino),
          .size = static_cast<std::uint64_t>(info.st_size),
          .owner = static_cast<std::uint64_t>(info.st_uid),
          .changed_ns = ns_of(changed),
          .modified_ns = ns_of(modified)};
}

// "cannot VERB PATH: REASON".
tl::unexpected<Error> io_error(std::string_view verb, std::string_view path, int code) {
  const ErrorCode kind = code == ENOENT   ? ErrorCode::kNotFound
                         : code == EEXIST ? ErrorCode::kExists
                                          : ErrorCode::kIo;
  return fail(kind,
              fmt::format("cannot {} {}: {}", verb, text::for_terminal(path), std::strerror(code)),
              code);
}

tl::unexpected<Error> refuse_dir(std::string_view path, std::string_view why) {
  return fail(ErrorCode::kDenied,
              fmt::format("refusing to use {}: {}", text::for_terminal(path), why));
}

// Why a directory could not be opened, in words that tell a link from a file.
tl::unexpected<Error> open_dir_error(int parent, const std::string& name, const std::string& path,
                                     int code) {
  struct stat info {};
  if ((code == ENOTDIR || code == ELOOP || code == EMLINK) &&
      ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)) {
    return refuse_dir(path, "it is a symbolic link; put a directory in its place");
  }
  return io_error("open the directory", path, code);
}

// Opens `name` below `parent` (or AT_FDCWD with an absolute path) and checks what was opened.
Result<std::optional<Descriptor>> open_dir(int parent, const std::string& name,
                                           const std::string& path, std::uint64_t owner) {
  Descriptor dir(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir.valid()) {
    const int code = errno;
    if (code == ENOENT) return std::optional<Descriptor>();
    return open_dir_error(parent, name, path, code);
  }
  struct stat info {};
  if (::fstat(dir.get(), &info) != 0) return io_error("look at", path, errno);
  if (owner != kAnyOwner && info.st_uid != owner) {
    return refuse_dir(path, fmt::format("it belongs to uid {}, not to uid {}", info.st_uid, owner));
  }
  return std::optional<Descriptor>(std::move(dir));
}

// A directory that is shared on purpose (/tmp), and one that shows the kernel's own objects
// (/proc), are nobody's to make private.
Status check_may_be_private(int dir, const std::string& path) {
  struct stat info {};
  if (::fstat(dir, &info) != 0) return io_error("look at", path, errno);
  if ((info.st_mode & S_ISVTX) != 0 && (info.st_mode & S_IWOTH) != 0) {
    return refuse_dir(path, "everybody may write to it; choose a directory of your own");
  }
  if (is_kernel_file_system(dir)) {
    return refuse_dir(path, "it belongs to the system; choose a directory of your own");
  }
  return {};
}

// mkdir with 0700. Where the umask took some of that from the directory that was just made, it is
// given back: never more than 0700.
Status make_dir(int parent, const std::string& name, const std::string& path) {
  if (::mkdirat(parent, name.c_str(), kDirMode) != 0) {
    if (errno == EEXIST) return {};
    return io_error("make the directory", path, errno);
  }
  struct stat info {};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error("look at", path, errno);
  }
  if ((info.st_mode & 0777) == kDirMode || !S_ISDIR(info.st_mode)) return {};
  if (::fchmodat(parent, name.c_str(), kDirMode, AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error("set the mode of", path, errno);
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// The missing parents of `path`, from the top.
Status make_parents(const std::string& path) {
  const std::string parent = parent_of(path);
  struct stat info {};
  if (parent == "/" || ::stat(parent.c_str(), &info) == 0) return {};
  if (errno != ENOENT) return io_error("look at", parent, errno);
  if (auto made = make_parents(parent); !made) return made;
  return make_dir(AT_FDCWD, parent, parent);
}

bool is_our_own_shortage(int code) { return code == EMFILE || code == ENFILE || code == ENOMEM; }

// Reads `size` bytes and whatever has been added since, up to max_bytes.
Result<std::string> read_all(int file, std::size_t size, std::size_t max_bytes,
                             const std::string& path) {
  std::string bytes(size + 1, '\0');  // one more: a full buffer means that there is more
  std::size_t used = 0;
  while (true) {
    const ssize_t got = ::read(file, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int code = errno;
      return fail(ErrorCode::kUnreadable,
                  fmt::format("cannot read {}: {}", text::for_terminal(path), std::strerror(code)),
                  code);
    }
    used += static_cast<std::size_t>(got);
    if (got == 0 || used == size) break;
    if (used > max_bytes) break;
    if (used == bytes.size()) bytes.resize(std::min(bytes.size() * 2, max_bytes + 1));
  }
  bytes.resize(used);
  return bytes;
}

Status write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error("write", path, errno);
    if (put == 0) return io_error("write", path, EIO);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status set_modified(int file, std::int64_t ns, const std::string& path) {
  std::int64_t seconds = ns / 1'000'000'000;
  std::int64_t rest = ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>(rest);
  const timespec times[2] = {time, time};
  if (::futimens(file, times) != 0) return io_error("set the time of", path, errno);
  return {};
}

// Everything between opening a new file and its name being worth keeping.
Result<FileStamp> fill(Descriptor file, std::string_view bytes, const std::string& path,
                       const PrivateDir::CreateOptions& options) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error("look at", path, errno);
  // The umask may have taken from 0600; it cannot have added.
  if (!options.readable && (info.st_mode & 0777) != kFileMode &&
      ::fchmod(file.get(), kFileMode) != 0) {
    return io_error("set the mode of", path, errno);
  }
  if (auto written = write_all(file.get(), bytes, path); !written) {
    return tl::unexpected(written.error());
  }
  if (options.modified_ns) {
    if (auto set = set_modified(file.get(), *options.modified_ns, path); !set) {
      return tl::unexpected(set.error());
    }
  }
  if (options.durable && ::fsync(file.get()) != 0) return io_error("flush", path, errno);
  if (::fstat(file.get(), &info) != 0) return io_error("look at", path, errno);
  if (!file.close()) return io_error("close", path, errno);
  return stamp_of(info);
}

// Opens a file for appending, or makes it, and looks at what was opened.
Result<Descriptor> open_to_append(int dir, const std::string& name, const std::string& path,
                                  std::uint64_t owner, struct stat& info) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(::openat(dir, name.c_str(), kFlags));
  if (!file.valid() && errno == ENOENT) {
    file = Descriptor(::openat(dir, name.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode));
  }
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return io_error("open", path, errno);
  if (!S_ISREG(info.st_mode) || info.st_uid != owner || info.st_nlink > 1) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("{} is not a file of its own of the directory's owner; remove it",
                            text::for_terminal(path)));
  }
  // The umask may have taken from 0600, and somebody may have given more.
  if ((info.st_mode & 0777) != kFileMode && ::fchmod(file.get(), kFileMode) != 0) {
    return io_error("set the mode of", path, errno);
  }
  return file;
}

// Whether the file is empty or ends in a line ending. Errors: an errno.
Result<bool> ends_a_line(int file, off_t size, const std::string& path) {
  if (size == 0) return true;
  char last = 0;
  ssize_t got = 0;
  do {
    got = ::pread(file, &last, 1, size - 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) return io_error("read", path, got < 0 ? errno : EIO);
  return last == '\n';
}

// renameat2(2) and its like. Returns 0 or an errno; ENOSYS where there is none.
enum class RenameRule : std::uint8_t { kNew, kSwap };
int rename_special(int from_dir, const std::string& from, int to_dir, const std::string& to,
                   RenameRule rule) {
#if defined(__linux__)
  const unsigned flags = rule == RenameRule::kNew ? RENAME_NOREPLACE : RENAME_EXCHANGE;
  return ::renameat2(from_dir, from.c_str(), to_dir, to.c_str(), flags) == 0 ? 0 : errno;
#elif defined(__APPLE__)
  const unsigned flags = rule == RenameRule::kNew ? RENAME_EXCL : RENAME_SWAP;
  return ::renameatx_np(from_dir, from.c_str(), to_dir, to.c_str(), flags) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

bool cannot_rename_so(int code) {
  return code == EINVAL || code == ENOSYS || code == ENOTSUP || code == EOPNOTSUPP;
}

}  // namespace

std::string_view describe(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kSymlink:
      return "a symbolic link";
    case FileKind::kFifo:
      return "a FIFO";
    case FileKind::kSocket:
      return "a socket";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kUnknown:
      break;
  }
  return "of an unknown kind";
}

struct PrivateDir::Impl {
  std::string path;
  std::uint64_t owner = 0;
  Descriptor dir;

  [[nodiscard]] int get() const { return dir.get(); }
};

PrivateDir::PrivateDir(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateDir::PrivateDir(PrivateDir&&) noexcept = default;
PrivateDir& PrivateDir::operator=(PrivateDir&&) noexcept = default;
PrivateDir::~PrivateDir() = default;

Result<std::optional<PrivateDir>> PrivateDir::open(const std::string& path, std::uint64_t owner) {
  auto dir = open_dir(AT_FDCWD, path, path, owner);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(
      PrivateDir(std::make_unique<Impl>(Impl{path, owner, std::move(**dir)})));
}

Result<std::optional<PrivateDir>> PrivateDir::open_any(const std::string& path, Links links) {
  // "." behind a link is what it points at.
  const std::string name = links == Links::kFollow ? path + "/." : path;
  auto dir = open_dir(AT_FDCWD, name, path, kAnyOwner);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(
      PrivateDir(std::make_unique<Impl>(Impl{path, kAnyOwner, std::move(**dir)})));
}

Result<PrivateDir> PrivateDir::make(const std::string& path, std::uint64_t owner) {
  auto dir = open_dir(AT_FDCWD, path, path, owner);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) {
    if (auto made = make_parents(path); !made) return tl::unexpected(made.error());
    if (auto made = make_dir(AT_FDCWD, path, path); !made) return tl::unexpected(made.error());
    dir = open_dir(AT_FDCWD, path, path, owner);
    if (!dir) return tl::unexpected(dir.error());
    if (!*dir) return io_error("open the directory", path, ENOENT);
  }
  if (auto may = check_may_be_private((*dir)->get(), path); !may) {
    return tl::unexpected(may.error());
  }
  return PrivateDir(std::make_unique<Impl>(Impl{path, owner, std::move(**dir)}));
}

Result<std::optional<PrivateDir>> PrivateDir::open_child(std::string_view name) const {
  std::string path = path_of(name);
  auto dir = open_dir(impl_->get(), std::string(name), path, impl_->owner);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(
      PrivateDir(std::make_unique<Impl>(Impl{std::move(path), impl_->owner, std::move(**dir)})));
}

Result<PrivateDir> PrivateDir::make_child(std::string_view name) const {
  auto child = open_child(name);
  if (!child) return tl::unexpected(child.error());
  if (!*child) {
    const std::string path = path_of(name);
    if (auto made = make_dir(impl_->get(), std::string(name), path); !made) {
      return tl::unexpected(made.error());
    }
    child = open_child(name);
    if (!child) return tl::unexpected(child.error());
    if (!*child) return io_error("open the directory", path, ENOENT);
  }
  if (auto may = check_may_be_private((*child)->impl_->get(), (*child)->path()); !may) {
    return tl::unexpected(may.error());
  }
  return std::move(**child);
}

Status PrivateDir::tighten() const {
  struct stat info {};
  if (::fstat(impl_->get(), &info) != 0) return io_error("look at", path(), errno);
  const mode_t mode = info.st_mode & 07777;
  if ((mode & 077) == 0) return {};
  if (::fchmod(impl_->get(), mode & 07700) != 0) return io_error("make private", path(), errno);
  return {};
}

const std::string& PrivateDir::path() const { return impl_->path; }

std::string PrivateDir::path_of(std::string_view name) const {
  return join_path(impl_->path, name);
}

Status PrivateDir::each(const std::function<bool(const DirEntry&)>& visit) const {
  Descriptor again(::openat(impl_->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return io_error("read the directory", path(), errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
  if (!stream) return io_error("read the directory", path(), errno);
  again.release();
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return io_error("read the directory", path(), errno);
      return {};
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit({.name = name, .kind = kind_of_entry(entry->d_type)})) return {};
  }
}

Result<FileStamp> PrivateDir::stat(std::string_view name) const {
  struct stat info {};
  if (::fstatat(impl_->get(), std::string(name).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error("look at", path_of(name), errno);
  }
  return stamp_of(info);
}

Result<FileContent> PrivateDir::read(std::string_view name, std::size_t max_bytes,
                                     FileKind hint) const {
  const auto odd = [&](FileKind kind) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("{} is {}, not a regular file", text::for_terminal(path_of(name)),
                            describe(kind)));
  };
  if (hint == FileKind::kUnknown) {
    // Looked at before it is opened: opening a device can do something.
    const auto stamp = stat(name);
    if (!stamp) return tl::unexpected(stamp.error());
    hint = stamp->kind;
  }
  if (hint != FileKind::kRegular) return odd(hint);
  const std::string file_name(name);
  const Descriptor file(::openat(impl_->get(), file_name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) {
    const int code = errno;
    auto error = io_error("open", path_of(name), code);
    if (code != ENOENT && !is_our_own_shortage(code)) error.value().code = ErrorCode::kUnreadable;
    return error;
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error("look at", path_of(name), errno);
  const FileStamp stamp = stamp_of(info);
  if (stamp.kind != FileKind::kRegular) return odd(stamp.kind);
  const auto too_large = [&] {
    return fail(ErrorCode::kTooLarge, fmt::format("{} is larger than {} bytes",
                                                  text::for_terminal(path_of(name)), max_bytes));
  };
  if (stamp.size > max_bytes) return too_large();
  auto bytes = read_all(file.get(), static_cast<std::size_t>(stamp.size), max_bytes, impl_->path);
  if (!bytes) return tl::unexpected(bytes.error());
  if (bytes->size() > max_bytes) return too_large();
  return FileContent{stamp, std::move(*bytes)};
}

Result<FileContent> PrivateDir::read_part(std::string_view name, std::uint64_t offset,
                                          std::size_t most) const {
  const std::string path = path_of(name);
  const Descriptor file(::openat(impl_->get(), std::string(name).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) {
    const int code = errno;
    auto error = io_error("open", path, code);
    if (code != ENOENT && !is_our_own_shortage(code)) error.value().code = ErrorCode::kUnreadable;
    return error;
  }
  FileContent content{stamp_of(info), {}};
  if (content.stamp.kind != FileKind::kRegular) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("{} is {}, not a regular file", text::for_terminal(path),
                            describe(content.stamp.kind)));
  }
  if (offset >= content.stamp.size) return content;
  content.bytes.resize(static_cast<std::size_t>(
      std::min<std::uint64_t>(content.stamp.size - offset, static_cast<std::uint64_t>(most))));
  std::size_t used = 0;
  while (used < content.bytes.size()) {
    const ssize_t got = ::pread(file.get(), content.bytes.data() + used,
                                content.bytes.size() - used, static_cast<off_t>(offset + used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      auto error = io_error("read", path, errno);
      error.value().code = ErrorCode::kUnreadable;
      return error;
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  content.bytes.resize(used);
  return content;
}

Result<PrivateDir::Appended> PrivateDir::append_lines(std::string_view name,
                                                      std::string_view lines) const {
  const std::string path = path_of(name);
  struct stat info {};
  const auto file = open_to_append(impl_->get(), std::string(name), path, impl_->owner, info);
  if (!file) return tl::unexpected(file.error());
  const auto whole = ends_a_line(file->get(), info.st_size, path);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) {
    if (auto mended = write_all(file->get(), "\n", path); !mended) {
      return tl::unexpected(mended.error());
    }
  }
  Appended done;
  done.begin = static_cast<std::uint64_t>(info.st_size) + (*whole ? 0 : 1);
  done.end = done.begin + lines.size();
  done.failure = write_all(file->get(), lines, path);
  if (done.failure) return done;
  // As far as it came, without the line that was cut.
  struct stat now {};
  std::size_t kept = 0;
  if (::fstat(file->get(), &now) == 0 && now.st_size > static_cast<off_t>(done.begin)) {
    const auto came = static_cast<std::size_t>(now.st_size) - static_cast<std::size_t>(done.begin);
    const auto last = lines.substr(0, came).rfind('\n');
    kept = last == std::string_view::npos ? 0 : last + 1;
  }
  done.end = done.begin + kept;
  // Where even this fails, the next writer ends the line, and readers leave it out.
  static_cast<void>(::ftruncate(file->get(), static_cast<off_t>(done.end)));
  return done;
}

Result<FileStamp> PrivateDir::create(std::string_view name, std::string_view bytes,
                                     const CreateOptions& options) const {
  const std::string file_name(name);
  const std::string path = path_of(name);
  Descriptor file(::openat(impl_->get(), file_name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           options.readable ? kReadableMode : kFileMode));
  if (!file.valid()) return io_error("create", path, errno);
  auto stamp = fill(std::move(file), bytes, path, options);
  if (!stamp) static_cast<void>(::unlinkat(impl_->get(), file_name.c_str(), 0));
  return stamp;
}

Status PrivateDir::rename_over(std::string_view from, const PrivateDir& to_dir,
                               std::string_view to) const {
  if (::renameat(impl_->get(), std::string(from).c_str(), to_dir.impl_->get(),
                 std::string(to).c_str()) != 0) {
    return io_error("rename a file to", to_dir.path_of(to), errno);
  }
  return {};
}

Status PrivateDir::rename_new(std::string_view from, const PrivateDir& to_dir,
                              std::string_view to) const {
  const std::string old_name(from);
  const std::string new_name(to);
  int code =
      rename_special(impl_->get(), old_name, to_dir.impl_->get(), new_name, RenameRule::kNew);
  if (cannot_rename_so(code)) {
    code = ::linkat(impl_->get(), old_name.c_str(), to_dir.impl_->get(), new_name.c_str(), 0) == 0
               ? 0
               : errno;
    // The new name stands; an old one that cannot be removed is a leftover, not a failure.
    if (code == 0) static_cast<void>(::unlinkat(impl_->get(), old_name.c_str(), 0));
  }
  if (code != 0) return io_error("rename a file to", to_dir.path_of(to), code);
  return {};
}

Status PrivateDir::exchange(std::string_view a, std::string_view b) const {
  const int code =
      rename_special(impl_->get(), std::string(a), impl_->get(), std::string(b), RenameRule::kSwap);
  if (code == 0) return {};
  if (cannot_rename_so(code)) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("the file system of {} cannot swap two names", text::for_terminal(path())),
        code);
  }
  return io_error("swap files at", path_of(b), code);
}

Status PrivateDir::remove(std::string_view name) const {
  if (::unlinkat(impl_->get(), std::string(name).c_str(), 0) != 0) {
    return io_error("remove", path_of(name), errno);
  }
  return {};
}

Status PrivateDir::remove_tree(std::string_view name, const FileStamp& expected) const {
  return remove_tree_at(impl_->get(), std::string(name), path_of(name),
                        {expected.device, expected.inode});
}

Status PrivateDir::sync() const {
  if (::fsync(impl_->get()) != 0) {
    // Some file systems have nothing to flush for a directory, and say so.
    if (errno == EINVAL || errno == ENOTSUP) return {};
    return io_error("flush the directory", path(), errno);
  }
  return {};
}

Result<FileLock> PrivateDir::lock(std::string_view name, const Clock& clock,
                                  std::int64_t deadline_ns, const CancelToken& cancel) const {
  auto taken =
      take_file_lock(impl_->get(), std::string(name), path_of(name), clock, deadline_ns, cancel);
  if (!taken) return tl::unexpected(taken.error());
  return FileLock(taken->release());
}

std::uint64_t current_owner() { return static_cast<std::uint64_t>(::geteuid()); }

}  // namespace rollcall::core
