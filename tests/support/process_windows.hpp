// Children of a test on Windows: started, waited for with a deadline, and never left behind. The
// cast of process.hpp. For *_windows_test.cpp files only.
#pragma once

#include <winsock2.h>
// After winsock2.h:
#include <windows.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/command_line.hpp"
#include "core/handle_windows.hpp"
#include "core/spawn_windows.hpp"
#include "core/text_windows.hpp"
#include "support/paths.hpp"

namespace rollcall::testing {

using namespace std::chrono_literals;

// Asks `condition` every 5 ms until it holds. False: it did not within `limit`.
inline bool wait_until(const std::function<bool()>& condition,
                       std::chrono::milliseconds limit = 40s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

inline bool is_wine() {
  return ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
}

// The creation time as the record has it, read apart from the code under test.
inline std::string start_token_of(HANDLE process) {
  FILETIME born{};
  FILETIME unused{};
  if (::GetProcessTimes(process, &born, &unused, &unused, &unused) == 0) return {};
  return std::to_string(std::uint64_t{born.dwHighDateTime} << 32U | born.dwLowDateTime);
}

// One child process, held by its handle. The destructor ends it.
class Child {
 public:
  Child() = default;
  Child(Child&&) = default;
  Child& operator=(Child&& other) noexcept {
    end();
    made_ = std::move(other.made_);
    return *this;
  }
  ~Child() { end(); }

  // `program`: a full path. `streams`: null ones are none at all.
  static Child exec(const std::string& program, const std::vector<std::string>& words,
                    const std::array<HANDLE, 3>& streams = {}, const std::vector<HANDLE>& also = {},
                    DWORD flags = 0) {
    core::Spawn what;
    what.program = program;
    what.command_line = core::windows_command_line(words).value_or("");
    what.streams = streams;
    what.also = also;
    what.flags = flags;
    auto made = core::spawn(what);
    if (!made) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      std::abort();
    }
    Child child;
    child.made_ = std::move(*made);
    return child;
  }

  // actor_windows.cpp. It is started with no streams.
  static std::string actor() { return std::string(test::kBinDir) + "/../tests/rollcall_actor.exe"; }
  static Child act(std::vector<std::string> words) {
    words.insert(words.begin(), "actor");
    return exec(actor(), words);
  }
  static Child sleeper() { return act({"sleep"}); }
  // One that has exited with this code, held by its handle: its pid is nobody else's.
  static Child exited(std::uint32_t code) {
    Child child = act({"exit", std::to_string(code)});
    (void)child.wait();
    return child;
  }

  [[nodiscard]] std::int64_t pid() const { return made_.pid; }
  [[nodiscard]] HANDLE handle() const { return made_.process.get(); }
  [[nodiscard]] std::string start_token() const { return start_token_of(handle()); }

  // The whole exit code; nullopt: still there at the limit.
  std::optional<std::uint32_t> wait(std::chrono::milliseconds limit = 40s) const {
    if (::WaitForSingleObject(handle(), static_cast<DWORD>(limit.count())) != WAIT_OBJECT_0) {
      return std::nullopt;
    }
    DWORD code = 0;
    ::GetExitCodeProcess(handle(), &code);
    return code;
  }
  [[nodiscard]] bool alive() const { return !wait(0ms).has_value(); }
  void kill(std::uint32_t code = 1) const { ::TerminateProcess(handle(), code); }

 private:
  void end() {
    if (!made_.process.valid()) return;
    ::TerminateProcess(handle(), 1);
    ::WaitForSingleObject(handle(), 10'000);
    made_ = {};
  }

  core::Spawned made_;
};

// Whether the process that has this pid now runs. Only for one that holds a handle elsewhere, or
// that nobody else can have replaced.
inline bool runs(std::int64_t pid) {
  const core::Handle process(::OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
                                           static_cast<DWORD>(pid)));
  return process.valid() && ::GetProcessId(process.get()) == static_cast<DWORD>(pid) &&
         ::WaitForSingleObject(process.get(), 0) == WAIT_TIMEOUT;
}

// A pid that no process has: Windows counts them up from low numbers, and this is the highest.
inline std::int64_t free_pid() { return 0x7FFF'FFFC; }

}  // namespace rollcall::testing
