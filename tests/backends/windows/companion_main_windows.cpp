// A process for the tests of the Windows backend: does what ROLLCALL_COMPANION says, whatever its
// arguments. Numbers go through its standard streams, 8 bytes each.
#include <winsock2.h>
// After winsock2.h:
#include <ws2tcpip.h>
// After ws2tcpip.h:
#include <windows.h>

#include <cstdint>
#include <string>

#include "rollcall/windows_stop.hpp"

namespace {

void tell(std::int64_t number) {
  DWORD done = 0;
  ::WriteFile(::GetStdHandle(STD_OUTPUT_HANDLE), &number, sizeof number, &done, nullptr);
}

std::int64_t ask() {
  std::int64_t number = 0;
  DWORD got = 0;
  ::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), &number, sizeof number, &got, nullptr);
  return number;
}

DWORD WINAPI exit_as_told(void*) { ::ExitProcess(static_cast<UINT>(ask())); }

// Exits with the code that it is told, or with 0 when it is asked to stop.
int obey() {
  FILETIME created = {};
  FILETIME unused = {};
  ::GetProcessTimes(::GetCurrentProcess(), &created, &unused, &unused, &unused);
  const std::uint64_t start = (std::uint64_t{created.dwHighDateTime} << 32) | created.dwLowDateTime;
  const std::string name =
      rollcall::plugin::stop_event_name(::GetCurrentProcessId(), std::to_string(start));
  const HANDLE event = ::CreateEventA(nullptr, FALSE, FALSE, name.c_str());
  if (event == nullptr || ::GetLastError() == ERROR_ALREADY_EXISTS) return 90;
  ::CreateThread(nullptr, 0, &exit_as_told, nullptr, 0, nullptr);
  tell(1);
  ::WaitForSingleObject(event, INFINITE);
  return 0;
}

// Listens on a port of the loopback address, and tells it.
int listen_and_tell() {
  WSADATA data = {};
  if (::WSAStartup(MAKEWORD(2, 2), &data) != 0) return 91;
  const SOCKET socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  int size = sizeof at;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(socket, 4) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return 92;
  }
  // Wine knows whose a socket is once its process has used it. On Windows this only fails.
  u_long without_waiting = 1;
  ::ioctlsocket(socket, FIONBIO, &without_waiting);
  char byte = 0;
  ::recv(socket, &byte, 1, 0);
  tell(::ntohs(at.sin_port));
  ::Sleep(INFINITE);
  return 0;
}

// Starts itself again in the other mode, with the same streams, and tells who that is.
int start_child(const wchar_t* mode) {
  ::SetEnvironmentVariableW(L"ROLLCALL_COMPANION", mode);
  STARTUPINFOW startup = {};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = ::GetStdHandle(STD_INPUT_HANDLE);
  startup.hStdOutput = ::GetStdHandle(STD_OUTPUT_HANDLE);
  PROCESS_INFORMATION child = {};
  wchar_t self[MAX_PATH] = {};
  ::GetModuleFileNameW(nullptr, self, MAX_PATH);
  if (::CreateProcessW(self, nullptr, nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr,
                       &startup, &child) == 0) {
    return 93;
  }
  tell(static_cast<std::int64_t>(child.dwProcessId));
  ::ResumeThread(child.hThread);
  ::WaitForSingleObject(child.hProcess, INFINITE);
  return 0;
}

}  // namespace

int main() {
  wchar_t text[32] = {};
  ::GetEnvironmentVariableW(L"ROLLCALL_COMPANION", text, 32);
  const std::wstring mode = text;
  if (mode == L"obey") return obey();
  if (mode == L"listen") return listen_and_tell();
  if (mode == L"parent") return start_child(L"idle");
  if (mode == L"listening parent") return start_child(L"listen");
  tell(1);
  ::Sleep(INFINITE);
  return 0;
}
