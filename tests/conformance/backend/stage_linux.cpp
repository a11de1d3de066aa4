// What only Linux has on its stage: a procfs that shows less, forced pids, threads with numbers.
#include <filesystem>
#include <thread>

#include "stage_posix.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::conformance {
namespace {

const rollcall_entry& entry() { return entry_of("rollcall_backend_linux.so"); }

class LinuxStage final : public PosixStage {
 public:
  ~LinuxStage() override { close_backend(blind_); }
  [[nodiscard]] std::string platform() const override { return "Linux"; }
  [[nodiscard]] const Backend& backend() override {
    static const Backend opened = open_backend(entry());
    return opened;
  }

  // Under a procfs that shows no process but this one.
  std::optional<std::pair<Backend, std::int64_t>> denied() override {
    const auto root = dir() / "proc";
    std::filesystem::create_directory(root);
    std::filesystem::create_symlink(std::to_string(::getpid()), root / "self");
    blind_ = open_backend(entry(), {{"proc_root", root.string()}});
    return std::pair{blind_, run()};
  }
  std::optional<std::int64_t> replace(std::int64_t pid) override {
    Child& child = child_of(pid);
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
  [[nodiscard]] std::string may_lack_exact_id() const override {
    return "this kernel has no exact ids (Linux 6.9 and later do)";
  }
  [[nodiscard]] std::string may_lack_machine_id() const override {
    return std::filesystem::exists("/etc/machine-id") ? "" : "this system has no /etc/machine-id";
  }

 private:
  Backend blind_;  // of denied()
};

}  // namespace

std::unique_ptr<Stage> make_stage() { return std::make_unique<LinuxStage>(); }

}  // namespace rollcall::conformance
