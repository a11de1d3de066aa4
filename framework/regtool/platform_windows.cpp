#include <winsock2.h>
// After winsock2.h:
#include <windows.h>
// After windows.h:
#include <shellapi.h>
#include <userenv.h>

#include <fmt/format.h>

#include <Poco/Net/Net.h>
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/handle_windows.hpp"
#include "core/native_windows.hpp"
#include "core/paths.hpp"
#include "core/security_windows.hpp"
#include "core/text_windows.hpp"
#include "regtool/failure.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {
namespace {

using core::error_text;
using core::Handle;
using core::narrow;
using core::widen;

// werapi.h, WER_FAULT_REPORTING_FLAG_NOHEAP.
constexpr DWORD kNoHeapInReports = 1;

tl::unexpected<Error> io_failure(std::string_view what, DWORD code) {
  const bool missing =
      code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME;
  return fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("{}: {}", what, error_text(code)), static_cast<std::int64_t>(code));
}

DWORD id_of(Stream stream) {
  constexpr DWORD kIds[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
  return kIds[static_cast<std::size_t>(stream)];
}

// Not ours to close.
HANDLE handle_of(Stream stream) {
  const HANDLE handle = ::GetStdHandle(id_of(stream));
  return handle == INVALID_HANDLE_VALUE ? nullptr : handle;
}

// A stream that we were started without reads as empty and swallows what is written.
void open_streams() {
  for (const Stream stream : {Stream::kInput, Stream::kOutput, Stream::kError}) {
    DWORD flags = 0;
    const HANDLE handle = handle_of(stream);
    if (handle != nullptr && ::GetHandleInformation(handle, &flags) != 0) continue;
    const HANDLE nothing =
        ::CreateFileW(L"NUL", stream == Stream::kInput ? GENERIC_READ : GENERIC_WRITE,
                      FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0, nullptr);
    if (nothing == INVALID_HANDLE_VALUE) std::_Exit(kExitIo);
    ::SetStdHandle(id_of(stream), nothing);
  }
}

// Where a Windows API fills a buffer whose size it tells: GetEnvironmentVariableW and its like.
// `call(buffer, size)` gives the length without the end, or the size that is needed, or 0.
template <class Call>
std::wstring filled(const Call& call) {
  std::wstring text(MAX_PATH, L'\0');
  for (;;) {
    const DWORD size = call(text.data(), static_cast<DWORD>(text.size()));
    if (size < text.size()) {
      text.resize(size);
      return text;
    }
    text.resize(size + std::size_t{1});
  }
}

Result<std::string> read_whole(HANDLE file, const std::string& path, std::size_t most) {
  std::string bytes;
  std::vector<char> block(8192);
  for (;;) {
    DWORD got = 0;
    if (::ReadFile(file, block.data(), static_cast<DWORD>(block.size()), &got, nullptr) == 0) {
      const DWORD code = ::GetLastError();
      if (code == ERROR_BROKEN_PIPE || code == ERROR_HANDLE_EOF) return bytes;
      return io_failure(fmt::format("cannot read {}", path), code);
    }
    if (got == 0) return bytes;
    bytes.append(block.data(), got);
    if (bytes.size() > most) {
      return fail(ErrorCode::kTooLarge, fmt::format("{} is larger than {} bytes", path, most));
    }
  }
}

tl::unexpected<Error> untrusted(const std::string& path, const std::string& why) {
  return fail(ErrorCode::kDenied, fmt::format("{} is not trusted: {}", path, why));
}

// `what`: "it", "its folder C:\x".
Status check_access(HANDLE object, const std::string& path, const std::string& what,
                    ACCESS_MASK rights) {
  const auto access = core::read_access(object);
  if (!access) return tl::unexpected(access.error());
  if (access->owned_by == core::OwnedBy::kOther) {
    return untrusted(path,
                     fmt::format("{} belongs to {}", what, core::account_name(access->owner)));
  }
  const std::string other = core::other_with(*access, rights);
  if (other.empty()) return {};
  return untrusted(path, fmt::format("{} can be changed by {}; take that right away", what, other));
}

Result<Handle> open_file(const std::string& path, DWORD access, DWORD flags) {
  const auto wide = core::native::long_path(absolute_path(path));
  if (!wide) return tl::unexpected(wide.error());
  Handle file(::CreateFileW(wide->c_str(), access,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                            OPEN_EXISTING, flags, nullptr));
  if (!file.valid()) return io_failure(fmt::format("cannot open {}", path), ::GetLastError());
  return file;
}

std::string directory_of(const std::string& path) {
  const std::size_t separator = path.find_last_of("\\/");
  if (separator == std::string::npos) return ".";
  return path.substr(0, separator + 1);
}

// A device would be opened, and could hang, before it can be looked at: only disks are files.
Status check_regular(HANDLE file, const std::string& path) {
  BY_HANDLE_FILE_INFORMATION info{};
  if (::GetFileType(file) != FILE_TYPE_DISK || ::GetFileInformationByHandle(file, &info) == 0 ||
      (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return fail(ErrorCode::kDenied, fmt::format("{} is not a regular file", path));
  }
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return untrusted(path, "it is a reparse point (a link)");
  }
  return {};
}

Status put(HANDLE handle, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = static_cast<DWORD>(std::min<std::size_t>(bytes.size(), 1U << 20U));
    DWORD done = 0;
    if (::WriteFile(handle, bytes.data(), size, &done, nullptr) == 0) {
      const DWORD code = ::GetLastError();
      // There is no signal to die of, but nobody is there to be told either.
      if (code == ERROR_BROKEN_PIPE || code == ERROR_NO_DATA || code == ERROR_PIPE_NOT_CONNECTED) {
        std::_Exit(kExitIo);
      }
      return io_failure("cannot write the output", code);
    }
    bytes.remove_prefix(done);
  }
  return {};
}

// Whatever the console's code page is. Bytes that are no UTF-8 never come so far (core/text.hpp).
Status put_on_console(HANDLE console, std::string_view bytes) {
  const auto wide = widen(bytes);
  if (!wide) return put(console, bytes);
  constexpr std::size_t kAtOnce = 8192;  // a console refuses what is much longer
  for (std::wstring_view rest = *wide; !rest.empty();) {
    DWORD done = 0;
    const auto size = static_cast<DWORD>(std::min(rest.size(), kAtOnce));
    if (::WriteConsoleW(console, rest.data(), size, &done, nullptr) == 0 || done == 0) {
      return io_failure("cannot write the output", ::GetLastError());
    }
    rest.remove_prefix(done);
  }
  return {};
}

}  // namespace

InheritedLimits prepare_process() {
  // A program that cannot load, or a missing disk, is an error here and never a box on a screen
  // that nobody looks at.
  const UINT before =
      ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  open_streams();
  Poco::Net::initializeNetwork();  // Poco does so by itself with Microsoft's compiler only
  return {.error_mode = before};
}

void keep_memory_out_of_dumps() {
  using SetFlags = HRESULT(WINAPI*)(DWORD);
  const HMODULE kernel = ::GetModuleHandleW(L"kernel32.dll");
  const auto set_flags =
      reinterpret_cast<SetFlags>(reinterpret_cast<void*>(::GetProcAddress(kernel, "WerSetFlags")));
  if (set_flags != nullptr) (void)set_flags(kNoHeapInReports);
}

Result<std::vector<std::string>> arguments(int, char**) {
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  if (words == nullptr) return io_failure("cannot read the command line", ::GetLastError());
  std::vector<std::string> out;
  for (int i = 1; i < count; ++i) {
    auto word = narrow(words[i]);
    if (!word) {
      ::LocalFree(words);
      return fail(ErrorCode::kInvalid, fmt::format("word {} of the command line is no text", i));
    }
    out.push_back(std::move(*word));
  }
  ::LocalFree(words);
  return out;
}

std::optional<std::string> environment(const char* name) {
  const auto wide = widen(name);
  if (!wide) return std::nullopt;
  ::SetLastError(ERROR_SUCCESS);
  const std::wstring value = filled([&](wchar_t* buffer, DWORD size) {
    return ::GetEnvironmentVariableW(wide->c_str(), buffer, size);
  });
  if (value.empty() && ::GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
  auto text = narrow(value);
  // What is no text is not unset, or something else would take its place: it is given as what no
  // path and no number can be (no UTF-8).
  return text ? std::move(*text) : core::narrow_lossy(value) + '\xFF';
}

std::uint64_t effective_uid() {
  const auto user = core::current_user();
  return user ? user->number() : 0;
}

Status may_read_other_homes() {
  return fail(ErrorCode::kUnsupported,
              "--user is not to be had on Windows: run regtool as that user, or name a home that "
              "you may read by --home");
}

Result<User> user_by_name(const std::string&) {
  return tl::unexpected(may_read_other_homes().error());
}

Result<std::string> home_directory() {
  const auto variable = environment("USERPROFILE");
  if (variable && core::is_absolute_path(*variable)) return *variable;
  HANDLE token = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token) == 0) {
    return io_failure("cannot look up whose process this is", ::GetLastError());
  }
  const Handle owned(token);
  DWORD size = 0;
  (void)::GetUserProfileDirectoryW(token, nullptr, &size);
  std::wstring path(std::max<DWORD>(size, 1), L'\0');
  if (::GetUserProfileDirectoryW(token, path.data(), &size) == 0) {
    return io_failure("cannot look up the user's home directory", ::GetLastError());
  }
  return narrow(path.c_str());
}

bool is_terminal(Stream stream) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(stream), &mode) != 0;
}

bool takes_escapes(Stream stream) {
  const auto terminal = environment("TERM");
  DWORD mode = 0;
  const HANDLE console = handle_of(stream);
  if ((terminal && *terminal == "dumb") || ::GetConsoleMode(console, &mode) == 0) return false;
  if ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0) return true;
  return ::SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

bool is_utf8_locale() { return true; }

Status write_all(Stream stream, std::string_view bytes) {
  const HANDLE handle = handle_of(stream);
  return is_terminal(stream) ? put_on_console(handle, bytes) : put(handle, bytes);
}

Result<std::string> read_trusted_file(const std::string& path, std::size_t most) {
  const auto file =
      open_file(path, GENERIC_READ, FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
  if (!file) return tl::unexpected(file.error());
  if (auto regular = check_regular(file->get(), path); !regular) {
    return tl::unexpected(regular.error());
  }
  if (auto safe = check_access(file->get(), path, "it", core::kWriteRights); !safe) {
    return tl::unexpected(safe.error());
  }
  const std::string directory = directory_of(path);
  const auto folder = open_file(directory, READ_CONTROL, FILE_FLAG_BACKUP_SEMANTICS);
  if (!folder) return tl::unexpected(folder.error());
  // Who may add files to a folder cannot exchange this one; who may delete from it can.
  if (auto safe =
          check_access(folder->get(), path, "its folder " + directory, core::kExchangeRights);
      !safe) {
    return tl::unexpected(safe.error());
  }
  return read_whole(file->get(), path, most);
}

Result<std::string> read_small_file(const std::string& path, std::size_t most) {
  if (path == "-") return read_whole(handle_of(Stream::kInput), "standard input", most);
  const auto file = open_file(path, GENERIC_READ, 0);
  if (!file) return tl::unexpected(file.error());
  return read_whole(file->get(), path, most);
}

Result<std::string> current_directory() {
  const std::wstring path =
      filled([](wchar_t* buffer, DWORD size) { return ::GetCurrentDirectoryW(size, buffer); });
  if (path.empty()) return io_failure("cannot read the working directory", ::GetLastError());
  return narrow(path);
}

std::string absolute_path(const std::string& path) {
  const auto wide = widen(path);
  if (!wide || path.empty()) return path;
  const std::wstring whole = filled([&](wchar_t* buffer, DWORD size) {
    return ::GetFullPathNameW(wide->c_str(), size, buffer, nullptr);
  });
  const auto text = narrow(whole);
  return text && !text->empty() ? *text : path;
}

std::string base_name(const std::string& path) {
  const std::size_t last = path.find_last_of("\\/:");
  return last == std::string::npos || last + 1 == path.size() ? path : path.substr(last + 1);
}

std::int64_t current_pid() { return static_cast<std::int64_t>(::GetCurrentProcessId()); }

Result<std::string> own_executable() {
  // Unlike its like, GetModuleFileNameW cuts what does not fit.
  std::wstring path(32'768, L'\0');
  const DWORD size = ::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
  if (size == 0 || size == path.size()) {
    return io_failure("cannot tell which file this program is", ::GetLastError());
  }
  path.resize(size);
  return narrow(path);
}

// Not in ProgramData, where every user may make a folder of this name first.
std::string system_config_path() {
  const auto programs = environment("ProgramFiles");
  if (!programs || !core::is_absolute_path(*programs)) return {};
  return core::join_path(core::join_path(*programs, "Rollcall"), "config.json");
}

}  // namespace rollcall::regtool::platform
