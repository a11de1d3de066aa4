// Stopping whole trees of real processes: those that fork on, leave their session, lose their
// parents, and those beside them that are nobody's business.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "support/family.hpp"
#include "support/forced_pid_linux.hpp"
#include "support/rig.hpp"
#include "support/signal_log.hpp"
#include "support/stat_fields_linux.hpp"

namespace rollcall {
namespace {

using test::Rig;
using test::SignalLog;
using testing::Child;
using testing::Family;
using testing::wait_until;

StopOptions with_tree(bool force = false) {
  StopOptions options;
  options.tree = true;
  options.force = force;
  options.second_after_ms = 300;
  options.total_ms = 8000;
  return options;
}

// A root that waits, with a child in a session of its own and a grandchild.
constexpr const char* kThree = R"(
  echo $$ >> $log
  setsid sh -c 'echo $$ >> '$log'; sh -c "echo \$\$ >> '$log'; exec sleep 600" & wait' &
  wait)";

class TreeStop : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(rig.problem.empty()) << rig.problem; }
  Result<StopReport> stop(pid_t pid, const StopOptions& options) {
    if (auto written = rig.record_process("s", pid); !written) {
      return tl::unexpected(written.error());
    }
    return rig.registry->stop("s", options, {});
  }
  static const StopMember* member(const StopReport& report, pid_t pid) {
    for (const StopMember& one : report.tree->members) {
      if (one.pid == pid) return &one;
    }
    return nullptr;
  }
  Rig rig;
};

TEST_F(TreeStop, EndsEachOfItByOneSigtermAndSaysWho) {
  Family family(kThree, 3);
  const auto report = stop(family.root(), with_tree());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kEnded) << report->reason;
  EXPECT_EQ(family.living(), 0U);
  ASSERT_TRUE(report->tree);
  EXPECT_EQ(report->tree->containment, Containment::kBestEffort);
  EXPECT_TRUE(report->tree->members.front().root);
  for (const pid_t pid : family.pids()) {
    const StopMember* const one = member(*report, pid);
    ASSERT_NE(one, nullptr) << pid;
    EXPECT_EQ(one->signals, std::vector<Signal>{Signal::kTerm});
    EXPECT_EQ(one->state, StopMember::State::kEnded);
    EXPECT_FALSE(one->start_token.empty());
  }
  EXPECT_FALSE(rig.has_record("s"));
}

TEST_F(TreeStop, WithoutTheTreeEndsTheProcessAlone) {
  Family family(kThree, 3);
  StopOptions alone;
  const auto report = stop(family.root(), alone);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_FALSE(report->tree);
  EXPECT_EQ(family.living(), 2U);
}

TEST_F(TreeStop, NeverTouchesABrotherOfTheSameGroupAndSession) {
  Family family(R"(
    sleep 600 & echo $! >> $log
    sh -c 'echo $$ >> '$log'; sleep 600 & wait' &
    wait)",
                2);
  const auto pids = family.pids();
  const pid_t brother = pids[0];
  const auto report = stop(pids[1], with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_TRUE(Family::alive(brother));
  EXPECT_TRUE(Family::alive(family.root()));
  EXPECT_EQ(testing::state_of(brother), 'S');
  EXPECT_EQ(member(*report, brother), nullptr);
}

TEST_F(TreeStop, LeavesNothingOfATreeThatKeepsForking) {
  // Each has a parent that lives: it forks as fast as it can, and no orphan is made.
  Family family(R"(
    for i in 1 2 3; do
      sh -c 'echo $$ >> '$log'; while :; do sleep 600 & echo $! >> '$log'; sleep 0.02; done' &
    done
    wait)",
                20);
  const auto report = stop(family.root(), with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded) << report->reason;
  EXPECT_TRUE(wait_until([&] { return family.living() == 0; })) << family.living();
}

TEST_F(TreeStop, LeavesAloneWhatHadLeftTheTreeBefore) {
  Family family(R"(
    sh -c 'sh -c "echo \$\$ >> '$log'; exec setsid sleep 600" & exit 0'
    echo $$ >> $log
    exec sleep 600)",
                2);
  auto pids = family.pids();
  std::erase(pids, family.root());
  const pid_t orphan = pids.at(0);
  ASSERT_TRUE(wait_until([&] { return testing::stat_fields(orphan)[1] != "0"; }));
  const auto report = stop(family.root(), with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(report->tree->containment, Containment::kBestEffort);
  EXPECT_TRUE(Family::alive(orphan));
}

TEST_F(TreeStop, GracefulIsTwoSigtermsAndNothingElseToOneThatStays) {
  SignalLog log;
  Child target = log.start_target(SignalLog::kStays);
  StopOptions options = with_tree();
  options.second_after_ms = 100;
  options.total_ms = 300;
  const auto report = stop(target.pid(), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(log.signals(2), (std::vector<int>{SIGTERM, SIGTERM}));
  EXPECT_NE(testing::state_of(target.pid()), 'T');
  EXPECT_TRUE(rig.has_record("s"));
}

TEST_F(TreeStop, SaysWhichOfItIsSuspendedAndForceEndsIt) {
  Family family(R"(
    sh -c 'echo $$ >> '$log'; kill -STOP $$' &
    echo $$ >> $log
    wait)",
                2);
  auto pids = family.pids();
  std::erase(pids, family.root());
  ASSERT_TRUE(wait_until([&] { return testing::state_of(pids.at(0)) == 'T'; }));
  StopOptions options = with_tree();
  options.second_after_ms = 50;
  options.total_ms = 300;
  const auto report = stop(family.root(), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_NE(report->reason.find("1 is still there"), std::string::npos) << report->reason;
  ASSERT_NE(member(*report, pids.at(0)), nullptr);
  EXPECT_TRUE(member(*report, pids.at(0))->suspended);
  EXPECT_EQ(testing::state_of(pids.at(0)), 'T');
}

TEST_F(TreeStop, RefusesTheTreeThatTheCallerIsIn) {
  Child root = Child::run([]() -> int {
    Child caller = Child::run([]() -> int {
      Rig own;
      if (!own.problem.empty()) return 2;
      if (!own.record_process("s", ::getppid())) return 3;
      const auto report = own.registry->stop("s", with_tree(true), {});
      if (!report || report->outcome != StopOutcome::kRefused) return 4;
      return report->reason.find("calling process") != std::string::npos ? 0 : 5;
    });
    const auto status = caller.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 9;
  });
  const auto status = root.wait();
  ASSERT_TRUE(status && WIFEXITED(*status)) << "the root was signalled";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

// The root stays and reaps its child, which leaves after the first SIGTERM.
int root_of_one(int child_pid_out) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  Child child = Child::run([&]() -> int {
    const pid_t own = ::getpid();
    if (::write(child_pid_out, &own, sizeof own) != sizeof own) return 1;
    int caught = 0;
    while (::sigwait(&all, &caught) == 0 && caught != SIGTERM) {
    }
    return 0;
  });
  (void)child.wait(std::chrono::seconds(30));
  for (;;) ::pause();
}

TEST_F(TreeStop, SendsNothingToAStrangerThatTookAMembersPidBetweenTheShots) {
  if (!testing::can_force_pids()) GTEST_SKIP() << "pids cannot be forced without privilege";
  int out[2];
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  Child root = Child::run([&] { return root_of_one(out[1]); });
  pid_t pid = 0;
  ASSERT_EQ(::read(out[0], &pid, sizeof pid), ssize_t(sizeof pid));
  ::close(out[0]);
  ::close(out[1]);
  ASSERT_TRUE(rig.record_process("s", root.pid()));
  StopOptions options = with_tree();
  options.second_after_ms = 1500;
  options.total_ms = 2000;
  Result<StopReport> report = fail(ErrorCode::kInternal, "not run");
  std::thread actor([&] { report = rig.registry->stop("s", options, {}); });
  Child stranger;
  wait_until([&] {
    if (testing::state_of(pid) == '\0') stranger = testing::sleeper_with_pid(pid);
    return stranger.pid() > 0;
  });
  actor.join();
  ASSERT_EQ(stranger.pid(), pid);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(report->signals.size(), 2U);
  EXPECT_TRUE(stranger.alive());
  const StopMember* const one = member(*report, pid);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->signals, std::vector<Signal>{Signal::kTerm});
  EXPECT_EQ(one->state, StopMember::State::kEnded);
}

TEST_F(TreeStop, TellsTheExitStatusOfOneThatItsParentReaps) {
  Family family("trap 'exit 7' TERM; echo $$ >> $log; while :; do sleep 0.02; done", 1);
  ASSERT_TRUE(rig.record_process("s", family.root()));
  Result<StopReport> report = fail(ErrorCode::kInternal, "not run");
  std::thread actor([&] { report = rig.registry->stop("s", {}, {}); });
  family.child().wait();
  actor.join();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  if (report->exit.kind == ExitStatus::Kind::kUnknown &&
      report->exit.why.find("6.15") != std::string::npos) {
    GTEST_SKIP() << report->exit.why;
  }
  EXPECT_EQ(report->exit.kind, ExitStatus::Kind::kCode) << report->exit.why;
  EXPECT_EQ(report->exit.value, 7);
}

TEST_F(TreeStop, DoesNotWaitForTheReapOfOneThatNobodyReaps) {
  Child target = Child::sleeper();  // we are its parent, and do not wait
  StopOptions patient;
  patient.total_ms = 20'000;
  const auto report = stop(target.pid(), patient);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(report->exit.kind, ExitStatus::Kind::kUnknown);
  EXPECT_FALSE(report->exit.why.empty());
  EXPECT_LT(report->elapsed_ns, 10'000'000'000);
}

TEST_F(TreeStop, WaitTellsTheExitStatusToo) {
  Child quick = Child::exec({"sh", "-c", "sleep 0.2; exit 5"});
  ASSERT_TRUE(rig.record_process("s", quick.pid()));
  Result<WaitReport> report = fail(ErrorCode::kInternal, "not run");
  std::thread waiter([&] { report = rig.registry->wait("s", {}); });
  quick.wait();
  waiter.join();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->result, AwaitResult::kEnded);
  if (report->exit.kind == ExitStatus::Kind::kUnknown) GTEST_SKIP() << report->exit.why;
  EXPECT_EQ(report->exit.value, 5);
}

// A cgroup (v2) for one test; all in it is killed at its end.
class TestCgroup {
 public:
  TestCgroup() {
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      if (::access((std::string(mount) + "/cgroup.procs").c_str(), W_OK) != 0) continue;
      if (::access((std::string(mount) + "/cgroup.subtree_control").c_str(), F_OK) != 0) continue;
      path_ = std::string(mount) + "/rollcall-test-" + std::to_string(::getpid());
      if (::mkdir(path_.c_str(), 0755) == 0) return;
      path_.clear();
    }
  }
  ~TestCgroup() {
    if (path_.empty()) return;
    std::ofstream(path_ + "/cgroup.kill") << "1";
    wait_until([&] { return ::rmdir(path_.c_str()) == 0; });
  }
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;

  [[nodiscard]] bool usable() const { return !path_.empty(); }
  // A line for a script: moves the shell that runs it there.
  [[nodiscard]] std::string enter() const { return "echo $$ > " + path_ + "/cgroup.procs\n"; }
  [[nodiscard]] bool is_empty() const {
    return testing::slurp(path_ + "/cgroup.events").find("populated 0") != std::string::npos;
  }

 private:
  std::string path_;
};

// In a session of its own, and its parent ends: nobody's child but init's.
constexpr const char* kDaemons = R"(
  for i in 1 2 3; do
    sh -c 'setsid sh -c "echo \$\$ >> '$log'; while :; do sleep 600 & sleep 0.05; done" & exit 0'
  done
  echo $$ >> $log
  while :; do sleep 0.1; done)";

class TreeInCgroup : public TreeStop {
 protected:
  void SetUp() override {
    TreeStop::SetUp();
    if (!cgroup.usable()) GTEST_SKIP() << "no cgroup can be made here (v2, and write access)";
  }
  // The daemons' parents have gone, so that they are init's by now.
  static void await_orphans(const Family& family) {
    for (const pid_t pid : family.pids()) {
      if (pid == family.root()) continue;
      ASSERT_TRUE(wait_until([&] {
        const auto fields = testing::stat_fields(pid);
        return fields.size() > 1 && fields[1] == "1";
      })) << "orphans go to a subreaper here";
    }
  }
  TestCgroup cgroup;
};

TEST_F(TreeInCgroup, LeavesNothingByForceAndTheKernelSaysSo) {
  Family family(cgroup.enter() + kDaemons, 4);
  await_orphans(family);
  const auto report = stop(family.root(), with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded) << report->reason;
  EXPECT_EQ(report->tree->containment, Containment::kCgroup);
  EXPECT_TRUE(cgroup.is_empty());
  EXPECT_GE(report->tree->members.size(), 4U);
}

TEST_F(TreeInCgroup, EndsItsOrphansGracefullyToo) {
  Family family(cgroup.enter() + kDaemons, 4);
  await_orphans(family);
  const auto report = stop(family.root(), with_tree());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded) << report->reason;
  EXPECT_EQ(report->tree->containment, Containment::kCgroup);
  EXPECT_TRUE(cgroup.is_empty());
}

TEST_F(TreeInCgroup, IsNotUsedWhereAStrangerIsInIt) {
  Family family(cgroup.enter() + "echo $$ >> $log; exec sleep 600", 1);
  Family stranger(cgroup.enter() + "echo $$ >> $log; exec sleep 600", 1);
  const auto report = stop(family.root(), with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(report->tree->containment, Containment::kBestEffort);
  EXPECT_TRUE(Family::alive(stranger.root()));
}

TEST_F(TreeInCgroup, IsNotUsedWhereTheParentIsInItToo) {
  Family family(cgroup.enter() + R"(
    sleep 600 & echo $! >> $log
    sh -c 'echo $$ >> '$log'; exec sleep 600' &
    wait)",
                2);
  const pid_t brother = family.pids()[0];
  const auto report = stop(family.pids()[1], with_tree(true));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(report->tree->containment, Containment::kBestEffort);
  EXPECT_TRUE(Family::alive(brother));
  EXPECT_TRUE(Family::alive(family.root()));
}

}  // namespace
}  // namespace rollcall
