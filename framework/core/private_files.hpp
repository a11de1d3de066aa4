// Private directories and the files in them, for one user's eyes.
//
// Every directory is checked and used through one descriptor: it is no symbolic link, and owned by
// whom it should be. What is made is 0700 or 0600 from its creation on, under any umask. Nothing
// here follows a link below a directory, or waits for a FIFO or a device. Every descriptor is
// closed on exec. Names are single file names; the callers check them.
//
// Windows: a descriptor is a handle, which children do not inherit; a link is any reparse point.
// In place of a mode there is an access list for the user alone. The system (SYSTEM,
// Administrators) may own what is used; a directory or file that anybody else may write to is not
// read. What somebody else has open for a moment is tried again, for two seconds at most.
//
// Errors name the path, the system's reason and what to do. Threads: any; objects are not changed
// by their const functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/call.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

enum class FileKind : std::uint8_t {
  kUnknown,
  kRegular,
  kDirectory,
  kSymlink,
  kFifo,
  kSocket,
  kDevice
};
[[nodiscard]] std::string_view describe(FileKind kind);  // "a FIFO", ...

// What identifies a file and its state. Equal stamps, equal file, as far as a stamp can tell.
struct FileStamp {
  FileKind kind = FileKind::kUnknown;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t owner = 0;       // a uid; Windows: a number made of the SID
  std::int64_t changed_ns = 0;   // ctime: cannot be set; a rename moves it on most file systems
  std::int64_t modified_ns = 0;  // mtime
};

struct FileContent {
  FileStamp stamp;
  std::string bytes;
};

struct DirEntry {
  std::string_view name;               // until the callback returns
  FileKind kind = FileKind::kUnknown;  // as the directory has it; unknown where it does not say
};

class FileLock;

class PrivateDir {
 public:
  PrivateDir(PrivateDir&&) noexcept;
  PrivateDir& operator=(PrivateDir&&) noexcept;
  ~PrivateDir();

  // For reading: changes nothing. nullopt: there is none. `path` is absolute, `owner` as
  // current_owner() gives it.
  // Errors: kDenied (a symbolic link, another owner), kIo.
  [[nodiscard]] static Result<std::optional<PrivateDir>> open(const std::string& path,
                                                              std::uint64_t owner);
  // A directory that need not be private, whoever owns it and what is in it: for files that are no
  // secrets. Nothing of its permissions is checked or changed; do not tighten() it. `links`:
  // whether the last component of `path` may be a link; those before it may. nullopt: there is
  // none. Errors: kDenied (a link), kIo.
  enum class Links : std::uint8_t { kRefuse, kFollow };
  [[nodiscard]] static Result<std::optional<PrivateDir>> open_any(const std::string& path,
                                                                  Links links);
  // For writing: makes it and its missing parents (0700); one that is there already stays as it is.
  // Errors: as above, and kDenied for a directory that is shared on purpose (/tmp) or that shows
  // the kernel's own objects (/proc).
  [[nodiscard]] static Result<PrivateDir> make(const std::string& path, std::uint64_t owner);

  [[nodiscard]] Result<std::optional<PrivateDir>> open_child(std::string_view name) const;
  [[nodiscard]] Result<PrivateDir> make_child(std::string_view name) const;
  // Takes away what group and others may; never gives anything to them. For one that is known to
  // be ours by what it holds. Errors: kIo.
  [[nodiscard]] Status tighten() const;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // Every entry but . and .., until `visit` returns false. Errors: kIo, also half-way.
  [[nodiscard]] Status each(const std::function<bool(const DirEntry&)>& visit) const;

  // Errors: kNotFound, kIo.
  [[nodiscard]] Result<FileStamp> stat(std::string_view name) const;

  // A regular file, whole. `hint`: its kind as each() gave it. Errors: kNotFound; kUnreadable (not
  // a regular file, or the system refuses this one), kTooLarge; kIo (this process can open nothing
  // more).
  [[nodiscard]] Result<FileContent> read(std::string_view name, std::size_t max_bytes,
                                         FileKind hint = FileKind::kUnknown) const;

  // A new file with these bytes, 0600, written, flushed to the disk if `durable`, and closed; on
  // any error there is none. `modified_ns`: its mtime, where given. Errors: kExists, kIo.
  struct CreateOptions {
    bool durable = true;
    std::optional<std::int64_t> modified_ns;
    bool readable = false;  // everybody may read it: 0644 less the umask; Windows: as inherited
  };
  [[nodiscard]] Result<FileStamp> create(std::string_view name, std::string_view bytes,
                                         const CreateOptions& options) const;

  // Adds whole lines at the end of a regular file, which is made (0600) where it is missing. One
  // that ends in the middle of a line is given a line ending first. What the disk has no room for
  // is taken back to the end of a line: then `end` says how far it came, and `failure` why. Nothing
  // is flushed. Who calls holds a lock: there is one writer at a time. Errors: kUnreadable (not a
  // regular file, or not the owner's), kIo.
  struct Appended {
    std::uint64_t begin = 0;  // where `lines` begins in the file
    std::uint64_t end = 0;    // the file's size
    Status failure;
  };
  [[nodiscard]] Result<Appended> append_lines(std::string_view name, std::string_view lines) const;

  // A part of a regular file: at most `most` bytes from `offset`, none at its end. The stamp is the
  // whole file's. Errors: as read(), but for kTooLarge.
  [[nodiscard]] Result<FileContent> read_part(std::string_view name, std::uint64_t offset,
                                              std::size_t most) const;

  // Renames, also into another directory of the same file system. Errors: kNotFound, kIo.
  [[nodiscard]] Status rename_over(std::string_view from, const PrivateDir& to_dir,
                                   std::string_view to) const;
  // Never replaces. Errors: kExists, kNotFound, kIo.
  [[nodiscard]] Status rename_new(std::string_view from, const PrivateDir& to_dir,
                                  std::string_view to) const;
  // Swaps two names in one step. Errors: kUnsupported (this file system cannot), kNotFound, kIo.
  [[nodiscard]] Status exchange(std::string_view a, std::string_view b) const;
  // Errors: kNotFound, kIo.
  [[nodiscard]] Status remove(std::string_view name) const;
  // Removes the directory `name`, which must be the one that `expected` is of, and all in it.
  // Follows no link and leaves what is mounted: where something is mounted in it, where it is
  // nested deeper than 256 levels, or where one of its directories cannot be read, nothing is
  // removed. Errors: kNotFound, kConflict (another one), kRefused (a mount, too deep), kIo (some of
  // it may be gone).
  [[nodiscard]] Status remove_tree(std::string_view name, const FileStamp& expected) const;
  // Makes renames and removals last.
  [[nodiscard]] Status sync() const;

  // Takes the lock file `name`, made where it is missing. Waits until `deadline_ns` (on the
  // monotonic clock) or until cancelled. Errors: kTimeout, kCancelled, kDenied, kIo.
  [[nodiscard]] Result<FileLock> lock(std::string_view name, const Clock& clock,
                                      std::int64_t deadline_ns, const CancelToken& cancel) const;

 private:
  struct Impl;
  explicit PrivateDir(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Held until it goes out of scope; given back then even if a child inherited the descriptor. The
// system gives it back when the process ends, however it ends.
class FileLock {
 public:
  explicit FileLock(std::intptr_t descriptor) : descriptor_(descriptor) {}
  FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  std::intptr_t descriptor_;  // -1: none. Windows: a HANDLE
};

// The uid that this process makes files as; Windows: FileStamp::owner of what it makes.
[[nodiscard]] std::uint64_t current_owner();

// Whether `path`, or the nearest parent that exists, is on a file system of this machine alone:
// ext2 to ext4, xfs, btrfs, tmpfs, zfs or overlayfs; APFS; NTFS or ReFS. False where it cannot be
// told.
[[nodiscard]] bool is_on_local_file_system(const std::string& path);

}  // namespace rollcall::core
