#include "core/native_windows.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core::native {
namespace {

// Documented under NtCreateFile, NtSetInformationFile and FILE_RENAME_INFORMATION; declared here
// because the headers of the compilers differ.
struct UnicodeString {
  USHORT length;  // bytes
  USHORT maximum_length;
  const wchar_t* buffer;
};
struct ObjectAttributes {
  ULONG length;
  HANDLE root_directory;
  const UnicodeString* object_name;
  ULONG attributes;
  PSECURITY_DESCRIPTOR security_descriptor;
  void* security_quality_of_service;
};
struct IoStatusBlock {
  union {
    Status status;
    void* pointer;
  };
  ULONG_PTR information;
};
struct RenameInformation {
  ULONG flags;  // in the older class a BOOLEAN: whether to replace
  HANDLE root_directory;
  ULONG file_name_length;  // bytes
  wchar_t file_name[1];
};

struct NamesInformation {
  ULONG next_entry_offset;
  ULONG file_index;
  ULONG file_name_length;  // bytes
  wchar_t file_name[256];
};

constexpr ULONG kCaseInsensitive = 0x40;
constexpr int kRenameClass = 10;
constexpr int kNamesClass = 12;
constexpr int kDispositionClass = 13;
constexpr int kDispositionExClass = 64;
constexpr int kRenameExClass = 65;

constexpr ULONG kRenameReplace = 0x1;
constexpr ULONG kRenamePosix = 0x2;
constexpr ULONG kRenameIgnoreReadOnly = 0x40;
constexpr ULONG kDelete = 0x1;
constexpr ULONG kDeletePosix = 0x2;
constexpr ULONG kDeleteIgnoreReadOnly = 0x10;

extern "C" {
__declspec(dllimport) Status NTAPI
    NtCreateFile(HANDLE* file, ACCESS_MASK access, const ObjectAttributes* attributes,
                 IoStatusBlock* io, LARGE_INTEGER* size, ULONG file_attributes, ULONG share,
                 ULONG disposition, ULONG options, void* ea, ULONG ea_size);
__declspec(dllimport) Status NTAPI
    NtSetInformationFile(HANDLE file, IoStatusBlock* io, void* information, ULONG size,
                         int information_class);
__declspec(dllimport) Status NTAPI
    NtQueryDirectoryFile(HANDLE dir, HANDLE event, void* apc, void* apc_context, IoStatusBlock* io,
                         void* information, ULONG size, int information_class, BOOLEAN single,
                         const UnicodeString* name, BOOLEAN restart);
__declspec(dllimport) ULONG NTAPI RtlNtStatusToDosError(Status status);
}

// Whether this version of the system, or this file system, does not know a newer kind of request.
bool is_unknown_request(Status status) {
  switch (static_cast<std::uint32_t>(status)) {
    case 0xC000'0002:  // not implemented
    case 0xC000'0003:  // invalid info class
    case 0xC000'000D:  // invalid parameter
    case 0xC000'0010:  // invalid device request
    case 0xC000'00BB:  // not supported
      return true;
    default:
      return false;
  }
}

UnicodeString unicode(std::wstring_view name) {
  const auto bytes = static_cast<USHORT>(name.size() * sizeof(wchar_t));
  return {bytes, bytes, name.data()};
}

// ':' would name another stream of a file, '\\' a file in another folder; the rest stand for
// others in a pattern.
bool is_single_name(std::wstring_view name) {
  constexpr std::size_t kLongest = 255;
  return name.size() <= kLongest && name != L"." && name != L".." &&
         name.find_first_of(std::wstring_view(L"\\/:*?<>|\"\0", 10)) == std::wstring_view::npos;
}

Status set_rename(HANDLE file, HANDLE dir, std::wstring_view name, ULONG flags, int kind) {
  const std::size_t bytes = name.size() * sizeof(wchar_t);
  std::vector<std::byte> buffer(sizeof(RenameInformation) + bytes);
  auto* const information = reinterpret_cast<RenameInformation*>(buffer.data());
  information->flags = flags;
  information->root_directory = dir;
  information->file_name_length = static_cast<ULONG>(bytes);
  std::memcpy(buffer.data() + offsetof(RenameInformation, file_name), name.data(), bytes);
  IoStatusBlock io{};
  return NtSetInformationFile(file, &io, information, static_cast<ULONG>(buffer.size()), kind);
}

}  // namespace

unsigned long to_win32(Status status) { return RtlNtStatusToDosError(status); }

Status open_at(const OpenAt& what, Handle& out) {
  if (!is_single_name(what.name)) return kObjectNameInvalid;
  const UnicodeString name = unicode(what.name);
  const ObjectAttributes attributes = {sizeof(ObjectAttributes), what.dir,      &name,
                                       kCaseInsensitive,         what.security, nullptr};
  IoStatusBlock io{};
  HANDLE handle = nullptr;
  const Status status = NtCreateFile(&handle, what.access | SYNCHRONIZE, &attributes, &io, nullptr,
                                     FILE_ATTRIBUTE_NORMAL | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED,
                                     what.share, static_cast<ULONG>(what.how),
                                     what.options | kSynchronous | kOpenReparsePoint, nullptr, 0);
  if (succeeded(status)) out = Handle(handle);
  return status;
}

bool has_exact_name(HANDLE dir, std::wstring_view name) {
  Handle again;  // a handle of its own, since one remembers how far it was read
  if (!succeeded(open_at({.dir = dir, .name = {}, .access = FILE_LIST_DIRECTORY}, again))) {
    return true;
  }
  NamesInformation entry{};
  IoStatusBlock io{};
  const UnicodeString wanted = unicode(name);
  const Status status = NtQueryDirectoryFile(again.get(), nullptr, nullptr, nullptr, &io, &entry,
                                             sizeof entry, kNamesClass, TRUE, &wanted, TRUE);
  if (!succeeded(status)) return true;
  return std::wstring_view(entry.file_name, entry.file_name_length / sizeof(wchar_t)) == name;
}

Status rename(HANDLE file, HANDLE dir, std::wstring_view name, bool replace) {
  if (name.empty() || !is_single_name(name)) return kObjectNameInvalid;
  if (replace) {
    const Status status = set_rename(
        file, dir, name, kRenameReplace | kRenamePosix | kRenameIgnoreReadOnly, kRenameExClass);
    if (!is_unknown_request(status)) return status;
  }
  return set_rename(file, dir, name, replace ? 1 : 0, kRenameClass);
}

Status remove(HANDLE file) {
  IoStatusBlock io{};
  ULONG flags = kDelete | kDeletePosix | kDeleteIgnoreReadOnly;
  const Status status = NtSetInformationFile(file, &io, &flags, sizeof flags, kDispositionExClass);
  if (!is_unknown_request(status)) return status;
  BOOLEAN gone = TRUE;
  return NtSetInformationFile(file, &io, &gone, sizeof gone, kDispositionClass);
}

bool is_busy(Status status) {
  return status == kSharingViolation || status == kAccessDenied || status == kDeletePending ||
         status == kCannotDelete;
}

Result<std::wstring> long_path(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid,
                fmt::format("'{}' is no path to use: {}", text::for_terminal(path), why));
  };
  if (path.find('\0') != std::string_view::npos) return refuse("it holds a zero byte");
  if (!is_absolute_path(path)) return refuse("it is not absolute");
  const auto wide = widen(path);
  if (!wide) return tl::unexpected(wide.error());
  std::wstring full(wide->size() + 2, L'\0');
  const DWORD size =
      ::GetFullPathNameW(wide->c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  if (size == 0) return refuse(error_text(::GetLastError()));
  if (size >= full.size()) {
    full.resize(size);
    const DWORD again = ::GetFullPathNameW(wide->c_str(), size, full.data(), nullptr);
    if (again == 0 || again >= size) return refuse("its current directory moves");
    full.resize(again);
  } else {
    full.resize(size);
  }
  if (full.starts_with(L"\\\\?\\")) return full;
  if (full.starts_with(L"\\\\.\\")) return refuse("it names a device");
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
  return L"\\\\?\\" + full;
}

}  // namespace rollcall::core::native
