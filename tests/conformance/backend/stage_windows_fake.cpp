// The Windows backend's logic over the fake Windows of its own tests, on any platform.
#include <filesystem>
#include <memory>

#include "backends/windows/control.hpp"
#include "backends/windows/probe.hpp"
#include "core/command_line.hpp"
#include "rollcall/windows_stop.hpp"
#include "stage.hpp"
#include "tests/backends/windows/fake_system.hpp"

namespace rollcall::conformance {
namespace {

using testing::FakeWindows;
using windows_backend::Endpoint;
using windows_backend::Family;
using windows_backend::SocketName;

FakeWindows* on_stage = nullptr;

class FakedProbe final : public windows_backend::Probe {
 public:
  FakedProbe() : Probe(on_stage->table()) {}
};
class FakedControl final : public windows_backend::Control {
 public:
  FakedControl() : Control(on_stage->table()) {}
};

Endpoint loopback(std::uint16_t port) {
  const std::uint8_t address[] = {127, 0, 0, 1};
  return windows_backend::v4_endpoint(address, port);
}

std::u16string widen(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end())).u16string();
}

class WindowsFakeStage final : public Stage {
 public:
  WindowsFakeStage() {
    on_stage = &windows_;
    static constexpr rollcall_entry kEntry =
        plugin::Plugin<FakedProbe, FakedControl>::entry("rollcall.fake", "1", "Rollcall");
    backend_ = open_backend(kEntry);
  }
  ~WindowsFakeStage() override {
    backend_.probe->destroy(backend_.probe_self);
    backend_.control->destroy(backend_.control_self);
    on_stage = nullptr;
  }
  [[nodiscard]] std::string platform() const override { return "Windows"; }
  [[nodiscard]] std::string may_lack_watcher() const override {
    return "its watcher is of the system itself, which is not faked";
  }
  [[nodiscard]] const Backend& backend() override { return backend_; }
  [[nodiscard]] std::int64_t own_pid() const override { return FakeWindows::kOwnPid; }
  [[nodiscard]] std::int64_t now_ns() const override { return plugin::now_ns(); }

  std::int64_t run() override { return start(0, {}); }
  void end(std::int64_t pid, int exit_code) override {
    process(pid).exited = true;
    process(pid).exit_code = static_cast<std::uint32_t>(exit_code);
  }
  // At the third asking of its handle: it was read, and is awaited.
  void end_soon(std::int64_t pid, int exit_code) override {
    const int from = windows_.counts["wait"];
    windows_.before_wait = [this, pid, exit_code, from] {
      if (windows_.counts["wait"] >= from + 2) end(pid, exit_code);
    };
  }
  [[nodiscard]] bool runs(std::int64_t pid) override {
    return !process(pid).exited && windows_.events.at(event_of(pid)) == 0;
  }
  [[nodiscard]] bool has_ended(std::int64_t pid) override { return !runs(pid); }
  std::int64_t free_pid() override { return 60000; }

  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    const std::int64_t pid = run();
    process(pid).open_error = windows_backend::kAccessDenied;
    return std::pair{backend_, pid};
  }
  // A handle that is open keeps the number.
  std::optional<std::int64_t> replace(std::int64_t pid) override {
    if (windows_.open_handles > 0) {
      end(pid, 0);
      return run();
    }
    const std::uint64_t created = process(pid).created;
    windows_.processes.erase(static_cast<std::uint32_t>(pid));
    windows_.processes[static_cast<std::uint32_t>(pid)] = {.created = created + 1};
    return pid;
  }
  std::optional<std::int64_t> thread() override { return run() + 2; }  // ids of one kind
  std::optional<std::pair<std::int64_t, std::int64_t>> family() override {
    const std::int64_t parent = run();
    return std::pair{parent, start(parent, {})};
  }
  std::optional<std::int64_t> run_with(const Started& with) override {
    FakeWindows::Started started;
    const auto line = core::windows_command_line(with.arguments);
    if (!line) std::abort();
    started.command = widen(*line);
    started.directory = u"C:\\users\\" + widen(with.directory) + u"\\";
    started.environment = {};
    for (const std::string& entry : with.environment) {
      started.environment += widen(entry) + u'\0';
    }
    started.environment += u'\0';
    return start(0, started);
  }
  [[nodiscard]] std::string name() const override { return "sleep.exe"; }
  std::optional<Door> door() override {
    const auto family_of = family();
    constexpr std::int64_t kSocket = 500;
    windows_.sockets.push_back({.local = loopback(80),
                                .listening = true,
                                .pid = static_cast<std::uint32_t>(family_of->second)});
    windows_.connections[kSocket] = {SocketName{Family::kV4, loopback(80)},
                                     SocketName{Family::kV4, loopback(50000)}};
    return Door{.socket = kSocket, .holder = family_of->second, .parent = family_of->first};
  }
  std::optional<Door> unix_door() override {
    constexpr std::int64_t kSocket = 504;
    windows_.connections[kSocket] = {SocketName{Family::kUnix, {}}, SocketName{Family::kUnix, {}}};
    return Door{.socket = kSocket, .holder = run()};
  }

 private:
  std::int64_t start(std::int64_t parent, const FakeWindows::Started& with) {
    const std::uint32_t pid = next_;
    next_ += 4;
    windows_.start(pid, with);
    windows_.processes[pid].created += pid;
    windows_.processes[pid].parent = static_cast<std::uint32_t>(parent);
    windows_.events[event_of(pid)] = 0;
    return pid;
  }
  testing::FakeProcess& process(std::int64_t pid) {
    return windows_.processes.at(static_cast<std::uint32_t>(pid));
  }
  std::u16string event_of(std::int64_t pid) {
    return widen(plugin::stop_event_name(pid, std::to_string(process(pid).created)));
  }

  FakeWindows windows_;
  Backend backend_;
  std::uint32_t next_ = 9000;
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<WindowsFakeStage>(); }

}  // namespace rollcall::conformance
