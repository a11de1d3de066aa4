// Sentinel files on Linux: reused pids, and a file system that swaps no names.
#include <gtest/gtest.h>

#include <string>

#include "sentinels/one_winner.hpp"
#include "sentinels/sentinel_file_fixture.hpp"
#include "support/forced_pid_linux.hpp"
#include "support/seccomp_linux.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(SentinelFile, IsNotFooledByAnotherProcessOnThePid) {
  if (!can_force_pids()) GTEST_SKIP() << "this user may not choose pids";
  Child child = Child::sleeper();
  const pid_t pid = child.pid();
  ASSERT_TRUE(write(pid));
  const std::string token = start_token_of(pid);
  child.kill();
  child.wait();
  // The start is counted in ticks of 10 ms: the next process has to begin in another one.
  Child next;
  ASSERT_TRUE(wait_until([&] {
    next = Child();
    next = sleeper_with_pid(pid);
    return next.pid() == pid && start_token_of(pid) != token;
  }));
  const auto report = check();
  EXPECT_EQ(report.state, SentinelState::kDead) << report.reason;
  EXPECT_EQ(report.code, Reason::kOtherProcess);
}

TEST_F(SentinelFile, HasOneWinnerWhereNoNamesAreSwapped) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  child.kill();
  child.wait();
  expect_one_winner(rig, file, [] { return deny_special_renames(); });
}

}  // namespace
}  // namespace rollcall
