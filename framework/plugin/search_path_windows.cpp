#include "plugin/search_path.hpp"

#include <windows.h>

#include "core/handle_windows.hpp"
#include "core/text_windows.hpp"
#include "plugin/file_path.hpp"

namespace rollcall::loader {
namespace {

constexpr DWORD kLongestPath = 32768;  // in units, as long as Windows makes paths

struct ModuleFolder {
  std::string path;   // empty: it could not be told
  std::string fault;  // why
};

ModuleFolder folder_of_module(HMODULE module) {
  std::wstring path(kLongestPath, L'\0');
  const DWORD size = ::GetModuleFileNameW(module, path.data(), kLongestPath);
  if (size == 0 || size >= kLongestPath) return {{}, core::error_text(::GetLastError())};
  const auto narrow = core::narrow(std::wstring_view(path).substr(0, size));
  if (!narrow) return {{}, "its path is no text"};
  if (!is_absolute_path(*narrow)) return {{}, *narrow + " has no drive letter"};
  return {folder_of(*narrow), {}};
}

HMODULE own_module() {
  HMODULE module = nullptr;
  ::GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<LPCWSTR>(&read_surroundings), &module);
  return module;
}

// Whether this process was given more rights than the user's other processes have, any of which
// may have set its environment. A failed question counts as yes.
bool is_elevated() {
  HANDLE raw = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &raw) == 0) return true;
  const core::Handle token(raw);
  TOKEN_ELEVATION_TYPE type = TokenElevationTypeDefault;
  DWORD size = 0;
  if (::GetTokenInformation(token.get(), TokenElevationType, &type, sizeof(type), &size) == 0) {
    return true;
  }
  return type == TokenElevationTypeFull;
}

std::string environment_path() {
  constexpr const wchar_t* kName = L"ROLLCALL_PLUGIN_PATH";
  std::wstring value(kLongestPath, L'\0');
  const DWORD size = ::GetEnvironmentVariableW(kName, value.data(), kLongestPath);
  if (size == 0 || size >= kLongestPath || is_elevated()) return {};
  return core::narrow(std::wstring_view(value).substr(0, size)).value_or("");
}

}  // namespace

Surroundings read_surroundings() {
  Surroundings around;
  around.environment_path = environment_path();
  const ModuleFolder program = folder_of_module(nullptr);
  around.program_folder = program.path;
  if (program.path.empty()) {
    around.program_fault = "this program's own folder could not be told (" + program.fault +
                           "), so ..\\lib\\rollcall\\plugins from it was not looked in";
  }
  const HMODULE module = own_module();
  if (module == nullptr || module == ::GetModuleHandleW(nullptr)) return around;
  // Of an installation, whose libraries stand in bin; or beside a host that brings its own.
  around.library_folder = folder_of_module(module).path;
  if (around.library_folder.empty()) return around;
  around.installed_folder = around.library_folder;
  for (const char* name : {"..", "lib", "rollcall", "plugins"}) {
    around.installed_folder = join_path(around.installed_folder, name);
  }
  return around;
}

}  // namespace rollcall::loader
