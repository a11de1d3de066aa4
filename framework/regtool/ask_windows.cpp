#include "regtool/ask_windows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/handle_windows.hpp"
#include "core/text_windows.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::regtool {
namespace {

bool set_its_event(HANDLE process) {
  FILETIME born{};
  FILETIME unused{};
  if (::GetProcessTimes(process, &born, &unused, &unused, &unused) == 0) return false;
  const auto token = std::uint64_t{born.dwHighDateTime} << 32U | born.dwLowDateTime;
  const auto name =
      core::widen(plugin::stop_event_name(::GetProcessId(process), std::to_string(token)));
  if (!name) return false;
  const core::Handle event(::OpenEventW(EVENT_MODIFY_STATE, FALSE, name->c_str()));
  return event.valid() && ::SetEvent(event.get()) != 0;
}

// A process is on one console at most: where we are on none, we go on its own for the moment. That
// may exchange our standard handles.
void break_its_group(DWORD pid, bool shares_console) {
  if (shares_console) {
    (void)::GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, pid);
    return;
  }
  constexpr std::array<DWORD, 3> kIds = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
  std::array<HANDLE, 3> ours{};
  for (std::size_t i = 0; i < kIds.size(); ++i) ours[i] = ::GetStdHandle(kIds[i]);
  if (::AttachConsole(pid) == 0) return;
  (void)::GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, pid);
  (void)::FreeConsole();
  for (std::size_t i = 0; i < kIds.size(); ++i) ::SetStdHandle(kIds[i], ours[i]);
}

// Held open, so that no other process has the pid meanwhile.
struct Member {
  core::Handle process;
  DWORD pid = 0;
};

std::vector<Member> members_of(HANDLE job) {
  constexpr std::size_t kMost = 1024;
  std::vector<std::byte> bytes(sizeof(JOBOBJECT_BASIC_PROCESS_ID_LIST) + kMost * sizeof(ULONG_PTR));
  auto* const list = reinterpret_cast<JOBOBJECT_BASIC_PROCESS_ID_LIST*>(bytes.data());
  // ERROR_MORE_DATA: those that fit are there.
  if (::QueryInformationJobObject(job, JobObjectBasicProcessIdList, list,
                                  static_cast<DWORD>(bytes.size()), nullptr) == 0 &&
      ::GetLastError() != ERROR_MORE_DATA) {
    return {};
  }
  std::vector<Member> members;
  for (DWORD i = 0; i < list->NumberOfProcessIdsInList; ++i) {
    const auto pid = static_cast<DWORD>(list->ProcessIdList[i]);
    core::Handle process(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
    BOOL is_member = FALSE;
    if (process.valid() && ::GetProcessId(process.get()) == pid &&
        ::IsProcessInJob(process.get(), job, &is_member) != 0 && is_member != FALSE) {
      members.push_back({std::move(process), pid});
    }
  }
  return members;
}

BOOL CALLBACK close_window(HWND window, LPARAM argument) {
  const auto& members = *reinterpret_cast<const std::vector<Member>*>(argument);
  DWORD owner = 0;
  ::GetWindowThreadProcessId(window, &owner);
  // A window that is owned, or that nobody sees, is closed by its program as it sees fit.
  if (::IsWindowVisible(window) == 0 || ::GetWindow(window, GW_OWNER) != nullptr) return TRUE;
  for (const Member& member : members) {
    if (member.pid == owner) (void)::PostMessageW(window, WM_CLOSE, 0, 0);
  }
  return TRUE;
}

}  // namespace

void ask_to_stop(HANDLE process, HANDLE job, bool shares_console) {
  if (set_its_event(process)) return;
  break_its_group(::GetProcessId(process), shares_console);
  const std::vector<Member> members = members_of(job);
  (void)::EnumWindows(close_window, reinterpret_cast<LPARAM>(&members));
}

}  // namespace rollcall::regtool
