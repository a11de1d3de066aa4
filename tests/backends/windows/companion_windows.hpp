// Starts the companion (companion_main_windows.cpp), and speaks with it.
#pragma once

#include <windows.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace rollcall::testing {

// What CreateProcessW is given.
struct CompanionStart {
  std::wstring mode = L"obey";
  std::wstring command_line = L"companion";
  std::wstring environment;  // further entries, each ended by NUL
  std::wstring directory;    // empty: ours
  bool closed = false;       // nobody may open it
};

// One process. It and its children end with this object.
class Companion {
 public:
  explicit Companion(const CompanionStart& with = {}) { start(with); }
  Companion(Companion&& other) noexcept
      : job_(std::exchange(other.job_, nullptr)),
        process_(std::exchange(other.process_, nullptr)),
        to_(std::exchange(other.to_, nullptr)),
        from_(std::exchange(other.from_, nullptr)),
        pid_(other.pid_) {}
  Companion& operator=(Companion&&) = delete;
  ~Companion() {
    for (const HANDLE handle : {to_, from_, process_, job_}) {  // the job's end ends all of it
      if (handle != nullptr) ::CloseHandle(handle);
    }
  }

  [[nodiscard]] std::int64_t pid() const { return pid_; }
  [[nodiscard]] HANDLE process() const { return process_; }
  [[nodiscard]] std::int64_t ask() const {
    std::int64_t number = 0;
    DWORD got = 0;
    if (::ReadFile(from_, &number, sizeof number, &got, nullptr) == 0 || got != sizeof number) {
      std::abort();
    }
    return number;
  }
  void tell(std::int64_t number) const {
    DWORD done = 0;
    ::WriteFile(to_, &number, sizeof number, &done, nullptr);
  }
  // Whether it has ended by then.
  [[nodiscard]] bool ended(DWORD within_ms = 20'000) const {
    return ::WaitForSingleObject(process_, within_ms) == WAIT_OBJECT_0;
  }
  // Whether anybody's handle still keeps it: closes ours. Its number is then given up soon.
  void let_go() { ::CloseHandle(std::exchange(process_, nullptr)); }

 private:
  static void pipe(HANDLE& ours, HANDLE& theirs, bool we_write) {
    HANDLE read = nullptr;
    HANDLE write = nullptr;
    if (::CreatePipe(&read, &write, nullptr, 0) == 0) std::abort();
    ours = we_write ? write : read;
    theirs = we_write ? read : write;
    ::SetHandleInformation(theirs, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  }

  void start(const CompanionStart& with) {
    HANDLE their_input = nullptr;
    HANDLE their_output = nullptr;
    pipe(to_, their_input, true);
    pipe(from_, their_output, false);
    job_ = ::CreateJobObjectW(nullptr, nullptr);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    ::SetInformationJobObject(job_, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    STARTUPINFOW startup = {};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = their_input;
    startup.hStdOutput = their_output;
    std::wstring line = with.command_line;
    std::wstring block = environment(with);
    const std::string program = ROLLCALL_TEST_COMPANION;
    PROCESS_INFORMATION made = {};
    ACL nobody = {};  // an access list without an entry
    SECURITY_DESCRIPTOR descriptor = {};
    ::InitializeAcl(&nobody, sizeof nobody, ACL_REVISION);
    ::InitializeSecurityDescriptor(&descriptor, SECURITY_DESCRIPTOR_REVISION);
    ::SetSecurityDescriptorDacl(&descriptor, TRUE, &nobody, FALSE);
    SECURITY_ATTRIBUTES security = {sizeof security, &descriptor, FALSE};
    if (::CreateProcessW(std::wstring(program.begin(), program.end()).c_str(), line.data(),
                         with.closed ? &security : nullptr, nullptr, TRUE,
                         CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT, block.data(),
                         with.directory.empty() ? nullptr : with.directory.c_str(), &startup,
                         &made) == 0) {
      std::abort();
    }
    ::AssignProcessToJobObject(job_, made.hProcess);
    ::ResumeThread(made.hThread);
    ::CloseHandle(made.hThread);
    ::CloseHandle(their_input);
    ::CloseHandle(their_output);
    process_ = made.hProcess;
    pid_ = made.dwProcessId;
    // It says so once it runs: until then its parameters may not be there yet.
    if ((with.mode == L"obey" || with.mode == L"idle") && ask() != 1) std::abort();
  }

  // The least that a program needs to start, and what was asked for.
  static std::wstring environment(const CompanionStart& with) {
    std::wstring block;
    for (const wchar_t* name : {L"SystemRoot", L"PATH"}) {
      wchar_t value[4096] = {};
      if (::GetEnvironmentVariableW(name, value, 4096) == 0) continue;
      block += std::wstring(name) + L"=" + value + L'\0';
    }
    return block + L"ROLLCALL_COMPANION=" + with.mode + L'\0' + with.environment + L'\0';
  }

  HANDLE job_ = nullptr;
  HANDLE process_ = nullptr;
  HANDLE to_ = nullptr;
  HANDLE from_ = nullptr;
  std::int64_t pid_ = 0;
};

}  // namespace rollcall::testing
