// Real processes of this POSIX system, and the backend as it was built.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/close_on_exec_posix.hpp"
#include "plugin/shared_library.hpp"
#include "rollcall/plugin.hpp"
#include "stage.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

namespace rollcall::conformance {

using namespace std::chrono_literals;
using testing::Child;

// The entry of a backend's library in the build tree. Aborts where there is none.
inline const rollcall_entry& entry_of(const std::string& library_name) {
  static const auto library =
      loader::SharedLibrary::load(std::string(test::kPluginDir) + "/" + library_name);
  if (!library) std::abort();
  const auto datum = library->find(ROLLCALL_ENTRY_SYMBOL);
  if (!datum || datum->size() < sizeof(rollcall_entry)) std::abort();
  return *reinterpret_cast<const rollcall_entry*>(datum->data());
}

// A stream socket that no program inherits.
inline int private_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM, 0);
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

// Writes numbers to whoever made the pipe, and reads them there.
class Numbers {
 public:
  Numbers() {
    if (core::open_pipe(ends_) != 0) std::abort();
  }
  ~Numbers() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  void tell(std::int64_t number) const {
    if (::write(ends_[1], &number, sizeof number) != sizeof number) ::_exit(1);
  }
  [[nodiscard]] std::int64_t ask() const {
    std::int64_t number = -1;
    ssize_t got = 0;
    do got = ::read(ends_[0], &number, sizeof number);
    while (got < 0 && errno == EINTR);
    return number;
  }

 private:
  int ends_[2] = {-1, -1};
};

// Listens on a port of the loopback address, and tells it.
inline int listen_and_tell(const Numbers& numbers) {
  const int fd = private_socket(AF_INET);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd, 4) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return 1;
  }
  numbers.tell(ntohs(at.sin_port));
  return testing::pause_for_ever();
}

class PosixStage : public Stage {
 public:
  ~PosixStage() override {
    if (later_.joinable()) later_.join();
    for (const int socket : sockets_) ::close(socket);
    // Their parents, which reap nobody, are still there: nobody else has these numbers.
    for (const pid_t pid : grandchildren_) ::kill(pid, SIGKILL);
  }
  [[nodiscard]] std::int64_t own_pid() const override { return ::getpid(); }
  [[nodiscard]] std::int64_t now_ns() const override { return plugin::now_ns(); }

  // It exits with the code that it is told.
  std::int64_t run() override {
    const auto code = std::make_shared<Numbers>();
    const std::int64_t pid = keep(Child::run([&] { return static_cast<int>(code->ask()); }));
    codes_[pid] = code;
    return pid;
  }
  void end(std::int64_t pid, int code) override {
    codes_.at(pid)->tell(code);
    const auto ended = [&] { return testing::is_zombie(static_cast<pid_t>(pid)); };
    if (!testing::wait_until(ended)) std::abort();
  }
  void end_soon(std::int64_t pid, int code) override {
    later_ = std::thread([told = codes_.at(pid), code] {
      std::this_thread::sleep_for(50ms);  // so that it is mostly awaited by then
      told->tell(code);
    });
  }
  [[nodiscard]] bool runs(std::int64_t pid) override { return children_.at(pid).alive(); }
  [[nodiscard]] bool has_ended(std::int64_t pid) override {
    return children_.at(pid).wait().has_value();
  }
  std::int64_t free_pid() override { return testing::free_pid(); }

  bool suspend(std::int64_t pid) override {
    children_.at(pid).signal(SIGSTOP);
    return testing::wait_until([&] { return testing::state_of(static_cast<pid_t>(pid)) == 'T'; });
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> family() override {
    const Numbers numbers;
    const std::int64_t parent = keep(Child::run([&]() -> int {
      const Child child = Child::run(&testing::pause_for_ever);
      numbers.tell(child.pid());
      return testing::pause_for_ever();
    }));
    return std::pair{parent, keep_grandchild(numbers.ask())};
  }
  std::optional<std::int64_t> run_with(const Started& with) override {
    const auto directory = dir_ / "here";
    std::filesystem::create_directories(directory);
    std::vector<char*> arguments = pointers(with.arguments);
    std::vector<char*> environment = pointers(with.environment);
    const std::string program = ROLLCALL_TEST_IDLE;
    int ready[2];
    if (core::open_pipe(ready) != 0) std::abort();
    const std::int64_t pid = keep(Child::run([&] {
      if (::chdir(directory.c_str()) != 0) return 1;
      ::execve(program.c_str(), arguments.data(), environment.data());
      return 127;
    }));
    ::close(ready[1]);
    char byte = 0;
    while (::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
    }
    ::close(ready[0]);
    return pid;
  }
  [[nodiscard]] std::string name() const override { return "rollcall_idle"; }

  std::optional<Door> door() override {
    const Numbers ports;
    const Numbers pids;
    Door door;
    door.parent = keep(Child::run([&]() -> int {
      const Child child = Child::run([&] { return listen_and_tell(ports); });
      pids.tell(child.pid());
      return testing::pause_for_ever();
    }));
    door.holder = keep_grandchild(pids.ask());
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(ports.ask()));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!connect(AF_INET, at, door.socket)) std::abort();
    return door;
  }
  std::optional<Door> unix_door() override {
    const Numbers numbers;
    sockaddr_un at = {};
    at.sun_family = AF_UNIX;
    const std::string path = (dir_ / "door").string();
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    Door door;
    door.holder = keep(Child::run([&]() -> int {
      const int fd = private_socket(AF_UNIX);
      if (::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return 1;
      if (::listen(fd, 4) != 0) return 1;
      numbers.tell(1);
      return testing::pause_for_ever();
    }));
    if (numbers.ask() != 1 || !connect(AF_UNIX, at, door.socket)) std::abort();
    return door;
  }

 protected:
  std::int64_t keep(Child child) {
    const std::int64_t pid = child.pid();
    children_[pid] = std::move(child);
    return pid;
  }
  std::int64_t keep_grandchild(std::int64_t pid) {
    if (pid <= 1) std::abort();
    grandchildren_.push_back(static_cast<pid_t>(pid));
    return pid;
  }
  [[nodiscard]] Child& child_of(std::int64_t pid) { return children_.at(pid); }
  [[nodiscard]] const testing::TempDir& dir() const { return dir_; }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
  }
  template <class Address>
  bool connect(int family, const Address& at, std::int64_t& socket) {
    const int fd = private_socket(family);
    sockets_.push_back(fd);
    socket = fd;
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }

  testing::TempDir dir_;
  std::map<std::int64_t, std::shared_ptr<Numbers>> codes_;
  std::map<std::int64_t, Child> children_;
  std::vector<pid_t> grandchildren_;
  std::vector<int> sockets_;
  std::thread later_;
};

}  // namespace rollcall::conformance
