#include "core/remove_tree_posix.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/descriptor_posix.hpp"
#include "core/text.hpp"

namespace rollcall::core {
namespace {

constexpr int kMaxDepth = 256;  // a descriptor is held for each level

tl::unexpected<Error> io_error(std::string_view verb, std::string_view path, int code) {
  return fail(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", verb, text::for_terminal(path), std::strerror(code)),
              code);
}

std::optional<FileNumber> number_of(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return std::nullopt;
  return FileNumber{static_cast<std::uint64_t>(info.st_dev),
                    static_cast<std::uint64_t>(info.st_ino)};
}

// What an open directory is mounted as: two of the same number are of the same mount. Linux: the
// kernel's id of the mount, which tells a bind mount apart (statx(2), 5.8 and later); else the
// device.
std::uint64_t mount_of(int dir) {
#if defined(__linux__) && defined(STATX_MNT_ID)
  struct statx info {};
  if (::statx(dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) == 0 &&
      (info.stx_mask & STATX_MNT_ID) != 0) {
    return info.stx_mnt_id;
  }
#endif
  const auto number = number_of(dir);
  return number ? number->device : 0;
}

// The same of a name that is no directory: a file can be mounted on, too.
std::uint64_t mount_of(int dir, const char* name) {
#if defined(__linux__) && defined(STATX_MNT_ID)
  struct statx info {};
  if (::statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &info) == 0 &&
      (info.stx_mask & STATX_MNT_ID) != 0) {
    return info.stx_mnt_id;
  }
#endif
  struct stat found {};
  const bool is_there = ::fstatat(dir, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
  return is_there ? static_cast<std::uint64_t>(found.st_dev) : 0;
}

struct Entry {
  std::string name;
  bool is_directory = false;
};

bool is_directory(int dir, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info {};
  return ::fstatat(dir, static_cast<const char*>(entry.d_name), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode);
}

// All names first: what is removed while a directory is read may hide others from the reader.
Result<std::vector<Entry>> entries_of(int dir, const std::string& path) {
  Descriptor again(::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return io_error("read the directory", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
  if (!stream) return io_error("read the directory", path, errno);
  again.release();
  std::vector<Entry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) return io_error("read the directory", path, errno);
      return entries;
    }
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name == "." || name == "..") continue;
    entries.push_back({std::string(name), is_directory(dir, *entry)});
  }
}

enum class Step : std::uint8_t { kCheck, kRemove };

class Tree {
 public:
  explicit Tree(std::uint64_t mount) : mount_(mount) {}

  // Everything in the open directory. What somebody else removed meanwhile is no failure.
  Status walk(Step step, int dir, const std::string& path, int depth) const {
    if (depth > kMaxDepth) {
      return fail(ErrorCode::kRefused, fmt::format("{} is nested deeper than {} levels",
                                                   text::for_terminal(path), kMaxDepth));
    }
    const auto entries = entries_of(dir, path);
    if (!entries) return tl::unexpected(entries.error());
    for (const Entry& entry : *entries) {
      const std::string inner = path + "/" + entry.name;
      if (entry.is_directory) {
        if (auto done = walk_child(step, dir, entry.name, inner, depth); !done) return done;
      }
      if (step == Step::kCheck) {
        if (!entry.is_directory && is_mounted(dir, entry.name)) return mounted_at(inner);
        continue;
      }
      const int flags = entry.is_directory ? AT_REMOVEDIR : 0;
      if (::unlinkat(dir, entry.name.c_str(), flags) != 0 && errno != ENOENT) {
        return io_error("remove", inner, errno);
      }
    }
    return {};
  }

 private:
  static tl::unexpected<Error> mounted_at(const std::string& path) {
    return fail(ErrorCode::kRefused,
                fmt::format("something is mounted at {}", text::for_terminal(path)));
  }
  // What has gone by now (0) is no mount.
  [[nodiscard]] bool is_mounted(int dir, const std::string& name) const {
    const std::uint64_t mount = mount_of(dir, name.c_str());
    return mount != 0 && mount != mount_;
  }

  Status walk_child(Step step, int dir, const std::string& name, const std::string& path,
                    int depth) const {
    const Descriptor child(
        ::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!child.valid()) {
      return errno == ENOENT ? Status{} : io_error("open the directory", path, errno);
    }
    if (mount_of(child.get()) != mount_) return mounted_at(path);
    return walk(step, child.get(), path, depth + 1);
  }

  std::uint64_t mount_;
};

}  // namespace

Status remove_tree_at(int parent, const std::string& name, const std::string& path,
                      const FileNumber& expected) {
  const Descriptor dir(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir.valid()) return io_error("open the directory", path, errno);
  if (number_of(dir.get()) != expected) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is another one by now", text::for_terminal(path)));
  }
  const std::uint64_t mount = mount_of(dir.get());
  if (mount_of(parent) != mount) {
    return fail(ErrorCode::kRefused,
                fmt::format("something is mounted at {}", text::for_terminal(path)));
  }
  const Tree tree(mount);
  for (const Step step : {Step::kCheck, Step::kRemove}) {
    if (auto done = tree.walk(step, dir.get(), path, 1); !done) return done;
  }
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return io_error("remove", path, errno);
  }
  return {};
}

}  // namespace rollcall::core
