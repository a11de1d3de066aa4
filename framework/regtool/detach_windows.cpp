#include <fmt/format.h>

#include <windows.h>
#include <charconv>
#include <utility>

#include "core/command_line.hpp"
#include "core/handle_windows.hpp"
#include "core/security_windows.hpp"
#include "core/spawn_windows.hpp"
#include "core/text_windows.hpp"
#include "regtool/launcher.hpp"

namespace rollcall::regtool::launcher {
namespace {

using core::Handle;

// Set by the caller in the other's environment only, and taken out of it before anything is
// started there: the number of the handle to tell readiness by.
constexpr const char* kPipeVariable = "ROLLCALL_DETACHED_PIPE";

tl::unexpected<Error> io_failure(std::string_view what, DWORD code) {
  return fail(ErrorCode::kIo, fmt::format("{}: {}", what, core::error_text(code)), code);
}

void set_variable(const char* value) { ::SetEnvironmentVariableA(kPipeVariable, value); }

// Handles have 32 significant bits, in 64-bit processes too (learn.microsoft.com, "Interprocess
// Communication Between 32-bit and 64-bit Applications").
int number_of(HANDLE handle) { return static_cast<int>(::HandleToLong(handle)); }
HANDLE handle_of(int number) { return ::LongToHandle(number); }

// The end that we were given, if this process is the other.
std::optional<int> given_end() {
  const auto text = platform::environment(kPipeVariable);
  if (!text) return std::nullopt;
  set_variable(nullptr);
  int number = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  if (read.ec != std::errc() || read.ptr != text->data() + text->size()) return std::nullopt;
  if (::GetFileType(handle_of(number)) != FILE_TYPE_PIPE) return std::nullopt;
  ::SetHandleInformation(handle_of(number), HANDLE_FLAG_INHERIT, 0);
  return number;
}

Result<Handle> open_log(const std::string& path) {
  const auto wide = core::widen(path);
  if (!wide) return tl::unexpected(wide.error());
  const auto mine = core::OwnerOnly::make();
  if (!mine) return tl::unexpected(mine.error());
  Handle file(::CreateFileW(wide->c_str(), FILE_APPEND_DATA | SYNCHRONIZE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                            mine->attributes(), OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file.valid()) return io_failure(fmt::format("cannot open {}", path), ::GetLastError());
  return file;
}

// Ourselves once more, with the same words. Where we are in a job that would end the other with us,
// it leaves the job, if that lets it.
Result<core::Spawned> start_again(HANDLE pipe, HANDLE output) {
  const auto program = platform::own_executable();
  if (!program) return tl::unexpected(program.error());
  core::Spawn what;
  what.program = *program;
  what.command_line = core::narrow(::GetCommandLineW()).value_or("");
  const Handle nothing(::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                                     nullptr));
  if (!nothing.valid()) return io_failure("cannot open NUL", ::GetLastError());
  const HANDLE out = output != nullptr ? output : nothing.get();
  what.streams = {nothing.get(), out, out};
  what.also = {pipe};
  set_variable(std::to_string(number_of(pipe)).c_str());
  what.flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT |
               CREATE_BREAKAWAY_FROM_JOB;
  auto started = core::spawn(what);
  if (!started && started.error().os_code == ERROR_ACCESS_DENIED) {
    what.flags &= ~static_cast<DWORD>(CREATE_BREAKAWAY_FROM_JOB);
    started = core::spawn(what);
  }
  set_variable(nullptr);
  return started;
}

}  // namespace

Detachment::Detachment(Detachment&& other) noexcept
    : is_caller_(other.is_caller_), fd_(std::exchange(other.fd_, -1)) {}

Detachment::~Detachment() {
  if (fd_ != -1) ::CloseHandle(handle_of(fd_));
}

Result<Detachment> Detachment::detach(const std::optional<std::string>& log_file) {
  if (const auto end = given_end()) return Detachment(false, *end);
  Handle output;
  if (log_file) {
    auto opened = open_log(*log_file);
    if (!opened) return tl::unexpected(opened.error());
    output = std::move(*opened);
  }
  HANDLE ends[2] = {};
  if (::CreatePipe(&ends[0], &ends[1], nullptr, 0) == 0) {
    return io_failure("cannot make a pipe", ::GetLastError());
  }
  Handle reader(ends[0]);
  const Handle writer(ends[1]);
  ::SetHandleInformation(writer.get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  const auto started = start_again(writer.get(), output.get());
  if (!started) return tl::unexpected(started.error());
  return Detachment(true, number_of(reader.release()));
}

Result<Readiness> Detachment::await() {
  std::string bytes;
  char block[4096];
  DWORD got = 0;
  while (::ReadFile(handle_of(fd_), block, sizeof block, &got, nullptr) != 0 && got > 0) {
    bytes.append(block, got);
  }
  auto readiness = unpacked(bytes);
  if (!readiness) return fail(ErrorCode::kIo, "the detached process ended before it was ready");
  return std::move(*readiness);
}

void Detachment::tell(const Readiness& readiness) {
  std::string_view rest;
  const std::string bytes = packed(readiness);
  for (rest = bytes; !rest.empty();) {
    DWORD done = 0;
    if (::WriteFile(handle_of(fd_), rest.data(), static_cast<DWORD>(rest.size()), &done, nullptr) ==
        0) {
      break;
    }
    rest.remove_prefix(done);
  }
  ::CloseHandle(handle_of(std::exchange(fd_, -1)));
}

}  // namespace rollcall::regtool::launcher
