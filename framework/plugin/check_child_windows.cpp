#include <windows.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/command_line.hpp"
#include "core/handle_windows.hpp"
#include "core/spawn_windows.hpp"
#include "core/text_windows.hpp"
#include "plugin/check.hpp"
#include "plugin/check_child.hpp"
#include "plugin/check_suite.hpp"
#include "plugin/watched.hpp"

namespace rollcall {
namespace {

using core::Handle;

constexpr DWORD kTickMs = 20;        // how often pipes, which nobody can wait for, are looked at
constexpr DWORD kEndMs = 10'000;     // for a killed process to be gone
constexpr DWORD kAbortExitCode = 3;  // of the C runtime's abort()
constexpr DWORD kMicrosoftThrow = 0xE06D7363;
constexpr DWORD kGccThrow = 0x20474343;

tl::unexpected<Error> failed(std::string_view what) {
  const DWORD code = ::GetLastError();
  return fail(ErrorCode::kIo, fmt::format("cannot {}: {}", what, core::error_text(code)), code);
}

struct Child {
  Handle process;
  Handle job;  // with everything that the child starts; they end when it is closed
  Handle out;
  Handle err;
  std::string output;
  std::string noise;
  DWORD code = 0;
  bool timed_out = false;
};

Result<Handle> make_job() {
  Handle job(::CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  // No box on the screen either, whatever the candidate runs into.
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (!job.valid() || ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation,
                                                &limits, sizeof(limits)) == 0) {
    return failed("make a job object for the child");
  }
  return job;
}

Status make_pipe(Handle& read, Handle& write) {
  HANDLE ends[2] = {};
  if (::CreatePipe(&ends[0], &ends[1], nullptr, 1U << 16U) == 0) return failed("make a pipe");
  read = Handle(ends[0]);
  write = Handle(ends[1]);
  return {};
}

// Suspended until it is in the job, so that nothing it starts can be outside.
Status start(Child& child, const std::string& program, const std::vector<std::string>& args) {
  auto job = make_job();
  if (!job) return tl::unexpected<Error>(std::move(job.error()));
  child.job = std::move(*job);
  Handle out;
  Handle err;
  if (Status ok = make_pipe(child.out, out); !ok) return ok;
  if (Status ok = make_pipe(child.err, err); !ok) return ok;
  const Handle nothing(::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                     nullptr, OPEN_EXISTING, 0, nullptr));
  if (!nothing.valid()) return failed("open NUL");
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  auto line = core::windows_command_line(words);
  if (!line) return tl::unexpected<Error>(std::move(line.error()));
  auto spawned = core::spawn({.program = program,
                              .command_line = std::move(*line),
                              .flags = CREATE_SUSPENDED | CREATE_NO_WINDOW,
                              .streams = {nothing.get(), out.get(), err.get()},
                              .also = {}});
  if (!spawned) return tl::unexpected<Error>(std::move(spawned.error()));
  child.process = std::move(spawned->process);
  if (::AssignProcessToJobObject(child.job.get(), child.process.get()) == 0) {
    Status bad = failed(fmt::format("put {} into a job object", program));
    ::TerminateProcess(child.process.get(), 1);
    return bad;
  }
  if (::ResumeThread(spawned->thread.get()) == static_cast<DWORD>(-1)) {
    return failed(fmt::format("start {}", program));
  }
  return {};
}

// Takes what is there now, the first `limit` bytes of it. Never waits.
void drain(const Handle& pipe, std::string& into, std::size_t limit) {
  std::array<char, 8192> buffer{};
  DWORD there = 0;
  while (::PeekNamedPipe(pipe.get(), nullptr, 0, nullptr, &there, nullptr) != 0 && there > 0) {
    const DWORD wanted = std::min(there, static_cast<DWORD>(buffer.size()));
    DWORD got = 0;
    if (::ReadFile(pipe.get(), buffer.data(), wanted, &got, nullptr) == 0 || got == 0) return;
    loader::append_bounded(into, {buffer.data(), got}, limit);
  }
}

// Collects both pipes until the child has exited; what a grandchild holds open is not waited for.
Status wait_for(Child& child, std::int64_t deadline_ns) {
  DWORD waited = WAIT_TIMEOUT;
  std::int64_t give_up_ns = deadline_ns;
  while (waited != WAIT_OBJECT_0) {
    waited = ::WaitForSingleObject(child.process.get(), kTickMs);
    drain(child.out, child.output, loader::kMaxChildOutput);
    drain(child.err, child.noise, loader::kMaxChildNoise);
    if (waited == WAIT_FAILED) return failed("wait for the child");
    if (waited == WAIT_OBJECT_0 || loader::steady_now_ns() < give_up_ns) continue;
    if (child.timed_out) {
      return fail(ErrorCode::kTimeout, "the child hangs and cannot be ended");
    }
    child.timed_out = true;
    give_up_ns = loader::steady_now_ns() + std::int64_t{kEndMs} * 1'000'000;
    ::TerminateJobObject(child.job.get(), 1);
  }
  ::TerminateJobObject(child.job.get(), 1);  // what it started ends with it
  if (::GetExitCodeProcess(child.process.get(), &child.code) == 0) {
    return failed("read the child's exit code");
  }
  return {};
}

// Of exceptions by which processes are ended.
std::string_view exception_name(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
      return "access violation";
    case EXCEPTION_STACK_OVERFLOW:
      return "stack overflow";
    case EXCEPTION_ILLEGAL_INSTRUCTION:
      return "illegal instruction";
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
      return "division by zero";
    case 0xC0000374:
      return "heap corruption";
    case 0xC0000409:
      return "it failed fast, as abort() does";
    case kMicrosoftThrow:
    case kGccThrow:
      return "of C++, that nothing caught";
    default:
      return "see NTSTATUS";
  }
}

// Not -1 and its like, which programs exit with.
bool is_exception(DWORD code) {
  return (code >> 28U) == 0xCU || code == kMicrosoftThrow || code == kGccThrow;
}

// abort() leaves an exit code that exit() may leave too; but it says something.
bool called_abort(const Child& child) {
  return child.code == kAbortExitCode &&
         (child.noise.find("terminate called") != std::string::npos ||
          child.noise.find("requested the Runtime to terminate") != std::string::npos);
}

std::string ending_of(const Child& child, std::int64_t limit_ns) {
  if (child.timed_out) return loader::hung_ending(child.output, limit_ns);
  const std::string when = loader::last_progress(child.output);
  if (is_exception(child.code)) {
    return fmt::format("it was ended by exception {:#010x} ({}), {}{}", child.code,
                       exception_name(child.code), when, loader::first_words(child.noise));
  }
  if (called_abort(child)) {
    return fmt::format("it called abort() (exit code {}), {}: {}{}", child.code, when,
                       loader::was_loading(child.output)
                           ? "a static constructor threw, or it called abort()"
                           : "an exception left the plugin, or it called abort()",
                       loader::first_words(child.noise));
  }
  const char* or_else = child.code == kAbortExitCode ? "; abort() leaves this code too" : "";
  return loader::exit_ending(child.output, child.noise, static_cast<int>(child.code)) + or_else;
}

}  // namespace

std::int64_t loader::own_pid() { return ::GetCurrentProcessId(); }

Result<CheckReport> check_in_child(const std::string& program, const std::vector<std::string>& args,
                                   const std::string& file, std::int64_t limit_ns) {
  Child child;
  if (Status ok = start(child, program, args); !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  if (Status ok = wait_for(child, loader::steady_now_ns() + limit_ns); !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  if (!child.timed_out && !is_exception(child.code)) {
    if (auto report = loader::report_in(child.output)) return std::move(*report);
  }
  CheckReport report;
  report.file = file;
  report.ending = ending_of(child, limit_ns);
  return report;
}

}  // namespace rollcall
