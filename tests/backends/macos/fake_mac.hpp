// A macOS kernel as far as the backend asks one: a table of processes that the test controls, calls
// that are refused, cut or interrupted on demand, and a clock that moves only when something waits.
// Directories are real ones, of which it tells what macOS would. Whoever waits on a queue that can
// be woken (EVFILT_USER) waits in truth; waking is the one call that other threads may make. The
// same functions serve the backend's source, compiled for Linux, and the machine code of its x86-64
// dylib.
#pragma once

#include <sys/event.h>
#include <sys/proc_info.h>
#include <sys/resource.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/macos/system.hpp"
#include "rollcall/plugin.h"

namespace rollcall::testing {

// A TCP or other descriptor of a process.
struct FakeDescriptor {
  std::int32_t number = 3;
  std::uint32_t type = PROX_FDTYPE_SOCKET;
  socket_info socket = {};
};

struct FakeProcess {
  proc_bsdinfo info = {};
  std::string arguments;  // what KERN_PROCARGS2 gives
  std::string directory = "/";
  std::vector<FakeDescriptor> descriptors;
  int refused = 0;  // errno of whatever is asked about it; 0: none
};

// A connected socket of ours.
struct FakeConnection {
  bool local = false;  // AF_UNIX
  std::string door;    // "127.0.0.1:80" or "[::1]:80"
  std::string own;
  int peer_pid = 0;  // AF_UNIX
  unsigned peer_uid = 501;
};

// The addresses that getpeername and getsockname give: Linux's layout or macOS's.
enum class SocketLayout : std::uint8_t { kLinux, kMacos };

// One at a time.
class FakeMac {
 public:
  explicit FakeMac(SocketLayout layout = SocketLayout::kLinux);
  ~FakeMac();
  FakeMac(const FakeMac&) = delete;
  FakeMac& operator=(const FakeMac&) = delete;

  // The calls, for the backend's source.
  [[nodiscard]] const macos_backend::System& system() const { return system_; }
  // The function of a name as a dylib imports it ("_kill"); null: none is faked.
  [[nodiscard]] static void* function(std::string_view name);
  // A host whose clock is this one's.
  [[nodiscard]] rollcall_host host();

  static constexpr int kOwnPid = 4000;
  static constexpr unsigned kOwnUid = 501;

  // A process of our user that runs, started at the given second and microsecond.
  FakeProcess& add(int pid, std::uint64_t second = 1'700'000'100, std::uint32_t microsecond = 42,
                   int parent = 1);
  [[nodiscard]] FakeProcess& at(int pid) { return processes.at(pid); }
  // Its end, as a zombie or collected at once. Reported to whoever watches it.
  void exit(int pid, bool collected = false);

  std::map<int, FakeProcess> processes;
  std::map<int, FakeConnection> connections;
  std::map<std::string, std::string> names;  // of sysctlbyname; a missing one is ENOENT
  std::string host_name = "mac.local";
  std::int64_t unix_ns = 1'700'000'500'000'000'000;
  std::int64_t monotonic_ns = 1'000'000'000;
  int argument_limit = 65536;
  std::uint64_t descriptor_limit = 256;
  int next_descriptor = 50;  // of open

  std::map<std::string, int> refuse;  // call -> errno
  // call -> the one call of it that is refused, counted from 1, and with which errno
  std::map<std::string, std::pair<int, int>> refuse_nth;
  std::map<std::string, int> cut;                  // call -> how many bytes less it gives
  std::map<std::string, int> counts;               // call -> how often
  std::vector<std::string> calls;                  // in order
  std::vector<std::pair<int, int>> signals;        // pid and number of each kill
  std::function<void(const std::string&)> before;  // called with each call's name, before it acts
  std::function<void(std::int64_t)>
      while_waiting;  // called with each wait's length, before it ends

 private:
  friend struct FakeCalls;
  struct Watch {
    int queue = 0;
    int pid = 0;
    std::uint64_t start = 0;  // of the very process that is watched
    bool fired = false;
  };
  struct Folder {
    int real = -1;  // O_PATH
    std::string path;
  };
  struct FolderWatch {
    int queue = 0;
    int fd = 0;
    std::set<std::string> entries;  // as they were when it was told last
  };
  struct User {
    bool triggered = false;
  };
  bool enter(const char* call);
  void wait(std::int64_t ns);
  int change(int queue, const struct kevent& change);
  int change_process(int queue, const struct kevent& change);
  int gather(int queue, struct kevent* events, int room);
  int await(int queue, struct kevent* events, int room, const struct timespec* timeout);
  void block(int queue, std::int64_t ns);
  void trigger(int queue);
  bool can_be_woken(int queue);
  int open_folder(const char* path, bool follow);
  void close_folder(int fd);
  std::uint32_t news_of(FolderWatch& watch);
  std::set<std::string> entries_of(int fd);

  macos_backend::System system_ = {};
  SocketLayout layout_;
  std::vector<Watch> watches_;
  std::map<int, Folder> folders_;
  std::vector<FolderWatch> folder_watches_;
  std::mutex mutex_;  // of users_
  std::condition_variable woken_;
  std::map<int, User> users_;  // by queue
  int next_queue_ = 900;
};

// Bytes of a KERN_PROCARGS2 area.
std::string argument_area(int argc, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment,
                          const std::string& path = "/usr/local/bin/agent");

// A TCP socket among a process's descriptors: "127.0.0.1:80", "*:80" (IPv4), "[::]:80" (both
// families), "[::1]:80"; without a remote end it listens.
FakeDescriptor tcp_descriptor(int number, std::uint64_t handle, const std::string& local,
                              const std::string& remote = {});

}  // namespace rollcall::testing
