#include "system_windows.hpp"

#include <winsock2.h>
// After winsock2.h:
#include <ws2tcpip.h>
// After ws2tcpip.h:
#include <iphlpapi.h>
#include <tlhelp32.h>
#include <windows.h>

#include <array>
#include <cstring>

namespace rollcall::windows_backend {
namespace {

static_assert(sizeof(wchar_t) == sizeof(char16_t));
static_assert(kMayTerminate == PROCESS_TERMINATE && kMayReadMemory == PROCESS_VM_READ);
static_assert(kMayQuery == PROCESS_QUERY_LIMITED_INFORMATION && kMayWait == SYNCHRONIZE);
static_assert(kAccessDenied == ERROR_ACCESS_DENIED && kFileNotFound == ERROR_FILE_NOT_FOUND);
static_assert(kInvalidParameter == ERROR_INVALID_PARAMETER);
static_assert(kGeneralFailure == ERROR_GEN_FAILURE);
static_assert(kPartialCopy == ERROR_PARTIAL_COPY && kNoAccess == ERROR_NOACCESS);

// Structures of ntdll that no header names as Microsoft's own do.
struct BasicInformation {  // PROCESS_BASIC_INFORMATION
  LONG exit_status;
  void* peb;
  ULONG_PTR affinity;
  LONG base_priority;
  ULONG_PTR pid;
  ULONG_PTR parent;
};
struct TimeOfDay {  // SYSTEM_TIMEOFDAY_INFORMATION
  LARGE_INTEGER boot_time;
  LARGE_INTEGER current_time;
  LARGE_INTEGER time_zone_bias;
  ULONG time_zone_id;
  ULONG reserved;
  ULONGLONG boot_time_bias;
  ULONGLONG sleep_time_bias;
};
static_assert(sizeof(BasicInformation) == 6 * sizeof(void*) && sizeof(TimeOfDay) == 48);

constexpr int kBasicInformation = 0;   // ProcessBasicInformation
constexpr int kWow64Information = 26;  // ProcessWow64Information
constexpr int kTimeOfDay = 3;          // SystemTimeOfDayInformation

template <class Function>
Function in_library(HMODULE library, const char* name) {
  if (library == nullptr) return nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
}

template <class Function>
Function in_ntdll(const char* name) {
  return in_library<Function>(::GetModuleHandleW(L"ntdll.dll"), name);
}

Code last_error() {
  const DWORD error = ::GetLastError();
  return error == 0 ? ERROR_GEN_FAILURE : error;  // a call that failed has failed
}

Code to_error(LONG status) {
  if (status >= 0) return 0;
  const auto convert = in_ntdll<ULONG(WINAPI*)(LONG)>("RtlNtStatusToDosError");
  const Code error = convert == nullptr ? ERROR_GEN_FAILURE : convert(status);
  return error == 0 ? ERROR_GEN_FAILURE : error;
}

std::uint64_t number(const FILETIME& time) {
  return (std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime;
}

const wchar_t* wide(const std::u16string& text) {
  return reinterpret_cast<const wchar_t*>(text.c_str());
}

Code open_process(std::uint32_t access, std::uint32_t pid, Handle& out) {
  out = ::OpenProcess(access, FALSE, pid);
  return out == nullptr ? last_error() : 0;
}

void close_handle(Handle handle) { ::CloseHandle(handle); }

Code process_id(Handle process, std::uint32_t& out) {
  out = ::GetProcessId(process);
  return out == 0 ? last_error() : 0;
}

Code creation_time(Handle process, std::uint64_t& out) {
  FILETIME created = {};
  FILETIME exited = {};
  FILETIME kernel = {};
  FILETIME user = {};
  if (::GetProcessTimes(process, &created, &exited, &kernel, &user) == 0) return last_error();
  out = number(created);
  return 0;
}

WaitState wait(Handle handle, std::uint32_t timeout_ms, Code& error) {
  error = 0;
  switch (::WaitForSingleObject(handle, timeout_ms)) {
    case WAIT_OBJECT_0:
      return WaitState::kSignalled;
    case WAIT_TIMEOUT:
      return WaitState::kTimeout;
    default:
      error = last_error();
      return WaitState::kFailed;
  }
}

Code exit_code(Handle process, std::uint32_t& out) {
  DWORD code = 0;
  if (::GetExitCodeProcess(process, &code) == 0) return last_error();
  out = code;
  return 0;
}

Code terminate(Handle process, std::uint32_t code) {
  return ::TerminateProcess(process, code) == 0 ? last_error() : 0;
}

Code query(Handle process, int what, void* out, ULONG size) {
  static const auto call =
      in_ntdll<LONG(WINAPI*)(HANDLE, int, void*, ULONG, ULONG*)>("NtQueryInformationProcess");
  if (call == nullptr) return ERROR_PROC_NOT_FOUND;
  return to_error(call(process, what, out, size, nullptr));
}

Code peb(Handle process, PebPlace& out) {
  ULONG_PTR narrow = 0;
  if (const Code error = query(process, kWow64Information, &narrow, sizeof narrow); error != 0) {
    return error;
  }
  if (narrow != 0) {
    out = {.address = narrow, .narrow = true};
    return 0;
  }
  BasicInformation basic = {};
  const Code error = query(process, kBasicInformation, &basic, sizeof basic);
  if (error == 0) out = {.address = reinterpret_cast<std::uintptr_t>(basic.peb), .narrow = false};
  return error;
}

Code read_memory(Handle process, std::uint64_t address, void* buffer, std::size_t size) {
  SIZE_T read = 0;
  const auto* from = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
  if (::ReadProcessMemory(process, from, buffer, size, &read) == 0) return last_error();
  return read == size ? 0 : ERROR_PARTIAL_COPY;
}

Code processes(std::vector<ProcessRow>& out) {
  const HANDLE snapshot = ::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  if (snapshot == INVALID_HANDLE_VALUE) return last_error();
  PROCESSENTRY32W entry = {};
  entry.dwSize = sizeof entry;
  BOOL there = ::Process32FirstW(snapshot, &entry);
  for (; there != 0; there = ::Process32NextW(snapshot, &entry)) {
    out.push_back({.pid = entry.th32ProcessID,
                   .parent = entry.th32ParentProcessID,
                   .name = reinterpret_cast<const char16_t*>(entry.szExeFile)});
  }
  const Code error = last_error();
  ::CloseHandle(snapshot);
  return error == ERROR_NO_MORE_FILES ? 0 : error;  // anything else: it broke off half-way
}

std::uint32_t current_pid() { return ::GetCurrentProcessId(); }

std::uint64_t now() {
  FILETIME time = {};
  ::GetSystemTimePreciseAsFileTime(&time);
  return number(time);
}

Code boot_times(BootTimes& out) {
  const auto call = in_ntdll<LONG(WINAPI*)(int, void*, ULONG, ULONG*)>("NtQuerySystemInformation");
  if (call == nullptr) return ERROR_PROC_NOT_FOUND;
  TimeOfDay times = {};
  if (const Code error = to_error(call(kTimeOfDay, &times, sizeof times, nullptr)); error != 0) {
    return error;
  }
  out = {.boot = static_cast<std::uint64_t>(times.boot_time.QuadPart),
         .bias = times.boot_time_bias};
  return 0;
}

Code machine_guid(std::u16string& out) {
  std::array<wchar_t, 128> text = {};
  DWORD size = sizeof text;
  const LSTATUS status =
      ::RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid",
                     RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, nullptr, text.data(), &size);
  if (status != ERROR_SUCCESS) return static_cast<Code>(status);
  out = reinterpret_cast<const char16_t*>(text.data());
  return 0;
}

Code computer_name(std::u16string& out) {
  std::array<wchar_t, 256> text = {};
  DWORD size = static_cast<DWORD>(text.size());
  if (::GetComputerNameExW(ComputerNameDnsHostname, text.data(), &size) == 0) return last_error();
  out = reinterpret_cast<const char16_t*>(text.data());
  return 0;
}

Code set_event(const std::u16string& name) {
  const HANDLE event = ::OpenEventW(EVENT_MODIFY_STATE, FALSE, wide(name));
  if (event == nullptr) return last_error();
  const Code error = ::SetEvent(event) == 0 ? last_error() : 0;
  ::CloseHandle(event);
  return error;
}

// user32 is loaded when it is first wanted: it makes a GUI process of whoever loads it, and few
// sessions have a window.
struct User32 {
  using Visit = BOOL(CALLBACK*)(HWND, LPARAM);
  BOOL(WINAPI* enum_windows)(Visit, LPARAM);
  DWORD(WINAPI* process_of)(HWND, DWORD*);
  BOOL(WINAPI* is_visible)(HWND);
  HWND(WINAPI* related)(HWND, UINT);
  BOOL(WINAPI* post)(HWND, UINT, WPARAM, LPARAM);
  [[nodiscard]] bool whole() const {
    return enum_windows != nullptr && process_of != nullptr && is_visible != nullptr &&
           related != nullptr && post != nullptr;
  }
};

const User32& user32() {
  static const User32 calls = [] {
    const HMODULE library = ::LoadLibraryExW(L"user32.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return User32{
        .enum_windows = in_library<BOOL(WINAPI*)(User32::Visit, LPARAM)>(library, "EnumWindows"),
        .process_of = in_library<DWORD(WINAPI*)(HWND, DWORD*)>(library, "GetWindowThreadProcessId"),
        .is_visible = in_library<BOOL(WINAPI*)(HWND)>(library, "IsWindowVisible"),
        .related = in_library<HWND(WINAPI*)(HWND, UINT)>(library, "GetWindow"),
        .post = in_library<BOOL(WINAPI*)(HWND, UINT, WPARAM, LPARAM)>(library, "PostMessageW"),
    };
  }();
  return calls;
}

struct Closing {
  std::uint32_t pid;
  std::uint32_t asked = 0;
  Code error = 0;
};

BOOL CALLBACK close_one(HWND window, LPARAM context) {
  auto& closing = *reinterpret_cast<Closing*>(context);
  DWORD pid = 0;
  user32().process_of(window, &pid);
  if (pid != closing.pid || user32().is_visible(window) == 0) return TRUE;
  if (user32().related(window, GW_OWNER) != nullptr) return TRUE;
  if (user32().post(window, WM_CLOSE, 0, 0) != 0) {
    ++closing.asked;
  } else {
    closing.error = last_error();
  }
  return TRUE;
}

Code close_windows(std::uint32_t pid, std::uint32_t& asked) {
  asked = 0;
  if (!user32().whole()) return ERROR_PROC_NOT_FOUND;
  Closing closing{.pid = pid};
  const BOOL done = user32().enum_windows(&close_one, reinterpret_cast<LPARAM>(&closing));
  asked = closing.asked;
  if (closing.error != 0) return closing.error;
  return done == 0 ? last_error() : 0;
}

bool shares_console(std::uint32_t pid) {
  std::vector<DWORD> pids(64);
  for (;;) {
    const DWORD count = ::GetConsoleProcessList(pids.data(), static_cast<DWORD>(pids.size()));
    if (count <= pids.size()) {
      pids.resize(count);  // 0: there is no console
      break;
    }
    pids.resize(count + 16);
  }
  for (const DWORD attached : pids) {
    if (attached == pid) return true;
  }
  return false;
}

Code send_break(std::uint32_t group) {
  return ::GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) == 0 ? last_error() : 0;
}

// The system's number of a port: 16 bits in network order.
std::uint16_t port_of(DWORD port) { return ::ntohs(static_cast<u_short>(port & 0xFFFFU)); }

TcpRow to_row(const MIB_TCPROW_OWNER_PID& row) {
  std::array<std::uint8_t, 4> local = {};
  std::array<std::uint8_t, 4> remote = {};
  std::memcpy(local.data(), &row.dwLocalAddr, local.size());
  std::memcpy(remote.data(), &row.dwRemoteAddr, remote.size());
  return {.local = v4_endpoint(local.data(), port_of(row.dwLocalPort)),
          .remote = v4_endpoint(remote.data(), port_of(row.dwRemotePort)),
          .listening = row.dwState == MIB_TCP_STATE_LISTEN,
          .v6 = false,
          .pid = row.dwOwningPid};
}

TcpRow to_row(const MIB_TCP6ROW_OWNER_PID& row) {
  return {.local = v6_endpoint(row.ucLocalAddr, port_of(row.dwLocalPort)),
          .remote = v6_endpoint(row.ucRemoteAddr, port_of(row.dwRemotePort)),
          .listening = row.dwState == MIB_TCP_STATE_LISTEN,
          .v6 = true,
          .pid = row.dwOwningPid};
}

// Both tables begin with their number of rows, and the rows follow.
template <class Table>
void append_rows(const std::vector<std::byte>& bytes, std::vector<TcpRow>& out) {
  const auto& table = *reinterpret_cast<const Table*>(bytes.data());
  for (DWORD i = 0; i < table.dwNumEntries; ++i) out.push_back(to_row(table.table[i]));
}

Code tcp_table(bool v6, std::vector<TcpRow>& out) {
  const ULONG family = v6 ? AF_INET6 : AF_INET;
  std::vector<std::byte> bytes(16384);
  for (;;) {  // ends: the table grows by sockets, not for ever
    DWORD size = static_cast<DWORD>(bytes.size());
    const DWORD error =
        ::GetExtendedTcpTable(bytes.data(), &size, FALSE, family, TCP_TABLE_OWNER_PID_ALL, 0);
    if (error == NO_ERROR) break;
    if (error != ERROR_INSUFFICIENT_BUFFER) return error;
    bytes.resize(std::size_t{size} * 2);
  }
  if (v6) {
    append_rows<MIB_TCP6TABLE_OWNER_PID>(bytes, out);
  } else {
    append_rows<MIB_TCPTABLE_OWNER_PID>(bytes, out);
  }
  return 0;
}

SocketName to_name(const sockaddr_storage& address) {
  SocketName name;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, &address, sizeof v4);
    std::array<std::uint8_t, 4> bytes = {};
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    name = {.family = Family::kV4, .endpoint = v4_endpoint(bytes.data(), ::ntohs(v4.sin_port))};
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, &address, sizeof v6);
    name = {.family = Family::kV6,
            .endpoint = v6_endpoint(v6.sin6_addr.s6_addr, ::ntohs(v6.sin6_port))};
  } else if (address.ss_family == AF_UNIX) {
    name.family = Family::kUnix;
  }
  return name;
}

using Namer = int(WSAAPI*)(SOCKET, sockaddr*, int*);

Code name_of(Namer namer, std::int64_t socket, SocketName& out) {
  sockaddr_storage address = {};
  int size = sizeof address;
  if (namer(static_cast<SOCKET>(socket), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = ::WSAGetLastError();
    return error == 0 ? Code{ERROR_GEN_FAILURE} : static_cast<Code>(error);
  }
  out = to_name(address);
  return 0;
}

Code peer(std::int64_t socket, SocketName& out) { return name_of(&::getpeername, socket, out); }
Code own(std::int64_t socket, SocketName& out) { return name_of(&::getsockname, socket, out); }

constexpr System kWindows = {
    .open_process = &open_process,
    .close_handle = &close_handle,
    .process_id = &process_id,
    .creation_time = &creation_time,
    .wait = &wait,
    .exit_code = &exit_code,
    .terminate = &terminate,
    .peb = &peb,
    .read_memory = &read_memory,
    .processes = &processes,
    .current_pid = &current_pid,
    .now = &now,
    .boot_times = &boot_times,
    .machine_guid = &machine_guid,
    .computer_name = &computer_name,
    .set_event = &set_event,
    .close_windows = &close_windows,
    .shares_console = &shares_console,
    .send_break = &send_break,
    .tcp_table = &tcp_table,
    .peer = &peer,
    .own = &own,
};

}  // namespace

const System& windows_system() { return kWindows; }

}  // namespace rollcall::windows_backend
