// Stopping real targets: those that ignore, defer, hide and have gone.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"
#include "support/rig.hpp"
#include "support/signal_log.hpp"

namespace rollcall {
namespace {

using test::Rig;
using test::SignalLog;
using testing::Child;

StopOptions quick() {
  StopOptions options;
  options.second_after_ms = 100;
  options.total_ms = 300;
  return options;
}

class Targets : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(rig.problem.empty()) << rig.problem; }
  Rig rig;
};

TEST_F(Targets, StopSendsSigtermTwiceToOneThatIgnoresItAndNothingElse) {
  SignalLog log;
  Child target = log.start_target(SignalLog::kStays);
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  const auto report = rig.registry->stop("s", quick(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(log.signals(2), (std::vector<int>{SIGTERM, SIGTERM}));
  EXPECT_TRUE(target.alive());
  EXPECT_TRUE(rig.has_record("s"));
  StopOptions force = quick();
  force.force = true;
  const auto forced = rig.registry->stop("s", force, {});
  ASSERT_TRUE(forced);
  EXPECT_EQ(forced->outcome, StopOutcome::kEnded);
  EXPECT_EQ(forced->signals, std::vector<Signal>{Signal::kKill});
  EXPECT_EQ(log.signals(2).size(), 2u);
}

TEST_F(Targets, StopSendsOneSigtermToOneThatLeavesAfterIt) {
  SignalLog log;
  Child target = log.start_target(SignalLog::kLeaves);
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  StopOptions patient;
  const auto report = rig.registry->stop("s", patient, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(report->signals, std::vector<Signal>{Signal::kTerm});
  EXPECT_EQ(log.signals(1), std::vector<int>{SIGTERM});
  EXPECT_FALSE(rig.has_record("s"));
}

TEST_F(Targets, StopTakesAnUnreapedZombieForEnded) {
  Child target = Child::sleeper();  // we are its parent, and do not wait
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  const auto report = rig.registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(testing::state_of(target.pid()), 'Z');
}

TEST_F(Targets, StopFindsAZombieGoneAlready) {
  Child target = Child::sleeper();
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  target.signal(SIGKILL);
  ASSERT_TRUE(testing::wait_until([&] { return testing::state_of(target.pid()) == 'Z'; }));
  const auto report = rig.registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kAlreadyGone);
  EXPECT_TRUE(report->signals.empty());
}

TEST_F(Targets, StopSaysThatASuspendedTargetIsSuspendedAndForceEndsIt) {
  Child target = Child::sleeper();
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  target.signal(SIGSTOP);
  ASSERT_TRUE(testing::wait_until([&] { return testing::state_of(target.pid()) == 'T'; }));
  const auto report = rig.registry->stop("s", quick(), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_NE(report->reason.find("suspended"), std::string::npos) << report->reason;
  EXPECT_EQ(testing::state_of(target.pid()), 'T');
  StopOptions force = quick();
  force.force = true;
  EXPECT_EQ(rig.registry->stop("s", force, {})->outcome, StopOutcome::kEnded);
}

TEST_F(Targets, StopRefusesOursInitAndLeavesThem) {
  ASSERT_TRUE(rig.record_process("own", ::getpid()));
  const auto own = rig.registry->stop("own", quick(), {});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->outcome, StopOutcome::kRefused);
  ASSERT_TRUE(rig.record_process("init", 1));
  const auto init = rig.registry->stop("init", quick(), {});
  ASSERT_TRUE(init);
  EXPECT_EQ(init->outcome, StopOutcome::kRefused);
}

TEST_F(Targets, StopNamesThePermissionThatIsMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to have a process that is another user's";
  if (!testing::is_open_to_others(test::kPluginDir)) GTEST_SKIP() << testing::kClosedBuild;
  Child target = Child::sleeper();
  const pid_t pid = target.pid();
  Child user = Child::run([pid]() -> int {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
    Rig own;
    if (!own.problem.empty()) return 3;
    if (!own.record_process("s", pid)) return 4;
    const auto view = own.registry->verify("s", false, {});
    if (!view || view->process.state != ProcessState::kAlive) return 5;
    const auto report = own.registry->stop("s", quick(), {});
    if (!report || report->outcome != StopOutcome::kRefused) return 6;
    return report->reason.find("permitted") != std::string::npos ? 0 : 7;
  });
  const auto status = user.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  EXPECT_TRUE(target.alive());
}

TEST_F(Targets, WaitSeesTheEndOfOneThatIsNoChild) {
  Child target = Child::sleeper();
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  Call brief;
  brief.deadline_ns = system_clock()->monotonic_ns() + 50'000'000;
  EXPECT_EQ(rig.registry->wait("s", brief)->result, AwaitResult::kStillThere);
  target.signal(SIGKILL);
  EXPECT_EQ(rig.registry->wait("s", {})->result, AwaitResult::kEnded);
}

TEST_F(Targets, WaitIsCancelledFromAnotherThread) {
  Child target = Child::sleeper();
  ASSERT_TRUE(rig.record_process("s", target.pid()));
  Call call;
  std::thread canceller([&] { call.cancel.cancel(); });
  const auto report = rig.registry->wait("s", call);
  canceller.join();
  EXPECT_FALSE(report);
  EXPECT_TRUE(target.alive());
}

}  // namespace
}  // namespace rollcall
