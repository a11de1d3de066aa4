#include "core/list_dir_windows.hpp"

#include <cstddef>
#include <memory>

#include <fmt/format.h>

#include "core/native_windows.hpp"
#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

constexpr DWORD kBufferBytes = DWORD{64} << 10;

using Visit = std::function<bool(const FILE_ID_BOTH_DIR_INFO&)>;

// The entries of one buffer; false: `visit` wants no more.
bool visit_entries(const std::byte* at, const Visit& visit) {
  while (true) {
    const auto* entry = reinterpret_cast<const FILE_ID_BOTH_DIR_INFO*>(at);
    const std::wstring_view name = name_of(*entry);
    if (name != L"." && name != L".." && !visit(*entry)) return false;
    if (entry->NextEntryOffset == 0) return true;
    at += entry->NextEntryOffset;
  }
}

tl::unexpected<Error> cannot_read(const std::string& path, unsigned long code) {
  return fail(
      ErrorCode::kIo,
      fmt::format("cannot read the directory {}: {}", text::for_terminal(path), error_text(code)),
      code);
}

}  // namespace

Status list_dir(HANDLE dir, const std::string& path, const Visit& visit) {
  Handle again;
  const native::Status status = native::open_at(
      {.dir = dir, .name = {}, .access = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES}, again);
  if (!native::succeeded(status)) return cannot_read(path, native::to_win32(status));
  const std::unique_ptr<std::byte[]> buffer(new std::byte[kBufferBytes]);
  FILE_INFO_BY_HANDLE_CLASS kind = FileIdBothDirectoryRestartInfo;
  while (true) {
    if (::GetFileInformationByHandleEx(again.get(), kind, buffer.get(), kBufferBytes) == 0) {
      const unsigned long code = ::GetLastError();
      if (code == ERROR_NO_MORE_FILES || code == ERROR_FILE_NOT_FOUND) return {};
      return cannot_read(path, code);
    }
    if (!visit_entries(buffer.get(), visit)) return {};
    kind = FileIdBothDirectoryInfo;
  }
}

}  // namespace rollcall::core
