#include "core/private_files.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <windows.h>

#include <fmt/format.h>

#include "core/file_lock_windows.hpp"
#include "core/handle_windows.hpp"
#include "core/list_dir_windows.hpp"
#include "core/native_windows.hpp"
#include "core/paths.hpp"
#include "core/remove_tree_windows.hpp"
#include "core/security_windows.hpp"
#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

constexpr ACCESS_MASK kListDir = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES;
constexpr ACCESS_MASK kReadDir = kListDir | READ_CONTROL;

FileKind kind_of(DWORD attributes) {
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return FileKind::kSymlink;
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return FileKind::kDirectory;
  if ((attributes & FILE_ATTRIBUTE_DEVICE) != 0) return FileKind::kDevice;
  return FileKind::kRegular;
}

// A FILETIME's 100 ns since 1601, as ns since 1970.
constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;
std::int64_t unix_ns(const LARGE_INTEGER& time) { return (time.QuadPart - kUnixEpoch) * 100; }

// "cannot VERB PATH: REASON".
tl::unexpected<Error> io_error(std::string_view verb, std::string_view path, unsigned long code) {
  const bool absent = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
  const bool exists = code == ERROR_ALREADY_EXISTS || code == ERROR_FILE_EXISTS;
  const ErrorCode kind = absent   ? ErrorCode::kNotFound
                         : exists ? ErrorCode::kExists
                                  : ErrorCode::kIo;
  return fail(kind,
              fmt::format("cannot {} {}: {}", verb, text::for_terminal(path), error_text(code)),
              code);
}

tl::unexpected<Error> refuse_dir(std::string_view path, std::string_view why) {
  return fail(ErrorCode::kDenied,
              fmt::format("refusing to use {}: {}", text::for_terminal(path), why));
}

template <class Info>
bool query(HANDLE file, FILE_INFO_BY_HANDLE_CLASS kind, Info& out) {
  return ::GetFileInformationByHandleEx(file, kind, &out, sizeof out) != 0;
}

// Device and inode: 128 bits of which the upper half is 0 on NTFS. An older file system has 64.
bool set_id(HANDLE file, FileStamp& stamp) {
  FILE_ID_INFO id{};
  if (query(file, FileIdInfo, id)) {
    std::uint64_t halves[2] = {};
    static_assert(sizeof halves == sizeof id.FileId);
    std::memcpy(halves, &id.FileId, sizeof halves);
    stamp.device = id.VolumeSerialNumber;
    stamp.inode = halves[0] ^ (halves[1] * 0x9E37'79B9'7F4A'7C15);
    return true;
  }
  BY_HANDLE_FILE_INFORMATION info{};
  if (::GetFileInformationByHandle(file, &info) == 0) return false;
  stamp.device = info.dwVolumeSerialNumber;
  stamp.inode = std::uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  return true;
}

// The stamp of what is open, but for its owner.
Result<FileStamp> stamp_of(HANDLE file, std::string_view path) {
  FILE_BASIC_INFO basic{};
  FILE_STANDARD_INFO standard{};
  FileStamp stamp;
  if (!query(file, FileBasicInfo, basic) || !query(file, FileStandardInfo, standard) ||
      !set_id(file, stamp)) {
    return io_error("look at", path, ::GetLastError());
  }
  stamp.kind = kind_of(basic.FileAttributes);
  stamp.size = static_cast<std::uint64_t>(standard.EndOfFile.QuadPart);
  stamp.changed_ns = unix_ns(basic.ChangeTime);
  stamp.modified_ns = unix_ns(basic.LastWriteTime);
  return stamp;
}

bool is_owned_as_expected(const Access& access, std::uint64_t owner) {
  if (owner == access.owner.number()) return true;
  return owner == current_owner() && access.owned_by != OwnedBy::kOther;
}

// A directory that others may write to: refused, accepted to be tightened; kAnyone: neither owner
// nor access list is looked at.
enum class Wide : std::uint8_t { kRefuse, kAccept, kAnyone };

// Whether what was opened is a directory, no link, and owned by whom it should be.
Status check_dir(HANDLE dir, const std::string& path, std::uint64_t owner, Wide wide) {
  FILE_BASIC_INFO basic{};
  if (!query(dir, FileBasicInfo, basic)) return io_error("look at", path, ::GetLastError());
  if ((basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return refuse_dir(path,
                      "it is a symbolic link or another reparse point; put a directory in its "
                      "place");
  }
  if ((basic.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    return io_error("open the directory", path, ERROR_DIRECTORY);
  }
  if (wide == Wide::kAnyone) return {};
  const auto access = read_access(dir);
  if (!access) return refuse_dir(path, access.error().message);
  if (!is_owned_as_expected(*access, owner)) {
    return refuse_dir(path, fmt::format("it belongs to {}, not to the user who reads it",
                                        account_name(access->owner)));
  }
  if (wide == Wide::kAccept) return {};
  if (const std::string who = other_with(*access, kWriteRights); !who.empty()) {
    return refuse_dir(path, fmt::format("{} may write to it; take that right away (writing a "
                                        "record does so too)",
                                        who));
  }
  return {};
}

// To be checked, and to be made private where the system lets us.
native::Status open_dir_at(HANDLE parent, std::wstring_view name, Wide wide, Handle& out) {
  native::OpenAt what{.dir = parent, .name = name, .access = kReadDir};
  if (wide == Wide::kAccept) {
    what.access |= WRITE_DAC;
    const native::Status status = native::open_at(what, out);
    if (status != native::kAccessDenied) return status;
    what.access = kReadDir;
  }
  return native::open_at(what, out);
}

unsigned long open_dir_path(const std::wstring& path, Wide wide, Handle& out) {
  const auto attempt = [&](ACCESS_MASK access) -> unsigned long {
    out = Handle(::CreateFileW(
        path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
        OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    return out.valid() ? ERROR_SUCCESS : ::GetLastError();
  };
  if (wide == Wide::kAccept) {
    const unsigned long code = attempt(kReadDir | WRITE_DAC | SYNCHRONIZE);
    if (code != ERROR_ACCESS_DENIED) return code;
  }
  return attempt(kReadDir | SYNCHRONIZE);
}

Result<std::optional<Handle>> checked(unsigned long code, Handle dir, const std::string& path,
                                      std::uint64_t owner, Wide wide) {
  if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND) return std::optional<Handle>();
  if (code != ERROR_SUCCESS) return io_error("open the directory", path, code);
  if (auto fine = check_dir(dir.get(), path, owner, wide); !fine) {
    return tl::unexpected(fine.error());
  }
  return std::optional<Handle>(std::move(dir));
}

Result<std::optional<Handle>> open_dir(const std::string& path, std::uint64_t owner, Wide wide) {
  const auto native_path = native::long_path(path);
  if (!native_path) return tl::unexpected(native_path.error());
  Handle dir;
  const unsigned long code = open_dir_path(*native_path, wide, dir);
  return checked(code, std::move(dir), path, owner, wide);
}

// Below the current directory, where `path` is not absolute. As it is where that cannot be told,
// and where it begins with two separators: devices are there, nothing of the current directory's.
std::string absolute(const std::string& path) {
  const auto is_separator = [](char c) { return c == '\\' || c == '/'; };
  if (is_absolute_path(path)) return path;
  if (path.size() >= 2 && is_separator(path[0]) && is_separator(path[1])) return path;
  std::error_code failed;
  const auto whole =
      std::filesystem::absolute(std::u8string(path.begin(), path.end()), failed).u8string();
  return failed ? path : std::string(whole.begin(), whole.end());
}

// CreateDirectoryW with a list for the user alone. One that is there already stays as it is.
Status make_dir(const std::wstring& native_path, const std::string& path) {
  const auto ours = OwnerOnly::make(OwnerOnly::For::kDirectory);
  if (!ours) return tl::unexpected(ours.error());
  if (::CreateDirectoryW(native_path.c_str(), ours->attributes()) != 0) return {};
  const unsigned long code = ::GetLastError();
  if (code == ERROR_ALREADY_EXISTS) return {};
  return io_error("make the directory", path, code);
}

// The missing parents of `path`, from the top.
Status make_parents(const std::string& path) {
  const auto slash = path.find_last_of("\\/");
  if (slash == std::string::npos) return {};
  const std::string parent = clean_path(path.substr(0, slash + 1));
  if (is_root_path(parent) || !is_absolute_path(parent)) return {};
  const auto native_path = native::long_path(parent);
  if (!native_path) return tl::unexpected(native_path.error());
  if (::GetFileAttributesW(native_path->c_str()) != INVALID_FILE_ATTRIBUTES) return {};
  const unsigned long code = ::GetLastError();
  if (code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND) {
    return io_error("look at", parent, code);
  }
  if (auto made = make_parents(parent); !made) return made;
  return make_dir(*native_path, parent);
}

bool is_our_own_shortage(unsigned long code) {
  return code == ERROR_TOO_MANY_OPEN_FILES || code == ERROR_NO_SYSTEM_RESOURCES ||
         code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_OUTOFMEMORY;
}

// Why a file cannot be read, as its own matter: there may be many others beside it.
tl::unexpected<Error> odd_one(Error error) {
  const auto code = static_cast<unsigned long>(error.os_code);
  if (error.code == ErrorCode::kIo && !is_our_own_shortage(code)) {
    error.code = ErrorCode::kUnreadable;
  }
  return tl::unexpected(std::move(error));
}

// Reads `size` bytes and whatever has been added since, up to max_bytes.
Result<std::string> read_all(HANDLE file, std::size_t size, std::size_t max_bytes,
                             const std::string& path) {
  std::string bytes(size + 1, '\0');  // one more: a full buffer means that there is more
  std::size_t used = 0;
  while (true) {
    DWORD got = 0;
    if (::ReadFile(file, bytes.data() + used, static_cast<DWORD>(bytes.size() - used), &got,
                   nullptr) == 0) {
      const unsigned long code = ::GetLastError();
      return fail(ErrorCode::kUnreadable,
                  fmt::format("cannot read {}: {}", text::for_terminal(path), error_text(code)),
                  code);
    }
    used += got;
    if (got == 0 || used == size) break;
    if (used > max_bytes) break;
    if (used == bytes.size()) bytes.resize(std::min(bytes.size() * 2, max_bytes + 1));
  }
  bytes.resize(used);
  return bytes;
}

Status write_all(HANDLE file, std::string_view bytes, const std::string& path) {
  constexpr std::size_t kMost = 1U << 30;
  while (!bytes.empty()) {
    DWORD put = 0;
    const auto size = static_cast<DWORD>(std::min(bytes.size(), kMost));
    if (::WriteFile(file, bytes.data(), size, &put, nullptr) == 0) {
      return io_error("write", path, ::GetLastError());
    }
    if (put == 0) return io_error("write", path, ERROR_WRITE_FAULT);
    bytes.remove_prefix(put);
  }
  return {};
}

Status set_modified(HANDLE file, std::int64_t ns, const std::string& path) {
  FILE_BASIC_INFO basic{};  // 0: leave it as it is
  basic.LastWriteTime.QuadPart = ns / 100 + kUnixEpoch;
  if (::SetFileInformationByHandle(file, FileBasicInfo, &basic, sizeof basic) == 0) {
    return io_error("set the time of", path, ::GetLastError());
  }
  return {};
}

// Everything between making a new file and its name being worth keeping.
Status fill(HANDLE file, std::string_view bytes, const std::string& path,
            const PrivateDir::CreateOptions& options) {
  if (auto written = write_all(file, bytes, path); !written) return written;
  if (options.modified_ns) {
    if (auto set = set_modified(file, *options.modified_ns, path); !set) return set;
  }
  if (options.durable && ::FlushFileBuffers(file) == 0) {
    return io_error("flush", path, ::GetLastError());
  }
  return {};
}

}  // namespace

std::string_view describe(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kSymlink:
      return "a symbolic link or another reparse point";
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
  Handle dir;
  bool of_anyone = false;  // owners and access lists are not looked at; `owner` means nothing

  [[nodiscard]] HANDLE get() const { return dir.get(); }

  // Opens a name in the directory. What another has for itself is tried again: for 0.8 s to change
  // it, for 0.04 s to look at it, since there may be many to look at.
  [[nodiscard]] unsigned long open(std::string_view name, native::OpenAt what, Handle& out) const {
    const auto wide = widen(name);
    if (!wide || wide->empty()) return ERROR_INVALID_NAME;
    what.dir = get();
    what.name = *wide;
    const DWORD longest_ms = (what.access & DELETE) != 0 ? 40 : 8;
    native::Status status = native::open_at(what, out);
    for (DWORD ms = 1; status == native::kSharingViolation && ms <= longest_ms; ++ms) {
      ::Sleep(ms);
      status = native::open_at(what, out);
    }
    if (native::succeeded(status)) return ERROR_SUCCESS;
    // On its way out: it is gone once the last handle to it is closed.
    if (status == native::kDeletePending) return ERROR_FILE_NOT_FOUND;
    return native::to_win32(status);
  }
  [[nodiscard]] Status rename(std::string_view from, const PrivateDir& to_dir, std::string_view to,
                              bool replace) const;
  [[nodiscard]] Status remove(std::string_view name, const std::string& shown) const;
};

PrivateDir::PrivateDir(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateDir::PrivateDir(PrivateDir&&) noexcept = default;
PrivateDir& PrivateDir::operator=(PrivateDir&&) noexcept = default;
PrivateDir::~PrivateDir() = default;

Result<std::optional<PrivateDir>> PrivateDir::open(const std::string& path, std::uint64_t owner) {
  auto dir = open_dir(path, owner, Wide::kRefuse);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(
      PrivateDir(std::make_unique<Impl>(Impl{path, owner, std::move(**dir), false})));
}

Result<std::optional<PrivateDir>> PrivateDir::open_any(const std::string& path, Links links) {
  const auto native_path = native::long_path(absolute(path));
  if (!native_path) return tl::unexpected(native_path.error());
  const DWORD at_link = links == Links::kRefuse ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  Handle raw(::CreateFileW(native_path->c_str(), kListDir | SYNCHRONIZE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | at_link, nullptr));
  const unsigned long code = raw.valid() ? ERROR_SUCCESS : ::GetLastError();
  auto dir = checked(code, std::move(raw), path, 0, Wide::kAnyone);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(
      PrivateDir(std::make_unique<Impl>(Impl{path, 0, std::move(**dir), true})));
}

Result<PrivateDir> PrivateDir::make(const std::string& path, std::uint64_t owner) {
  if (is_root_path(path)) {
    return refuse_dir(path, "it is the root of a disk; choose a directory of your own");
  }
  auto dir = open_dir(path, owner, Wide::kAccept);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) {
    const auto native_path = native::long_path(path);
    if (!native_path) return tl::unexpected(native_path.error());
    if (auto made = make_parents(path); !made) return tl::unexpected(made.error());
    if (auto made = make_dir(*native_path, path); !made) return tl::unexpected(made.error());
    dir = open_dir(path, owner, Wide::kAccept);
    if (!dir) return tl::unexpected(dir.error());
    if (!*dir) return io_error("open the directory", path, ERROR_PATH_NOT_FOUND);
  }
  return PrivateDir(std::make_unique<Impl>(Impl{path, owner, std::move(**dir), false}));
}

Result<std::optional<PrivateDir>> PrivateDir::open_child(std::string_view name) const {
  std::string path = path_of(name);
  Handle raw;
  const bool any = impl_->of_anyone;
  const unsigned long code = impl_->open(name, {.access = any ? kListDir : kReadDir}, raw);
  auto dir = checked(code, std::move(raw), path, impl_->owner, any ? Wide::kAnyone : Wide::kRefuse);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<PrivateDir>();
  return std::optional<PrivateDir>(PrivateDir(std::make_unique<Impl>(
      Impl{std::move(path), impl_->owner, std::move(**dir), impl_->of_anyone})));
}

Result<PrivateDir> PrivateDir::make_child(std::string_view name) const {
  std::string path = path_of(name);
  const auto wide = widen(name);
  if (!wide) return tl::unexpected(wide.error());
  const auto ours = OwnerOnly::make(OwnerOnly::For::kDirectory);
  if (!ours) return tl::unexpected(ours.error());
  Handle raw;
  native::Status status = open_dir_at(impl_->get(), *wide, Wide::kAccept, raw);
  if (native::to_win32(status) == ERROR_FILE_NOT_FOUND) {
    status = native::open_at({.dir = impl_->get(),
                              .name = *wide,
                              .access = kReadDir | WRITE_DAC,
                              .how = native::How::kOpenOrCreate,
                              .options = native::kDirectoryFile,
                              .security = ours->descriptor()},
                             raw);
  }
  const unsigned long code = native::succeeded(status) ? ERROR_SUCCESS : native::to_win32(status);
  auto dir = checked(code, std::move(raw), path, impl_->owner, Wide::kAccept);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return io_error("open the directory", path, code);
  return PrivateDir(std::make_unique<Impl>(
      Impl{std::move(path), impl_->owner, std::move(**dir), impl_->of_anyone}));
}

Status PrivateDir::tighten() const {
  const auto access = read_access(impl_->get());
  if (!access) return wrap(text::for_terminal(path()), access.error());
  if (access->others.empty()) return {};
  const auto ours = OwnerOnly::make(OwnerOnly::For::kDirectory);
  if (!ours) return tl::unexpected(ours.error());
  // This folder alone: what is in it is checked where it is read.
  if (::SetKernelObjectSecurity(impl_->get(),
                                DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                                ours->descriptor()) == 0) {
    return io_error("make private", path(), ::GetLastError());
  }
  return {};
}

const std::string& PrivateDir::path() const { return impl_->path; }

std::string PrivateDir::path_of(std::string_view name) const {
  return join_path(impl_->path, name);
}

Status PrivateDir::each(const std::function<bool(const DirEntry&)>& visit) const {
  return list_dir(impl_->get(), path(), [&](const FILE_ID_BOTH_DIR_INFO& entry) {
    // Half of a surrogate pair is in no name of ours: such a name is only ever shown.
    const std::string name = narrow_lossy(name_of(entry));
    return visit({.name = name, .kind = kind_of(entry.FileAttributes)});
  });
}

Result<FileStamp> PrivateDir::stat(std::string_view name) const {
  Handle file;
  const std::string path = path_of(name);
  unsigned long code = impl_->open(name, {.access = FILE_READ_ATTRIBUTES | READ_CONTROL}, file);
  if (code == ERROR_ACCESS_DENIED) code = impl_->open(name, {.access = FILE_READ_ATTRIBUTES}, file);
  if (code != ERROR_SUCCESS) return io_error("look at", path, code);
  const auto wide = widen(name);
  if (wide && !native::has_exact_name(impl_->get(), *wide)) {
    return io_error("look at", path, ERROR_FILE_NOT_FOUND);
  }
  auto stamp = stamp_of(file.get(), path);
  if (!stamp) return stamp;
  if (const auto access = read_access(file.get())) stamp->owner = access->owner.number();
  return stamp;
}

Result<FileContent> PrivateDir::read(std::string_view name, std::size_t max_bytes,
                                     FileKind hint) const {
  const std::string path = path_of(name);
  const auto odd = [&](std::string_view what) {
    return fail(ErrorCode::kUnreadable, fmt::format("{} {}", text::for_terminal(path), what));
  };
  const auto odd_kind = [&](FileKind kind) {
    return odd(fmt::format("is {}, not a regular file", describe(kind)));
  };
  if (hint == FileKind::kUnknown) {
    const auto stamp = stat(name);
    if (!stamp) return odd_one(stamp.error());
    hint = stamp->kind;
  }
  if (hint != FileKind::kRegular) return odd_kind(hint);
  Handle file;
  const unsigned long code =
      impl_->open(name,
                  {.access = FILE_READ_DATA | FILE_READ_ATTRIBUTES | READ_CONTROL,
                   .options = native::kNonDirectoryFile | native::kOpenNoRecall},
                  file);
  if (code != ERROR_SUCCESS) return odd_one(io_error("open", path, code).value());
  auto stamp = stamp_of(file.get(), path);
  if (!stamp) return odd_one(std::move(stamp.error()));
  if (stamp->kind != FileKind::kRegular) return odd_kind(stamp->kind);
  const auto access = read_access(file.get());
  if (access) stamp->owner = access->owner.number();
  if (!impl_->of_anyone) {
    if (!access) return odd(fmt::format("is not read: {}", access.error().message));
    if (!is_owned_as_expected(*access, impl_->owner)) {
      return odd(fmt::format("is not read: it belongs to {}", account_name(access->owner)));
    }
    if (const std::string who = other_with(*access, kWriteRights); !who.empty()) {
      return odd(fmt::format("is not read: {} may write to it", who));
    }
  }
  const auto too_large = [&] {
    return fail(ErrorCode::kTooLarge,
                fmt::format("{} is larger than {} bytes", text::for_terminal(path), max_bytes));
  };
  if (stamp->size > max_bytes) return too_large();
  auto bytes = read_all(file.get(), static_cast<std::size_t>(stamp->size), max_bytes, path);
  if (!bytes) return tl::unexpected(bytes.error());
  if (bytes->size() > max_bytes) return too_large();
  return FileContent{*stamp, std::move(*bytes)};
}

Result<FileContent> PrivateDir::read_part(std::string_view name, std::uint64_t offset,
                                          std::size_t most) const {
  const std::string path = path_of(name);
  Handle file;
  const unsigned long code =
      impl_->open(name,
                  {.access = FILE_READ_DATA | FILE_READ_ATTRIBUTES | READ_CONTROL,
                   .options = native::kNonDirectoryFile | native::kOpenNoRecall},
                  file);
  if (code != ERROR_SUCCESS) return odd_one(io_error("open", path, code).value());
  const auto stamp = stamp_of(file.get(), path);
  if (!stamp) return odd_one(stamp.error());
  FileContent content{*stamp, {}};
  if (content.stamp.kind != FileKind::kRegular) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("{} is {}, not a regular file", text::for_terminal(path),
                            describe(content.stamp.kind)));
  }
  if (offset >= content.stamp.size) return content;
  LARGE_INTEGER at{};
  at.QuadPart = static_cast<LONGLONG>(offset);
  if (::SetFilePointerEx(file.get(), at, nullptr, FILE_BEGIN) == 0) {
    return io_error("read", path, ::GetLastError());
  }
  const auto size = static_cast<std::size_t>(
      std::min<std::uint64_t>(content.stamp.size - offset, static_cast<std::uint64_t>(most)));
  auto bytes = read_all(file.get(), size, size, path);
  if (!bytes) return tl::unexpected(bytes.error());
  bytes->resize(std::min(bytes->size(), size));
  content.bytes = std::move(*bytes);
  return content;
}

Result<PrivateDir::Appended> PrivateDir::append_lines(std::string_view name,
                                                      std::string_view lines) const {
  const std::string path = path_of(name);
  const auto ours = OwnerOnly::make();
  if (!ours) return tl::unexpected(ours.error());
  Handle file;
  const unsigned long code =
      impl_->open(name,
                  {.access = FILE_READ_DATA | FILE_WRITE_DATA | FILE_READ_ATTRIBUTES,
                   .how = native::How::kOpenOrCreate,
                   .options = native::kNonDirectoryFile,
                   .security = ours->descriptor()},
                  file);
  if (code != ERROR_SUCCESS) return io_error("open", path, code);
  const auto stamp = stamp_of(file.get(), path);
  if (!stamp) return tl::unexpected(stamp.error());
  if (stamp->kind != FileKind::kRegular) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("{} is {}, not a regular file", text::for_terminal(path),
                            describe(stamp->kind)));
  }
  const auto seek = [&](std::uint64_t to) {
    LARGE_INTEGER at{};
    at.QuadPart = static_cast<LONGLONG>(to);
    return ::SetFilePointerEx(file.get(), at, nullptr, FILE_BEGIN) != 0;
  };
  bool whole = true;
  if (stamp->size > 0) {
    if (!seek(stamp->size - 1)) return io_error("read", path, ::GetLastError());
    const auto last = read_all(file.get(), 1, 1, path);
    if (!last) return tl::unexpected(last.error());
    whole = *last == "\n";
  }
  if (!seek(stamp->size)) return io_error("write", path, ::GetLastError());
  if (!whole) {
    if (auto mended = write_all(file.get(), "\n", path); !mended) {
      return tl::unexpected(mended.error());
    }
  }
  Appended done;
  done.begin = stamp->size + (whole ? 0 : 1);
  done.end = done.begin + lines.size();
  done.failure = write_all(file.get(), lines, path);
  if (done.failure) return done;
  // Nothing of a batch that did not fit: how much of it was written is not said here.
  done.end = done.begin;
  if (seek(done.end)) static_cast<void>(::SetEndOfFile(file.get()));
  return done;
}

Result<FileStamp> PrivateDir::create(std::string_view name, std::string_view bytes,
                                     const CreateOptions& options) const {
  const std::string path = path_of(name);
  const auto ours = OwnerOnly::make();
  if (!ours) return tl::unexpected(ours.error());
  Handle file;
  const unsigned long code = impl_->open(
      name,
      {.access = FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES | FILE_READ_ATTRIBUTES | DELETE,
       .how = native::How::kCreate,
       .options = native::kNonDirectoryFile,
       .security = options.readable ? nullptr : ours->descriptor()},
      file);
  if (code != ERROR_SUCCESS) return io_error("create", path, code);
  auto filled = fill(file.get(), bytes, path, options);
  if (!filled) {
    static_cast<void>(native::remove(file.get()));
    return tl::unexpected(filled.error());
  }
  if (!file.close()) {
    const unsigned long late = ::GetLastError();
    static_cast<void>(remove(name));
    return io_error("close", path, late);
  }
  // Looked at once it is closed: the times that a handle leaves are final only then.
  auto stamp = stat(name);
  if (!stamp) static_cast<void>(remove(name));
  return stamp;
}

Status PrivateDir::Impl::rename(std::string_view from, const PrivateDir& to_dir,
                                std::string_view to, bool replace) const {
  const std::string shown = to_dir.path_of(to);
  const auto wide = widen(to);
  if (!wide) return tl::unexpected(wide.error());
  Handle file;
  // Written through: the rename has reached the disk when the call returns.
  const unsigned long code =
      open(from, {.access = DELETE | FILE_READ_ATTRIBUTES, .options = native::kWriteThrough}, file);
  if (code != ERROR_SUCCESS) return io_error("rename a file to", shown, code);
  const native::Status status = native::while_busy(
      [&] { return native::rename(file.get(), to_dir.impl_->get(), *wide, replace); });
  if (!native::succeeded(status)) {
    return io_error("rename a file to", shown, native::to_win32(status));
  }
  return {};
}

Status PrivateDir::rename_over(std::string_view from, const PrivateDir& to_dir,
                               std::string_view to) const {
  const auto there = to_dir.stat(to);
  if (there && there->kind == FileKind::kDirectory) {
    return io_error("rename a file to", to_dir.path_of(to), ERROR_DIRECTORY);
  }
  // A link to a folder is not replaced by a file in one step; what it points at stays.
  if (there && there->kind == FileKind::kSymlink) static_cast<void>(to_dir.remove(to));
  return impl_->rename(from, to_dir, to, true);
}

Status PrivateDir::rename_new(std::string_view from, const PrivateDir& to_dir,
                              std::string_view to) const {
  return impl_->rename(from, to_dir, to, false);
}

// No file system here swaps two names in one step.
Status PrivateDir::exchange(std::string_view a, std::string_view b) const {
  static_cast<void>(a);
  return fail(ErrorCode::kUnsupported,
              fmt::format("Windows cannot swap two names ({})", text::for_terminal(path_of(b))));
}

Status PrivateDir::Impl::remove(std::string_view name, const std::string& shown) const {
  Handle file;
  const unsigned long code = open(name, {.access = DELETE | FILE_READ_ATTRIBUTES}, file);
  if (code != ERROR_SUCCESS) return io_error("remove", shown, code);
  FILE_BASIC_INFO basic{};
  if (!query(file.get(), FileBasicInfo, basic)) return io_error("remove", shown, ::GetLastError());
  if (kind_of(basic.FileAttributes) == FileKind::kDirectory) {
    return io_error("remove", shown, ERROR_DIRECTORY);
  }
  const native::Status status = native::while_busy([&] { return native::remove(file.get()); });
  if (!native::succeeded(status)) return io_error("remove", shown, native::to_win32(status));
  return {};
}

Status PrivateDir::remove(std::string_view name) const {
  return impl_->remove(name, path_of(name));
}

Status PrivateDir::remove_tree(std::string_view name, const FileStamp& expected) const {
  const std::string path = path_of(name);
  Handle dir;
  const unsigned long code = impl_->open(name, {.access = kReadDir | DELETE}, dir);
  if (code != ERROR_SUCCESS) return io_error("open the directory", path, code);
  const auto stamp = stamp_of(dir.get(), path);
  if (!stamp) return tl::unexpected(stamp.error());
  if (stamp->kind != FileKind::kDirectory) {
    return io_error("open the directory", path, ERROR_DIRECTORY);
  }
  if (stamp->device != expected.device || stamp->inode != expected.inode) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is another one by now", text::for_terminal(path)));
  }
  return remove_tree_of(dir.get(), path);
}

// Renames are written through, one by one (rename()); of removals nothing is lost but the removal.
Status PrivateDir::sync() const { return {}; }

Result<FileLock> PrivateDir::lock(std::string_view name, const Clock& clock,
                                  std::int64_t deadline_ns, const CancelToken& cancel) const {
  const auto wide = widen(name);
  if (!wide) return tl::unexpected(wide.error());
  auto taken = take_file_lock(impl_->get(), *wide, path_of(name), clock, deadline_ns, cancel);
  if (!taken) return tl::unexpected(taken.error());
  return FileLock(reinterpret_cast<std::intptr_t>(taken->release()));
}

std::uint64_t current_owner() {
  constexpr std::uint64_t kNobody = ~std::uint64_t{0};  // above every number of a SID
  const auto user = current_user();
  return user ? user->number() : kNobody;
}

}  // namespace rollcall::core
