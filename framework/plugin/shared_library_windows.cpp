#include "plugin/shared_library.hpp"

#include <windows.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/text_windows.hpp"
#include "plugin/file_path.hpp"
#include "plugin/pe_file.hpp"

namespace rollcall::loader {
namespace {

#if defined(_M_ARM64) || defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = IMAGE_FILE_MACHINE_ARM64;
#elif defined(_M_X64) || defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = IMAGE_FILE_MACHINE_AMD64;
#else
constexpr std::uint16_t kOwnMachine = IMAGE_FILE_MACHINE_I386;
#endif

// What the system may give for a C++ exception that left a constructor: the exception's code.
constexpr DWORD kMicrosoftThrow = 0xE06D7363;
constexpr DWORD kGccThrow = 0x20474343;

// No box on the screen while a library is loaded: of this thread only, for this is a guest in its
// process.
class QuietErrors {
 public:
  QuietErrors() {
    ::SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX,
                         &before_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { ::SetThreadErrorMode(before_, nullptr); }

 private:
  DWORD before_ = 0;
};

Result<std::string> read_file(const std::string& path) {
  const auto wide = core::widen(path);
  if (!wide) return tl::unexpected<Error>(wide.error());
  std::ifstream file(std::filesystem::path(*wide), std::ios::binary);
  if (!file) return fail(ErrorCode::kIo, fmt::format("cannot open {}", path));
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string system_folder() {
  wchar_t path[MAX_PATH + 1] = {};
  const UINT size = ::GetSystemDirectoryW(path, MAX_PATH + 1);
  return size == 0 || size > MAX_PATH ? std::string() : core::narrow_lossy({path, size});
}

bool is_there(const std::string& path) {
  const auto wide = core::widen(path);
  return wide && ::GetFileAttributesW(wide->c_str()) != INVALID_FILE_ATTRIBUTES;
}

// Where the loader looks for what a library needs. Names of API sets are no files.
bool can_be_found(const std::string& name, const std::string& folder) {
  if (::_strnicmp(name.c_str(), "api-", 4) == 0 || ::_strnicmp(name.c_str(), "ext-", 4) == 0) {
    return true;
  }
  const auto wide = core::widen(name);
  if (wide && ::GetModuleHandleW(wide->c_str()) != nullptr) return true;
  return is_there(join_path(folder, name)) || is_there(join_path(system_folder(), name));
}

std::string missing_library(const std::string& path) {
  const auto bytes = read_file(path);
  const auto file = bytes ? parse_pe_file(*bytes) : tl::unexpected<Error>(bytes.error());
  if (file) {
    for (const std::string& name : file->imports) {
      if (can_be_found(name, folder_of(path))) continue;
      return fmt::format(
          "it needs {}, which is neither beside it nor in the system's own folder (error 126)",
          name);
    }
  }
  return "a library that it needs, itself or by way of another, cannot be found beside it nor in "
         "the system's own folder (error 126)";
}

std::string wrong_format(const std::string& path) {
  const auto bytes = read_file(path);
  const auto file = bytes ? parse_pe_file(*bytes) : tl::unexpected<Error>(bytes.error());
  if (!file) return fmt::format("{} (error 193)", file.error().message);
  if (file->machine == kOwnMachine) {
    return "it is a PE file that Windows does not take for a library (error 193)";
  }
  return fmt::format("it is for {} and this program is for {} (error 193)",
                     machine_name(file->machine), machine_name(kOwnMachine));
}

std::string loader_reason(const std::string& path, DWORD code) {
  switch (code) {
    case ERROR_MOD_NOT_FOUND:
      return missing_library(path);
    case ERROR_PROC_NOT_FOUND:
      return "a function that it needs is not in the library that should have it: they are not of "
             "one version (error 127)";
    case ERROR_BAD_EXE_FORMAT:
      return wrong_format(path);
    case kMicrosoftThrow:
    case kGccThrow:
      return "a static constructor threw";
    case ERROR_DLL_INIT_FAILED:
      return "a static constructor threw, or its DllMain failed (error 1114)";
    default:
      return core::error_text(code);
  }
}

// The bytes from an address to the end of its section: a symbol of a PE file has no size.
std::span<const std::byte> rest_of_section(HMODULE module, const void* address) {
  const auto* base = reinterpret_cast<const std::byte*>(module);
  const auto* at = static_cast<const std::byte*>(address);
  const auto* dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto* head = reinterpret_cast<const IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  if (at < base || at >= base + head->OptionalHeader.SizeOfImage) return {};
  const auto* section = IMAGE_FIRST_SECTION(head);
  for (WORD i = 0; i < head->FileHeader.NumberOfSections; ++i, ++section) {
    const std::byte* begin = base + section->VirtualAddress;
    const std::byte* end = begin + section->Misc.VirtualSize;
    if (at >= begin && at < end) return {at, end};
  }
  return {};
}

}  // namespace

Result<SharedLibrary> SharedLibrary::load(const std::string& path) {
  if (!is_absolute_path(path)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is no absolute path", path));
  }
  auto wide = core::widen(path);
  if (!wide) return tl::unexpected<Error>(std::move(wide.error()));
  std::replace(wide->begin(), wide->end(), L'/', L'\\');
  HMODULE module = nullptr;
  DWORD code = 0;
  // What it needs comes from its own folder or the system's: never from the working directory, the
  // PATH or the program's folder. What a static constructor throws mostly does not come through.
  try {
    const QuietErrors quiet;
    module = ::LoadLibraryExW(wide->c_str(), nullptr,
                              LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    code = ::GetLastError();
  } catch (...) {
    return fail(ErrorCode::kCorrupt, "a static constructor threw");
  }
  if (module == nullptr) return fail(ErrorCode::kCorrupt, loader_reason(path, code), code);
  return SharedLibrary(module);
}

Result<std::span<const std::byte>> SharedLibrary::find(const char* symbol) const {
  const auto module = static_cast<HMODULE>(handle_);
  const void* address = reinterpret_cast<const void*>(::GetProcAddress(module, symbol));
  if (address == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("it exports no `{}`: it is no Rollcall plugin, or one of another ABI "
                            "major",
                            symbol));
  }
  const auto bytes = rest_of_section(module, address);
  if (bytes.empty()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("its `{}` lies in another library, to which it forwards", symbol));
  }
  return bytes;
}

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  auto file = parse_pe_file(*bytes);
  if (!file) return wrap(path, file.error());
  return std::move(file->exports);
}

}  // namespace rollcall::loader
