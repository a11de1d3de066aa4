#include <windows.h>

#include <string_view>

#include "core/handle_windows.hpp"
#include "core/native_windows.hpp"
#include "core/text_windows.hpp"
#include "receipts/receipt_rules.hpp"

namespace rollcall::receipts {
namespace {

constexpr DWORD kLongestPath = 32'768;  // in units, as long as Windows makes paths

// Below the current directory, where it is not absolute. Empty: it cannot be told.
std::string absolute(const std::wstring& path) {
  std::wstring full(kLongestPath, L'\0');
  const DWORD size = ::GetFullPathNameW(path.c_str(), kLongestPath, full.data(), nullptr);
  if (size == 0 || size >= kLongestPath) return {};
  full.resize(size);
  return core::narrow(full).value_or("");
}

// "\\?\C:\x" and "\\?\UNC\server\share" as they are written elsewhere.
std::wstring without_prefix(std::wstring path) {
  constexpr std::wstring_view kUnc = L"\\\\?\\UNC\\";
  constexpr std::wstring_view kLiteral = L"\\\\?\\";
  if (path.starts_with(kUnc)) return L"\\\\" + path.substr(kUnc.size());
  return path.starts_with(kLiteral) ? path.substr(kLiteral.size()) : path;
}

}  // namespace

// In the letters' case of the disk, so that a folder has one name.
std::string canonical_workspace(const std::string& workspace) {
  if (workspace.find('\0') != std::string::npos) return workspace;
  const auto wide = core::widen(workspace);
  const auto path = core::native::long_path(wide ? absolute(*wide) : std::string());
  if (!path) return workspace;
  const core::Handle folder(::CreateFileW(
      path->c_str(), FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!folder.valid()) return workspace;
  std::wstring final_path(kLongestPath, L'\0');
  const DWORD size = ::GetFinalPathNameByHandleW(folder.get(), final_path.data(), kLongestPath,
                                                 FILE_NAME_NORMALIZED);
  if (size == 0 || size >= kLongestPath) return workspace;
  final_path.resize(size);
  return core::narrow(without_prefix(std::move(final_path))).value_or(workspace);
}

}  // namespace rollcall::receipts
