// The macOS backend's own source over the fake kernel of its tests, on Linux.
#include <sys/proc.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "backends/macos/control.hpp"
#include "backends/macos/probe.hpp"
#include "backends/macos/slots.hpp"
#include "backends/macos/watcher.hpp"
#include "stage.hpp"
#include "tests/backends/macos/fake_mac.hpp"

namespace rollcall::conformance {
namespace {

using testing::FakeMac;

class MacosFakeStage final : public Stage {
 public:
  MacosFakeStage() : probe_(mac_.system()), control_(mac_.system()), watcher_(mac_.system()) {
    const rollcall_host host = mac_.host();
    if (macos_backend::init(&host, nullptr) != ROLLCALL_OK) std::abort();
    backend_ = {&macos_backend::probe_table(),   macos_backend::instance_of(probe_),
                &macos_backend::control_table(), macos_backend::instance_of(control_),
                &macos_backend::watch_table(),   macos_backend::instance_of(watcher_)};
    if (!watcher_.ready().ok()) std::abort();
  }
  [[nodiscard]] std::string platform() const override { return "macOS"; }
  [[nodiscard]] const Backend& backend() override { return backend_; }
  [[nodiscard]] std::int64_t own_pid() const override { return FakeMac::kOwnPid; }
  [[nodiscard]] std::int64_t now_ns() const override { return mac_.monotonic_ns; }

  std::int64_t run() override { return start(1); }
  void end(std::int64_t pid, int) override { mac_.exit(static_cast<int>(pid)); }
  void end_soon(std::int64_t pid, int) override {
    mac_.while_waiting = [this, pid](std::int64_t) {
      mac_.while_waiting = nullptr;
      mac_.exit(static_cast<int>(pid));
    };
  }
  [[nodiscard]] bool runs(std::int64_t pid) override { return !has_ended(pid); }
  [[nodiscard]] bool has_ended(std::int64_t pid) override {
    for (const auto& [to, number] : mac_.signals) {
      if (to == pid && (number == SIGTERM || number == SIGKILL)) return true;
    }
    return mac_.at(static_cast<int>(pid)).info.pbi_status == SZOMB;
  }
  std::int64_t free_pid() override { return 60000; }

  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    const std::int64_t pid = run();
    mac_.at(static_cast<int>(pid)).refused = EPERM;
    return std::pair{backend_, pid};
  }
  std::optional<std::int64_t> replace(std::int64_t pid) override {
    const int number = static_cast<int>(pid);
    mac_.exit(number, true);
    mac_.add(number, kStart, 43);
    return pid;
  }
  // Threads are numbered apart from processes.
  std::optional<std::int64_t> thread() override { return free_pid() + 1; }
  bool suspend(std::int64_t pid) override {
    mac_.at(static_cast<int>(pid)).info.pbi_status = SSTOP;
    return true;
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> family() override {
    const int parent = start(1);
    return std::pair<std::int64_t, std::int64_t>{parent, start(parent)};
  }
  std::optional<std::int64_t> run_with(const Started& with) override {
    const int pid = start(1);
    mac_.at(pid).arguments = testing::argument_area(static_cast<int>(with.arguments.size()),
                                                    with.arguments, with.environment);
    mac_.at(pid).directory = "/Users/me/" + with.directory;
    return pid;
  }
  [[nodiscard]] std::string name() const override { return "agent"; }
  std::optional<Door> door() override {
    constexpr int kSocket = 30;
    const auto members = family();
    mac_.connections[kSocket] = {.door = "127.0.0.1:80", .own = "127.0.0.1:50000"};
    auto& descriptors = mac_.at(static_cast<int>(members->second)).descriptors;
    descriptors.push_back(testing::tcp_descriptor(3, 0x100, "127.0.0.1:80"));
    descriptors.push_back(testing::tcp_descriptor(4, 0x200, "127.0.0.1:80", "127.0.0.1:50000"));
    return Door{.socket = kSocket, .holder = members->second, .parent = members->first};
  }
  std::optional<Door> unix_door() override {
    constexpr int kSocket = 31;
    const int pid = start(1);
    mac_.connections[kSocket] = {.local = true, .door = {}, .own = {}, .peer_pid = pid};
    return Door{.socket = kSocket, .holder = pid};
  }

 private:
  static constexpr std::uint64_t kStart = 1'700'000'100;

  int start(int parent) {
    mac_.add(++last_, kStart, 42, parent);
    return last_;
  }

  FakeMac mac_;
  macos_backend::Probe probe_;
  macos_backend::Control control_;
  macos_backend::Watcher watcher_;
  Backend backend_;
  int last_ = 5000;
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<MacosFakeStage>(); }

}  // namespace rollcall::conformance
