// A Windows of our own making: processes, memory, sockets and what the calls say of them. Any
// platform. One at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/windows/probe.hpp"
#include "backends/windows/system.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::testing {

using windows_backend::Code;
using windows_backend::Handle;

struct FakeProcess {
  std::uint64_t created = 134'000'000'000'000'000;  // in 2025
  std::uint32_t parent = 0;
  std::u16string name = u"sleep.exe";
  bool exited = false;
  std::uint32_t exit_code = 259;  // STILL_ACTIVE, as GetExitCodeProcess says of a running process
  Code open_error = 0;            // whatever is asked for
  Code terminate_error = 0;       // where PROCESS_TERMINATE is asked for
  Code read_error = 0;            // where PROCESS_VM_READ is asked for
  bool console = false;           // shares our console
  std::uint32_t windows = 0;      // visible ones on our desktop
  windows_backend::PebPlace peb;
  std::map<std::uint64_t, std::vector<std::byte>> memory;
};

class FakeWindows {
 public:
  static constexpr std::uint32_t kOwnPid = 8000;

  FakeWindows();
  ~FakeWindows();
  FakeWindows(const FakeWindows&) = delete;
  FakeWindows& operator=(const FakeWindows&) = delete;

  [[nodiscard]] const windows_backend::System& table() const;

  // The parameters of a process, as its memory holds them.
  struct Started {
    std::u16string command = u"sleep.exe 600";
    std::u16string directory = u"C:\\work\\";
    std::u16string environment = std::u16string(u"A=1\0B=2\0\0", 9);
    std::uint32_t group = 0;
    bool narrow = false;
  };
  void start(std::uint32_t pid, const Started& with);

  std::map<std::uint32_t, FakeProcess> processes;
  std::vector<windows_backend::TcpRow> sockets;
  std::map<std::int64_t, std::pair<windows_backend::SocketName, windows_backend::SocketName>>
      connections;                    // socket -> peer, own
  std::map<std::string, Code> fails;  // call -> what it fails with
  std::map<std::string, int> counts;  // call -> how often
  std::map<std::u16string, int>
      events;  // the named events that there are, and how often each was set
  windows_backend::BootTimes boot{134'000'000'000'000'000, 0};
  std::uint64_t clock = 134'000'000'600'000'000;  // a minute after the processes' start
  std::vector<std::uint32_t> breaks;              // the groups that got Ctrl-Break
  std::vector<std::uint32_t> closed;              // whose windows were closed
  std::uint64_t open_handles = 0;
  std::function<void()> before_wait;  // called before each wait
  std::function<void()> before_read;  // called before each reading of memory
};

// No bounds, and bounds of `limit` from now.
inline plugin::Call unbounded() { return plugin::Call(nullptr); }
plugin::Call bounded(std::chrono::milliseconds limit);

// One reading.
rollcall_observation observe(windows_backend::Probe& probe, std::int64_t pid,
                             std::uint32_t wants = ROLLCALL_WANT_START_TOKEN);
std::string token_of(const rollcall_observation& seen);
std::string reason_of(const rollcall_observation& seen);

// One thing of a process, or the code of why not.
struct Detail {
  std::int32_t code = 0;
  std::string bytes;
};
Detail read(plugin::ProcessProbe& probe, std::int64_t pid, std::uint32_t what);
// A process table: pid -> parent (-1: not known).
std::map<std::int64_t, std::int64_t> list(plugin::ProcessProbe& probe);

}  // namespace rollcall::testing
