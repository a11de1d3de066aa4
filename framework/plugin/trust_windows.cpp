#include <windows.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/handle_windows.hpp"
#include "core/security_windows.hpp"
#include "core/text_windows.hpp"
#include "plugin/file_path.hpp"
#include "plugin/trust.hpp"

namespace rollcall::loader {
namespace {

using core::Handle;

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr DWORD kNoLinks = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
constexpr std::wstring_view kLiteral = L"\\\\?\\";
constexpr std::wstring_view kLiteralUnc = L"\\\\?\\UNC\\";

tl::unexpected<Error> io_error(std::string message, DWORD code) {
  ErrorCode kind = ErrorCode::kIo;
  if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME) {
    kind = ErrorCode::kNotFound;
  } else if (code == ERROR_ACCESS_DENIED) {
    kind = ErrorCode::kDenied;
  }
  return fail(kind, fmt::format("{}: {}", message, core::error_text(code)), code);
}

tl::unexpected<Error> denied(std::string message) {
  return fail(ErrorCode::kDenied, std::move(message));
}

// By its literal path, which no name of a device, no trailing dot and no forward slash changes.
Result<Handle> open_literal(const std::string& path, DWORD access, DWORD share,
                            std::string_view what) {
  const auto wide = core::widen(path);
  if (!wide) return wrap(fmt::format("cannot open {} {}", what, path), wide.error());
  Handle handle(::CreateFileW((std::wstring(kLiteral) + *wide).c_str(), access, share, nullptr,
                              OPEN_EXISTING, kNoLinks, nullptr));
  if (!handle.valid()) {
    return io_error(fmt::format("cannot open {} {}", what, path), ::GetLastError());
  }
  return handle;
}

struct Looks {
  DWORD attributes = 0;
  DWORD tag = 0;  // of a reparse point
  DWORD volume = 0;
  std::uint64_t file = 0;  // with `volume`: which one it is
};

Result<Looks> look_at(const Handle& handle, const std::string& path) {
  BY_HANDLE_FILE_INFORMATION info{};
  if (::GetFileInformationByHandle(handle.get(), &info) == 0) {
    return io_error(fmt::format("cannot look at {}", path), ::GetLastError());
  }
  Looks looks{info.dwFileAttributes, 0, info.dwVolumeSerialNumber,
              (std::uint64_t{info.nFileIndexHigh} << 32U) | info.nFileIndexLow};
  FILE_ATTRIBUTE_TAG_INFO tag{};
  if ((looks.attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
      ::GetFileInformationByHandleEx(handle.get(), FileAttributeTagInfo, &tag, sizeof(tag)) != 0) {
    looks.tag = tag.ReparseTag;
  }
  return looks;
}

bool is_folder(const Looks& looks) { return (looks.attributes & FILE_ATTRIBUTE_DIRECTORY) != 0; }
bool is_reparse_point(const Looks& looks) {
  return (looks.attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

std::string kind_of(const Looks& looks) {
  if (looks.tag == IO_REPARSE_TAG_SYMLINK) return "a symbolic link";
  if (looks.tag == IO_REPARSE_TAG_MOUNT_POINT) return "a junction";
  if (is_reparse_point(looks)) return fmt::format("a reparse point (tag {:#x})", looks.tag);
  return is_folder(looks) ? "a folder" : "a device";
}

// Who else has one of the rights, and the command that takes it away; empty: nobody.
std::string write_fault(const core::Access& access, ACCESS_MASK rights, const std::string& path) {
  for (const core::Grant& grant : access.others) {
    if (grant.only_below || (grant.rights & rights) == 0) continue;
    const std::string mend =
        grant.sid.empty()
            ? fmt::format("run: icacls \"{}\" /reset", path)
            : fmt::format("run: icacls \"{}\" /inheritance:d /remove:g *{}", path, grant.sid);
    return fmt::format("is writable by {} (rights {:#x}); {}", grant.who, grant.rights, mend);
  }
  return {};
}

// Of an object opened with READ_CONTROL. `named`: "the folder C:\x".
Status check_access(const Handle& handle, const std::string& named, const std::string& path,
                    ACCESS_MASK rights) {
  const auto access = core::read_access(handle.get());
  if (!access) return wrap(fmt::format("{} cannot be trusted", named), access.error());
  if (access->owned_by == core::OwnedBy::kOther) {
    return denied(
        fmt::format("{} belongs to {}, who is neither the current user nor the system "
                    "(SYSTEM, Administrators, TrustedInstaller)",
                    named, core::account_name(access->owner)));
  }
  if (const std::string fault = write_fault(*access, rights, path); !fault.empty()) {
    return denied(fmt::format("{} {}", named, fault));
  }
  return {};
}

// One folder on the way. `last`: it holds the plugins itself, and nobody else may add to it.
Status check_folder(const std::string& path, bool last, const TrustRules& rules) {
  const std::string named = fmt::format("the folder {}", path);
  const auto handle =
      open_literal(path, FILE_READ_ATTRIBUTES | READ_CONTROL, kShareAll, "the folder");
  if (!handle) return tl::unexpected<Error>(handle.error());
  const auto looks = look_at(*handle, named);
  if (!looks) return tl::unexpected<Error>(looks.error());
  if (is_reparse_point(*looks) || !is_folder(*looks)) {
    return denied(fmt::format("{} is {} and no folder of its own", named, kind_of(*looks)));
  }
  if (rules.accept_untrusted) return {};
  return check_access(*handle, named, path, last ? core::kWriteRights : core::kExchangeRights);
}

// Where a path leads, links resolved, without the literal prefix. Errors: kNotFound, kDenied
// (another machine's), kIo.
Result<std::string> final_path(const std::string& path) {
  const auto wide = core::widen(path);
  if (!wide) return tl::unexpected<Error>(wide.error());
  const Handle handle(::CreateFileW(wide->c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  const std::string cannot = fmt::format("cannot find the folder {}", path);
  if (!handle.valid()) return io_error(cannot, ::GetLastError());
  std::wstring resolved(32768, L'\0');
  const DWORD size = ::GetFinalPathNameByHandleW(
      handle.get(), resolved.data(), static_cast<DWORD>(resolved.size()), FILE_NAME_NORMALIZED);
  if (size == 0 || size >= resolved.size()) return io_error(cannot, ::GetLastError());
  resolved.resize(size);
  if (std::wstring_view(resolved).substr(0, kLiteralUnc.size()) == kLiteralUnc) {
    return denied(
        fmt::format("the folder {} lies on another machine: put the plugin onto a disk "
                    "of this one",
                    path));
  }
  std::wstring_view rest = resolved;
  if (rest.substr(0, kLiteral.size()) == kLiteral) rest.remove_prefix(kLiteral.size());
  auto narrow = core::narrow(rest);
  if (narrow && !is_absolute_path(*narrow)) {
    return fail(ErrorCode::kIo, fmt::format("{}: {} has no drive letter", cannot, *narrow));
  }
  return narrow;
}

bool is_file_name(std::string_view name) {
  constexpr std::string_view kForbidden = "\\/:*?\"<>|";
  return !name.empty() && name.back() != '.' && name.back() != ' ' &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && kForbidden.find(c) == kForbidden.npos;
         });
}

struct FindCloser {
  HANDLE handle;
  explicit FindCloser(HANDLE found) : handle(found) {}
  FindCloser(const FindCloser&) = delete;
  FindCloser& operator=(const FindCloser&) = delete;
  ~FindCloser() { ::FindClose(handle); }
};

// In byte order. A name that is no text is listed as it can be shown, and cannot be opened.
Result<std::vector<std::string>> names_in(const std::string& path) {
  const std::string cannot = fmt::format("cannot read the folder {}", path);
  const auto wide = core::widen(join_path(path, "*"));
  if (!wide) return wrap(cannot, wide.error());
  WIN32_FIND_DATAW entry{};
  const HANDLE handle =
      ::FindFirstFileExW((std::wstring(kLiteral) + *wide).c_str(), FindExInfoBasic, &entry,
                         FindExSearchNameMatch, nullptr, FIND_FIRST_EX_LARGE_FETCH);
  if (handle == INVALID_HANDLE_VALUE) return io_error(cannot, ::GetLastError());
  const FindCloser closer(handle);
  std::vector<std::string> names;
  do {
    std::string name = core::narrow_lossy(entry.cFileName);
    if (name != "." && name != "..") names.push_back(std::move(name));
  } while (::FindNextFileW(handle, &entry) != 0);
  const DWORD code = ::GetLastError();
  if (code != ERROR_NO_MORE_FILES) return io_error(cannot, code);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

struct TrustedFile::State {
  std::string path;
  Handle handle;
  Looks looks;
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
    OVERLAPPED at{};  // from this place on, whatever was read before
    at.Offset = static_cast<DWORD>(size);
    DWORD got = 0;
    const auto room = static_cast<DWORD>(std::min<std::size_t>(bytes.size() - size, 1U << 20U));
    if (::ReadFile(state_->handle.get(), bytes.data() + size, room, &got, &at) == 0) {
      const DWORD code = ::GetLastError();
      if (code == ERROR_HANDLE_EOF) break;
      return io_error(fmt::format("cannot read {}", state_->path), code);
    }
    if (got == 0) break;
    size += got;
  }
  if (size > limit) {
    return fail(ErrorCode::kTooLarge,
                fmt::format("{} has more than {} bytes", state_->path, limit));
  }
  bytes.resize(size);
  return bytes;
}

Status TrustedFile::still_there() const {
  const auto handle = open_literal(state_->path, FILE_READ_ATTRIBUTES, kShareAll, "the file");
  if (handle) {
    const auto now = look_at(*handle, state_->path);
    if (now && now->volume == state_->looks.volume && now->file == state_->looks.file) return {};
  }
  return denied(fmt::format("{} was exchanged while it was being loaded; try again", state_->path));
}

struct TrustedFolder::State {
  std::string path;
  TrustRules rules;
};

TrustedFolder::TrustedFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrustedFolder::TrustedFolder(TrustedFolder&&) noexcept = default;
TrustedFolder& TrustedFolder::operator=(TrustedFolder&&) noexcept = default;
TrustedFolder::~TrustedFolder() = default;

const std::string& TrustedFolder::path() const { return state_->path; }

Result<TrustedFolder> TrustedFolder::open(const std::string& path, const TrustRules& rules) {
  if (!is_absolute_path(path)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" is a relative path or another machine's: name plugins by "
                            "absolute paths with a drive, since a relative one means another file "
                            "in another working directory",
                            path));
  }
  const auto resolved = final_path(path);
  if (!resolved) return tl::unexpected<Error>(resolved.error());
  std::size_t end = 3;  // behind "C:\"
  for (;;) {
    const bool last = end >= resolved->size();
    if (Status ok = check_folder(resolved->substr(0, end), last, rules); !ok) {
      return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (last) break;
    end = std::min(resolved->find('\\', end + 1), resolved->size());
  }
  auto state = std::make_unique<State>();
  state->path = *resolved;
  state->rules = rules;
  return TrustedFolder(std::move(state));
}

Result<std::vector<std::string>> TrustedFolder::list() const { return names_in(state_->path); }

Result<TrustedFile> TrustedFolder::open_file(std::string_view name) const {
  if (!is_file_name(name)) {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no file name", name));
  }
  auto state = std::make_unique<TrustedFile::State>();
  state->path = join_path(state_->path, name);
  // Looked at before it is opened for reading, which can act on what is no file. While it is held
  // nobody writes to it and nobody moves it away.
  const auto before =
      open_literal(state->path, FILE_READ_ATTRIBUTES | READ_CONTROL, kShareAll, "the file");
  if (!before) {
    if (before.error().code != ErrorCode::kNotFound) return tl::unexpected<Error>(before.error());
    return io_error(fmt::format("cannot find {}", state->path), ERROR_FILE_NOT_FOUND);
  }
  const auto looks = look_at(*before, state->path);
  if (!looks) return tl::unexpected<Error>(looks.error());
  if (is_folder(*looks) || is_reparse_point(*looks) ||
      ::GetFileType(before->get()) != FILE_TYPE_DISK) {
    return denied(fmt::format("{} is {} and no regular file: a plugin is named by its own path",
                              state->path, kind_of(*looks)));
  }
  auto held = open_literal(state->path, GENERIC_READ, FILE_SHARE_READ, "the file");
  if (!held) return tl::unexpected<Error>(std::move(held.error()));
  const auto held_looks = look_at(*held, state->path);
  if (!held_looks) return tl::unexpected<Error>(held_looks.error());
  if (held_looks->volume != looks->volume || held_looks->file != looks->file) {
    return denied(fmt::format("{} was exchanged while it was being opened", state->path));
  }
  state->handle = std::move(*held);
  state->looks = *held_looks;
  if (!state_->rules.accept_untrusted) {
    Status ok = check_access(state->handle, state->path, state->path, core::kWriteRights);
    if (!ok) return tl::unexpected<Error>(std::move(ok.error()));
  }
  return TrustedFile(std::move(state));
}

std::vector<std::string> peek_names(const std::string& path) {
  const auto resolved = final_path(path);
  if (!resolved) return {};
  return names_in(*resolved).value_or(std::vector<std::string>());
}

std::string canonical_folder(const std::string& path) { return final_path(path).value_or(""); }

}  // namespace rollcall::loader
