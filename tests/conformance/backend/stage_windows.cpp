// Real processes of this Windows, and the backend as it was built.
#include <winsock2.h>
// After winsock2.h:
#include <ws2tcpip.h>
// After ws2tcpip.h:
#include <windows.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "core/command_line.hpp"
#include "plugin/shared_library.hpp"
#include "rollcall/plugin.hpp"
#include "stage.hpp"
#include "support/paths.hpp"
#include "tests/backends/windows/companion_windows.hpp"

namespace rollcall::conformance {
namespace {

using testing::Companion;
using testing::CompanionStart;

const rollcall_entry& entry() {
  static const auto library =
      loader::SharedLibrary::load(std::string(test::kPluginDir) + "/rollcall_backend_windows.dll");
  if (!library) std::abort();
  const auto datum = library->find(ROLLCALL_ENTRY_SYMBOL);
  if (!datum || datum->size() < sizeof(rollcall_entry)) std::abort();
  return *reinterpret_cast<const rollcall_entry*>(datum->data());
}

std::wstring widen(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end())).wstring();
}

class WindowsStage final : public Stage {
 public:
  ~WindowsStage() override {
    if (later_.joinable()) later_.join();
    if (socket_ != INVALID_SOCKET) ::closesocket(socket_);
    std::error_code ignored;
    companions_.clear();  // a directory that a process stands in cannot go
    if (!directory_.empty()) std::filesystem::remove_all(directory_.parent_path(), ignored);
  }
  [[nodiscard]] std::string platform() const override { return "Windows"; }
  [[nodiscard]] const Backend& backend() override {
    static const Backend opened = open_backend(entry());
    return opened;
  }
  [[nodiscard]] std::int64_t own_pid() const override { return ::GetCurrentProcessId(); }
  [[nodiscard]] std::int64_t now_ns() const override { return plugin::now_ns(); }

  std::int64_t run() override { return keep({}); }
  void end(std::int64_t pid, int exit_code) override {
    companion(pid).tell(exit_code);
    if (!companion(pid).ended()) std::abort();
  }
  void end_soon(std::int64_t pid, int exit_code) override {
    later_ = std::thread([told = &companion(pid), exit_code] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // mostly awaited by then
      told->tell(exit_code);
    });
  }
  [[nodiscard]] bool runs(std::int64_t pid) override { return !companion(pid).ended(0); }
  [[nodiscard]] bool has_ended(std::int64_t pid) override { return companion(pid).ended(); }
  // No number is so high within the numbers of 32 bits and is a multiple of 4.
  std::int64_t free_pid() override { return 0x7FFFFFFC; }

  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    const std::int64_t pid = keep({.closed = true});
    const HANDLE opened =
        ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid));
    if (opened == nullptr) return std::pair{backend(), pid};
    ::CloseHandle(opened);  // a privilege of ours opens whatever is closed
    return std::nullopt;
  }
  // Numbers that were given up are used anew one after the other, by processes and threads alike:
  // threads that end at once go through them, and when the one comes up that stood before `pid`'s,
  // the next is for a process.
  std::optional<std::int64_t> replace(std::int64_t pid) override {
    let_go(pid);
    if (is_kept(pid)) return run();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::int64_t before = 0;  // 0: not known yet
    std::int64_t last = 0;
    while (std::chrono::steady_clock::now() < until) {
      const std::int64_t number = number_of_a_thread();
      if (number == pid) before = last;
      last = number;
      if (before == 0 || number != before) continue;
      const std::int64_t started = run();
      if (started == pid) return pid;
      let_go(started);
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> thread() override { return ::GetCurrentThreadId(); }
  std::optional<std::pair<std::int64_t, std::int64_t>> family() override {
    const std::int64_t parent = keep({.mode = L"parent"});
    return std::pair{parent, companion(parent).ask()};
  }
  std::optional<std::int64_t> run_with(const Started& with) override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("rollcall-" + std::to_string(::GetCurrentProcessId())) / "here";
    std::filesystem::create_directories(directory_);
    CompanionStart start{.mode = L"idle", .directory = directory_.wstring()};
    const auto line = core::windows_command_line(with.arguments);
    if (!line) std::abort();
    start.command_line = widen(*line);
    for (const std::string& one : with.environment) start.environment += widen(one) + L'\0';
    return keep(start);
  }
  [[nodiscard]] std::string name() const override { return "rollcall_companion.exe"; }

  std::optional<Door> door() override {
    Door door;
    door.parent = keep({.mode = L"listening parent"});
    door.holder = companion(door.parent).ask();
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_port = ::htons(static_cast<u_short>(companion(door.parent).ask()));
    at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) std::abort();
    door.socket = static_cast<std::int64_t>(socket_);
    return door;
  }

 private:
  std::int64_t keep(const CompanionStart& start) {
    Companion started(start);
    const std::int64_t pid = started.pid();
    companions_.emplace(pid, std::move(started));
    return pid;
  }
  Companion& companion(std::int64_t pid) { return companions_.at(pid); }
  void let_go(std::int64_t pid) {
    end(pid, 0);
    companions_.erase(pid);
  }
  // Whether somebody's handle keeps the number of a process that has ended, now and for a while.
  static bool is_kept(std::int64_t pid) {
    for (int i = 0; i < 100; ++i) {
      const auto number = static_cast<DWORD>(pid);
      const HANDLE opened = ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, number);
      const bool is_it = opened != nullptr && ::GetProcessId(opened) == number;
      if (opened != nullptr) ::CloseHandle(opened);
      if (!is_it) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }
  static DWORD WINAPI do_nothing(void*) { return 0; }
  // 0: it could not be started.
  static std::int64_t number_of_a_thread() {
    DWORD number = 0;
    const HANDLE thread = ::CreateThread(nullptr, 0, &do_nothing, nullptr, 0, &number);
    if (thread == nullptr) return 0;
    ::WaitForSingleObject(thread, 5'000);
    ::CloseHandle(thread);
    return number;
  }

  std::map<std::int64_t, Companion> companions_;
  std::filesystem::path directory_;
  SOCKET socket_ = INVALID_SOCKET;
  std::thread later_;
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<WindowsStage>(); }

}  // namespace rollcall::conformance
