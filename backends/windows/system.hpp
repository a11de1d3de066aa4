// The Windows calls of the backend, behind a table that tests can fake. No Windows header is needed
// to read it, so that everything but system_windows.cpp compiles and is tested anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode.hpp"

namespace rollcall::windows_backend {

// A kernel object's handle; null: none.
using Handle = void*;

// What GetLastError (or, for the socket calls, WSAGetLastError) says; 0: it went well.
using Code = std::uint32_t;
inline constexpr Code kAccessDenied = 5;       // ERROR_ACCESS_DENIED
inline constexpr Code kFileNotFound = 2;       // ERROR_FILE_NOT_FOUND
inline constexpr Code kGeneralFailure = 31;    // ERROR_GEN_FAILURE
inline constexpr Code kInvalidParameter = 87;  // ERROR_INVALID_PARAMETER
inline constexpr Code kPartialCopy = 299;      // ERROR_PARTIAL_COPY
inline constexpr Code kNoAccess = 998;         // ERROR_NOACCESS

// Access rights of OpenProcess. Source: "Process Security and Access Rights".
inline constexpr std::uint32_t kMayTerminate = 0x0001;   // PROCESS_TERMINATE
inline constexpr std::uint32_t kMayReadMemory = 0x0010;  // PROCESS_VM_READ
inline constexpr std::uint32_t kMayQuery = 0x1000;       // ..._QUERY_LIMITED_INFORMATION
inline constexpr std::uint32_t kMayWait = 0x00100000;    // SYNCHRONIZE
inline constexpr std::uint32_t kToObserve = kMayQuery | kMayWait;

enum class WaitState : std::uint8_t { kSignalled, kTimeout, kFailed };

// One process of a snapshot. Source: PROCESSENTRY32W.
struct ProcessRow {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;  // who made it; that number may be another's by now
  std::u16string name;       // szExeFile
};

// Where a process keeps its parameters. Source: PROCESS_BASIC_INFORMATION.PebBaseAddress, and
// ProcessWow64Information for a 32-bit process.
struct PebPlace {
  std::uint64_t address = 0;  // 0: it has none
  bool narrow = false;        // the PEB of a 32-bit process
};

// Boot time and what clock changes have added to it since, in 100 ns.
// Source: SYSTEM_TIMEOFDAY_INFORMATION, BootTime (a FILETIME) and BootTimeBias.
struct BootTimes {
  std::uint64_t boot = 0;
  std::uint64_t bias = 0;
};

// Each entry has the contract of the Windows call that it is named for. All are thread-safe. A
// table is constant and outlives everything that it was handed to.
struct System {
  Code (*open_process)(std::uint32_t access, std::uint32_t pid, Handle& out);
  void (*close_handle)(Handle handle);
  Code (*process_id)(Handle process, std::uint32_t& out);
  Code (*creation_time)(Handle process, std::uint64_t& out);  // a FILETIME
  WaitState (*wait)(Handle handle, std::uint32_t timeout_ms, Code& error);
  Code (*exit_code)(Handle process, std::uint32_t& out);
  Code (*terminate)(Handle process, std::uint32_t exit_code);
  Code (*peb)(Handle process, PebPlace& out);
  // Exactly `size` bytes, or an error.
  Code (*read_memory)(Handle process, std::uint64_t address, void* buffer, std::size_t size);
  Code (*processes)(std::vector<ProcessRow>& out);  // by CreateToolhelp32Snapshot
  std::uint32_t (*current_pid)();
  std::uint64_t (*now)();  // a FILETIME, UTC
  Code (*boot_times)(BootTimes& out);
  Code (*machine_guid)(std::u16string& out);
  Code (*computer_name)(std::u16string& out);
  // Sets an event that exists. kFileNotFound: there is none.
  Code (*set_event)(const std::u16string& name);
  // Posts WM_CLOSE to every visible top-level window without an owner of this process, on our
  // desktop. `asked`: how many took it.
  Code (*close_windows)(std::uint32_t pid, std::uint32_t& asked);
  // Whether the process is attached to our own console.
  bool (*shares_console)(std::uint32_t pid);
  Code (*send_break)(std::uint32_t group);               // CTRL_BREAK to a console process group
  Code (*tcp_table)(bool v6, std::vector<TcpRow>& out);  // with listeners, by owner pid
  Code (*peer)(std::int64_t socket, SocketName& out);
  Code (*own)(std::int64_t socket, SocketName& out);
};

// A handle that closes itself.
class OwnedHandle {
 public:
  explicit OwnedHandle(const System& system, Handle handle = nullptr)
      : system_(&system), handle_(handle) {}
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() { close(); }
  void reset(Handle handle) {
    close();
    handle_ = handle;
  }
  [[nodiscard]] Handle get() const { return handle_; }
  [[nodiscard]] bool open() const { return handle_ != nullptr; }

 private:
  void close() {
    if (handle_ != nullptr) system_->close_handle(handle_);
    handle_ = nullptr;
  }
  const System* system_;
  Handle handle_;
};

}  // namespace rollcall::windows_backend
