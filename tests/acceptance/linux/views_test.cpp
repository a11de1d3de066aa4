// Records that were made from another view of this machine: a container, a namespace.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/forced_pid_linux.hpp"
#include "support/process.hpp"
#include "support/rig.hpp"

namespace rollcall {
namespace {

using test::Rig;
using testing::Child;

// The first child of a process; 0: it has none.
pid_t first_child(pid_t parent) {
  const std::string at = "/proc/" + std::to_string(parent);
  std::ifstream in(at + "/task/" + std::to_string(parent) + "/children");
  pid_t child = 0;
  in >> child;
  return child;
}

// In a mount namespace made below a chroot, the program that runs lies outside of what can be
// named, and Rollcall's own plugins with it.
constexpr int kOutside = 5;
bool knows_itself() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return !error && std::filesystem::exists(self, error);
}

// What a container does: registers itself on the shared home, in a pid namespace of its own.
int register_inside(const std::string& home) {
  Rig inside(home);
  if (!inside.problem.empty()) return knows_itself() ? 3 : kOutside;
  Record record;
  record.session_id = "inside";
  record.name = "container";
  record.version = "1";
  record.workdir = "/";
  RegisterOptions options;
  options.guarded = false;
  return inside.registry->register_session(record, options, {}) ? 0 : 4;
}

// The record of another view: read, pruned, stopped and killed from ours.
void expect_kept_unverified_and_unsignalled(Rig& outside) {
  ASSERT_TRUE(outside.has_record("inside"));
  SweepOptions options;
  options.prune = true;
  const auto sweep = outside.registry->sweep(options, {});
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_EQ(sweep->sessions.size(), 1u);
  EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(sweep->sessions[0].finding.reason, Reason::kForeignView);
  EXPECT_TRUE(outside.has_record("inside"));
  const auto report = outside.registry->stop("inside", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kRefused);
  EXPECT_TRUE(report->signals.empty());
  const auto killed = outside.registry->kill("inside", Signal::kKill, 0, {});
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->outcome, StopOutcome::kRefused);
  EXPECT_TRUE(killed->signals.empty());
  EXPECT_TRUE(outside.has_record("inside"));
}

TEST(Views, KeepsARecordOfAContainerAndNeverSignalsItsNumber) {
  Rig outside;
  ASSERT_TRUE(outside.problem.empty()) << outside.problem;
  const std::string home = outside.home_path;
  const int code = testing::in_pid_namespace([home] { return register_inside(home); });
  if (code == -1) GTEST_SKIP() << "no pid namespace can be made here";
  if (code == kOutside) GTEST_SKIP() << "in a chroot the test cannot find its plugins there";
  ASSERT_EQ(code, 0);
  expect_kept_unverified_and_unsignalled(outside);
}

// A session in a container that runs until it is told to end.
class RunningInside {
 public:
  explicit RunningInside(const std::string& home) {
    if (::pipe2(ready_, O_CLOEXEC) != 0 || ::pipe2(end_, O_CLOEXEC) != 0) std::abort();
    session_ = Child::run([this, home] {
      const int code = testing::in_pid_namespace([this, home]() -> int {
        if (const int failed = register_inside(home); failed != 0) return failed;
        char byte = 'r';
        if (::write(ready_[1], &byte, 1) != 1) return 5;
        return ::read(end_[0], &byte, 1) == 1 ? 0 : 6;
      });
      return code == -1 ? kNoNamespace : code;
    });
    ::close(ready_[1]);
    char byte = 0;
    registered_ = ::read(ready_[0], &byte, 1) == 1;
  }
  RunningInside(const RunningInside&) = delete;
  RunningInside& operator=(const RunningInside&) = delete;
  ~RunningInside() {
    for (const int fd : {ready_[0], end_[0], end_[1]}) ::close(fd);
  }

  static constexpr int kNoNamespace = 77;
  [[nodiscard]] bool registered() const { return registered_; }
  // Its exit code, once it was told to end: 0 if nothing else ended it before. -1: a signal did.
  int end() {
    if (::write(end_[1], "e", 1) != 1) return -2;
    const auto status = session_.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
  }

 private:
  int ready_[2];
  int end_[2];
  Child session_;
  bool registered_ = false;
};

TEST(Views, KeepsTheRecordOfARunningContainerAndNeverSignalsItsSession) {
  const testing::TempDir home;
  RunningInside session(home.path().string());
  if (!session.registered()) {
    const int code = session.end();
    if (code == RunningInside::kNoNamespace) GTEST_SKIP() << "no pid namespace can be made here";
    if (code == kOutside) GTEST_SKIP() << "in a chroot the test cannot find its plugins there";
    FAIL() << "the session inside ended with " << code;
  }
  Rig outside(home.path().string());
  ASSERT_TRUE(outside.problem.empty()) << outside.problem;
  expect_kept_unverified_and_unsignalled(outside);
  EXPECT_EQ(session.end(), 0);
  EXPECT_TRUE(outside.has_record("inside"));
}

TEST(Views, StopsTheInitOfANamespaceOnlyWhenForced) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a pid namespace";
  Child container = Child::exec({"unshare", "-pf", "--kill-child", "sleep", "100"});
  ASSERT_TRUE(testing::wait_until([&] {
    const pid_t child = first_child(container.pid());
    return child > 0 && testing::slurp("/proc/" + std::to_string(child) + "/comm") == "sleep\n";
  }));
  const pid_t init = first_child(container.pid());
  Rig rig;
  ASSERT_TRUE(rig.problem.empty()) << rig.problem;
  ASSERT_TRUE(rig.record_process("init", init));
  StopOptions options;
  options.second_after_ms = 100;
  options.total_ms = 300;
  const auto report = rig.registry->stop("init", options, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(report->signals.size(), 2u);
  options.force = true;
  options.total_ms = 3000;
  EXPECT_EQ(rig.registry->stop("init", options, {})->outcome, StopOutcome::kEnded);
}

}  // namespace
}  // namespace rollcall
