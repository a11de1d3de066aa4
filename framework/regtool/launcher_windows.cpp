#include "regtool/launcher.hpp"

#include <fmt/format.h>

#include <windows.h>
#include <atomic>
#include <utility>

#include "core/command_line.hpp"
#include "core/handle_windows.hpp"
#include "core/spawn_windows.hpp"
#include "core/stop_event_windows.hpp"
#include "core/text_windows.hpp"
#include "regtool/ask_windows.hpp"

namespace rollcall::regtool::launcher {
namespace {

using core::Handle;

constexpr DWORD kElevationRequired = 740;  // ERROR_ELEVATION_REQUIRED, winerror.h

constexpr const wchar_t* kSessionVariable = L"ROLLCALL_SESSION_ID";

// The system calls the handler in a thread of its own, with nothing but the event's number. Made
// once, never closed: the handler may run until the process has ended.
std::atomic<HANDLE> console_asks = nullptr;

// Source: HandlerRoutine (learn.microsoft.com, windows/console/handlerroutine).
BOOL WINAPI on_console_event(DWORD event) {
  if (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT) {
    ::SetEvent(console_asks);
    return TRUE;
  }
  // The console closes, or the user logs off: the command was told as we were. Returning would end
  // us at once; as it is, we end with the command, or the system ends us, and the job it.
  ::Sleep(INFINITE);
  return TRUE;
}

bool is_on_a_console() {
  DWORD pid = 0;
  return ::GetConsoleProcessList(&pid, 1) != 0;
}

Result<std::string> shell() {
  std::wstring path(MAX_PATH, L'\0');
  const UINT size = ::GetSystemDirectoryW(path.data(), static_cast<UINT>(path.size()));
  if (size == 0 || size >= path.size()) {
    return fail(ErrorCode::kIo,
                "cannot find the system's directory: " + core::error_text(::GetLastError()));
  }
  path.resize(size);
  return core::narrow(path + L"\\cmd.exe");
}

// What to start for the plan. A batch file is run by cmd.exe, and only with words that cmd.exe
// cannot take for something else.
Result<core::Spawn> to_spawn(const Plan& plan) {
  core::Spawn what;
  if (!core::is_batch_file(plan.program)) {
    auto line = core::windows_command_line(plan.command);
    if (!line) return tl::unexpected(line.error());
    what.program = plan.program;
    what.command_line = std::move(*line);
    return what;
  }
  auto cmd = shell();
  if (!cmd) return tl::unexpected(cmd.error());
  auto line = core::batch_command_line(*cmd, plan.program, plan.command);
  if (!line) return tl::unexpected(line.error());
  what.program = std::move(*cmd);
  what.command_line = std::move(*line);
  return what;
}

// The codes of env(1), which POSIX gets from exec.
Failure cannot_start(const Error& error, const std::string& command) {
  Failure failure = to_failure(error, command);
  if (error.code == ErrorCode::kNotFound) {
    failure.exit_code = kExitNoCommand;
    failure.code = "no_command";
    return failure;
  }
  switch (error.os_code) {
    case 0:  // no system call: the words cannot be given
      failure.exit_code = kExitNotRunnable;
      failure.code = "not_runnable";
      break;
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
    case ERROR_ACCESS_DENIED:
    case kElevationRequired:
    case ERROR_FILENAME_EXCED_RANGE:
      failure.exit_code = kExitNotRunnable;
      failure.code = "not_runnable";
      break;
    default:
      break;
  }
  return failure;
}

Error job_error(std::string_view what, DWORD code) {
  return {ErrorCode::kIo, fmt::format("cannot {} a job object: {}", what, core::error_text(code)),
          code};
}

// `ends_with_us`: whoever is in the job when its last handle goes is ended.
bool limit(HANDLE job, bool ends_with_us) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK;
  if (ends_with_us) limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  return ::SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
                                   sizeof limits) != 0;
}

Result<Handle> make_job() {
  Handle job(::CreateJobObjectW(nullptr, nullptr));
  if (!job.valid()) return tl::unexpected(job_error("make", ::GetLastError()));
  if (!limit(job.get(), true)) return tl::unexpected(job_error("set up", ::GetLastError()));
  return job;
}

}  // namespace

void hold_signals(const platform::InheritedLimits&) {
  if (console_asks == nullptr) console_asks = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  if (console_asks != nullptr) ::SetConsoleCtrlHandler(on_console_event, TRUE);
}

void die_of(const End&) {}

struct GatedChild::State {
  Plan plan;
  core::Spawned child;
  Handle job;
  Handle stop_event;  // empty where it could not be had: then nobody can ask by it
  bool shares_console = false;
  bool released = false;
  bool ended = false;

  Status create(bool recorded);
  void discard();
};

// Suspended, in its job, not yet running anything.
Status GatedChild::State::create(bool recorded) {
  // Ours is theirs: nothing else in this process reads it.
  if (!plan.session_id.empty()) {
    const auto id = core::widen(plan.session_id);
    ::SetEnvironmentVariableW(kSessionVariable, recorded && id ? id->c_str() : nullptr);
  }
  auto what = to_spawn(plan);
  if (!what) return tl::unexpected(what.error());
  what->flags = CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT;
  // Without this it would get a console with a window.
  if (!shares_console) what->flags |= CREATE_NO_WINDOW;
  what->streams = {::GetStdHandle(STD_INPUT_HANDLE), ::GetStdHandle(STD_OUTPUT_HANDLE),
                   ::GetStdHandle(STD_ERROR_HANDLE)};
  const UINT ours = ::SetErrorMode(plan.limits.error_mode);
  auto made = core::spawn(*what);
  ::SetErrorMode(ours);
  if (!made) return tl::unexpected(made.error());
  child = std::move(*made);
  if (::AssignProcessToJobObject(job.get(), child.process.get()) != 0) return {};
  const Error error = job_error("put the command into", ::GetLastError());
  discard();
  return tl::unexpected(error);
}

void GatedChild::State::discard() {
  ::TerminateProcess(child.process.get(), kExitRunFailed);
  ::WaitForSingleObject(child.process.get(), INFINITE);
  child = {};
}

GatedChild::GatedChild(std::unique_ptr<State> state) : state_(std::move(state)) {}

GatedChild::~GatedChild() {
  if (!state_ || !state_->child.process.valid() || state_->ended) return;
  if (state_->released) {
    ::WaitForSingleObject(state_->child.process.get(), INFINITE);
  } else {
    state_->discard();
  }
}

Outcome<std::unique_ptr<GatedChild>> GatedChild::start(const Plan& plan) {
  auto state = std::make_unique<State>();
  state->plan = plan;
  state->shares_console = is_on_a_console();
  auto job = make_job();
  if (!job) return failure_of(job.error(), plan.command.front());
  state->job = std::move(*job);
  if (auto event = core::make_stop_event()) state->stop_event = std::move(*event);
  if (auto made = state->create(true); !made) {
    return tl::unexpected(cannot_start(made.error(), plan.command.front()));
  }
  return std::unique_ptr<GatedChild>(new GatedChild(std::move(state)));
}

void ask_ourselves_to_stop() {
  if (const HANDLE asks = console_asks; asks != nullptr) ::SetEvent(asks);
}

std::int64_t GatedChild::pid() const { return state_->child.pid; }

bool GatedChild::can_be_held() const { return false; }

// The environment was settled when the process was created: one that is not to have the variable
// is created again. No record names the first.
Outcome<void> GatedChild::release(bool recorded) {
  State& state = *state_;
  if (!recorded && !state.plan.session_id.empty()) {
    state.discard();
    if (auto made = state.create(false); !made) {
      return tl::unexpected(cannot_start(made.error(), state.plan.command.front()));
    }
  }
  if (::ResumeThread(state.child.thread.get()) == static_cast<DWORD>(-1)) {
    const DWORD code = ::GetLastError();
    return failure_of(
        Error{ErrorCode::kIo, "cannot let the command run: " + core::error_text(code), code},
        state.plan.command.front());
  }
  state.released = true;
  state.child.thread = Handle();
  return {};
}

End GatedChild::attend() {
  State& state = *state_;
  std::vector<HANDLE> events = {state.child.process.get()};
  if (state.stop_event.valid()) events.push_back(state.stop_event.get());
  if (console_asks != nullptr) events.push_back(console_asks);
  for (;;) {
    const DWORD which =
        ::WaitForMultipleObjects(static_cast<DWORD>(events.size()), events.data(), FALSE, INFINITE);
    if (which == WAIT_OBJECT_0) break;
    if (which >= WAIT_OBJECT_0 + events.size()) return {.exit_code = kExitRunFailed};
    ask_to_stop(state.child.process.get(), state.job.get(), state.shares_console);
  }
  state.ended = true;
  DWORD code = kExitRunFailed;
  (void)::GetExitCodeProcess(state.child.process.get(), &code);
  // What it left behind is to live on, as elsewhere.
  (void)limit(state.job.get(), false);
  return {.exit_code = static_cast<int>(code)};
}

}  // namespace rollcall::regtool::launcher
