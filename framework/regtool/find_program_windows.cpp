#include <fmt/format.h>

#include <windows.h>
#include <algorithm>
#include <optional>

#include "core/text_windows.hpp"
#include "regtool/launcher.hpp"

namespace rollcall::regtool::launcher {
namespace {

constexpr DWORD kIsDirectory = 336;  // ERROR_DIRECTORY_NOT_SUPPORTED, winerror.h

constexpr const char* kExtensions[] = {".com", ".exe", ".bat", ".cmd"};

bool has_extension_of_a_program(const std::string& name) {
  return std::any_of(std::begin(kExtensions), std::end(kExtensions), [&](std::string_view end) {
    return name.size() > end.size() &&
           std::equal(end.begin(), end.end(), name.end() - static_cast<std::ptrdiff_t>(end.size()),
                      [](char a, char b) {
                        return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
                      });
  });
}

// The full path of the file, without the dots and blanks at its end that Windows ignores, so that
// what is looked at later is what is started. nullopt with `code` where it is none.
std::optional<std::string> file_at(const std::string& path, DWORD& code) {
  const std::string whole = platform::absolute_path(path);
  const auto wide = core::widen(whole);
  if (!wide || whole.find('\0') != std::string::npos) {
    code = ERROR_INVALID_NAME;
    return std::nullopt;
  }
  const DWORD attributes = ::GetFileAttributesW(wide->c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    code = ::GetLastError();
    return std::nullopt;
  }
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    code = kIsDirectory;
    return std::nullopt;
  }
  return whole;
}

// `path` as it is if that says which kind of program it is; else with each extension, and at last
// as it is: a program may be named without one.
std::optional<std::string> program_at(const std::string& path, DWORD& code) {
  DWORD worst = ERROR_FILE_NOT_FOUND;
  const auto note = [&] {
    if (code == ERROR_ACCESS_DENIED || code == kIsDirectory) worst = code;
  };
  if (!has_extension_of_a_program(path)) {
    for (const char* extension : kExtensions) {
      if (auto found = file_at(path + extension, code)) return found;
      note();
    }
  }
  if (auto found = file_at(path, code)) return found;
  note();
  code = worst;
  return std::nullopt;
}

tl::unexpected<Failure> cannot_run(const std::string& command, DWORD code) {
  const bool missing = code == ERROR_FILE_NOT_FOUND;
  return tl::unexpected<Failure>(
      Failure{missing ? kExitNoCommand : kExitNotRunnable, missing ? "no_command" : "not_runnable",
              fmt::format("cannot run {}: {}", command,
                          code == kIsDirectory ? "it is a directory" : core::error_text(code)),
              command});
}

}  // namespace

Outcome<std::string> find_program(const std::string& command) {
  DWORD code = ERROR_FILE_NOT_FOUND;
  if (command.find_first_of("\\/:") != std::string::npos) {
    if (auto found = program_at(command, code)) return std::move(*found);
    return cannot_run(command, code);
  }
  const std::string path = platform::environment("PATH").value_or("");
  DWORD worst = ERROR_FILE_NOT_FOUND;
  for (std::size_t begin = 0; !command.empty() && begin <= path.size();) {
    const std::size_t end = std::min(path.find(';', begin), path.size());
    std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    folder.erase(std::remove(folder.begin(), folder.end(), '"'), folder.end());
    if (folder.empty()) continue;
    if (auto found = program_at(folder + "\\" + command, code)) return std::move(*found);
    if (code != ERROR_FILE_NOT_FOUND) worst = code;
  }
  return cannot_run(command, worst);
}

Status change_directory(const std::string& path) {
  const auto wide = core::widen(path);
  if (!wide) return tl::unexpected(wide.error());
  if (::SetCurrentDirectoryW(wide->c_str()) != 0) return {};
  const DWORD code = ::GetLastError();
  return fail(ErrorCode::kIo, fmt::format("cannot go to {}: {}", path, core::error_text(code)),
              code);
}

}  // namespace rollcall::regtool::launcher
