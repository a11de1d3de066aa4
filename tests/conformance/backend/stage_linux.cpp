// Real processes of this Linux, and the backend as it was built.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <map>
#include <thread>

#include "plugin/shared_library.hpp"
#include "rollcall/plugin.hpp"
#include "stage.hpp"
#include "support/forced_pid.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

namespace rollcall::conformance {
namespace {

using namespace std::chrono_literals;
using testing::Child;

const rollcall_entry& entry() {
  static const auto library =
      loader::SharedLibrary::load(std::string(test::kPluginDir) + "/rollcall_backend_linux.so");
  if (!library) std::abort();
  const auto datum = library->find(ROLLCALL_ENTRY_SYMBOL);
  if (!datum || datum->size() < sizeof(rollcall_entry)) std::abort();
  return *reinterpret_cast<const rollcall_entry*>(datum->data());
}

// Writes numbers to whoever made the pipe, and reads them there.
class Numbers {
 public:
  Numbers() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) std::abort();
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
int listen_and_tell(const Numbers& numbers) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
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

class LinuxStage final : public Stage {
 public:
  ~LinuxStage() override {
    close_backend(blind_);
    if (later_.joinable()) later_.join();
    for (const int socket : sockets_) ::close(socket);
  }
  [[nodiscard]] std::string platform() const override { return "Linux"; }
  [[nodiscard]] const Backend& backend() override {
    static const Backend opened = open_backend(entry());
    return opened;
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

  // Under a procfs that shows no process but this one.
  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    const auto root = dir_ / "proc";
    std::filesystem::create_directory(root);
    std::filesystem::create_symlink(std::to_string(::getpid()), root / "self");
    blind_ = open_backend(entry(), {{"proc_root", root.string()}});
    return std::pair{blind_, run()};
  }
  std::optional<std::int64_t> replace(std::int64_t pid) override {
    Child& child = children_.at(pid);
    child.signal(SIGKILL);
    child.wait();
    Child newcomer = testing::sleeper_with_pid(static_cast<pid_t>(pid));
    if (newcomer.pid() != pid) return std::nullopt;
    child = std::move(newcomer);
    return pid;
  }
  std::optional<std::int64_t> thread() override {
    const Numbers numbers;
    keep(Child::run([&]() -> int {
      std::thread([&] {
        numbers.tell(::syscall(SYS_gettid));
        testing::pause_for_ever();
      }).detach();
      return testing::pause_for_ever();
    }));
    return numbers.ask();
  }
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
    return std::pair{parent, numbers.ask()};
  }
  std::optional<std::int64_t> run_with(const Started& with) override {
    const auto directory = dir_ / "here";
    std::filesystem::create_directories(directory);
    std::vector<char*> arguments = pointers(with.arguments);
    std::vector<char*> environment = pointers(with.environment);
    const std::string program = ROLLCALL_TEST_IDLE;
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) std::abort();
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
    door.holder = pids.ask();
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
      const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return 1;
      if (::listen(fd, 4) != 0) return 1;
      numbers.tell(1);
      return testing::pause_for_ever();
    }));
    if (numbers.ask() != 1 || !connect(AF_UNIX, at, door.socket)) std::abort();
    return door;
  }
  [[nodiscard]] std::string may_lack_exact_id() const override {
    return "this kernel has no exact ids (Linux 6.9 and later do)";
  }
  [[nodiscard]] std::string may_lack_machine_id() const override {
    return std::filesystem::exists("/etc/machine-id") ? "" : "this system has no /etc/machine-id";
  }

 private:
  std::int64_t keep(Child child) {
    const std::int64_t pid = child.pid();
    children_[pid] = std::move(child);
    return pid;
  }
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
  }
  template <class Address>
  bool connect(int family, const Address& at, std::int64_t& socket) {
    const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets_.push_back(fd);
    socket = fd;
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }

  testing::TempDir dir_;
  std::map<std::int64_t, std::shared_ptr<Numbers>> codes_;
  std::map<std::int64_t, Child> children_;
  std::vector<int> sockets_;
  Backend blind_;  // of denied()
  std::thread later_;
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<LinuxStage>(); }

}  // namespace rollcall::conformance
