// Readings on a fake Windows: what proves absence, what proves an exit, and what proves nothing.
#include <gtest/gtest.h>

#include "fake_system.hpp"

namespace rollcall::testing {
namespace {

using windows_backend::Probe;

constexpr std::uint32_t kEverything =
    ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_EXACT_ID | ROLLCALL_WANT_STATE | ROLLCALL_WANT_AGE;

class Observe : public ::testing::Test {
 protected:
  FakeWindows windows;
  Probe probe{windows.table()};
};

TEST_F(Observe, GivesTheCreationTimeAsTheToken) {
  windows.processes[4240] = {.created = 133'800'000'012'345'678};
  const auto seen = observe(probe, 4240);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), "133800000012345678");
}

TEST_F(Observe, FindsExitedWhatExitedWith259) {
  windows.processes[4240] = {.exited = true, .exit_code = 259};
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_EXITED);
}

TEST_F(Observe, FindsPresentWhatHas259AndRuns) {
  windows.processes[4240] = {.exited = false, .exit_code = 259};
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_PRESENT);
}

TEST_F(Observe, NeverAsksForTheExitCode) {
  windows.processes[4240] = {.exited = true, .exit_code = 0};
  observe(probe, 4240, kEverything);
  EXPECT_EQ(windows.counts["exit_code"], 0);
}

TEST_F(Observe, CannotTellWhereTheHandleCannotBeWaitedOn) {
  windows.processes[4240] = {.exit_code = 259};
  windows.fails["wait"] = windows_backend::kAccessDenied;
  const auto seen = observe(probe, 4240);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(seen.os_code, 5);
  EXPECT_EQ(token_of(seen), "");
  EXPECT_NE(reason_of(seen).find("error 5"), std::string::npos) << reason_of(seen);
}

TEST_F(Observe, TakesAccessDeniedForHeldAndUnreadable) {
  windows.processes[4240] = {.open_error = windows_backend::kAccessDenied};
  const auto seen = observe(probe, 4240);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(seen.os_code, 5);
}

TEST_F(Observe, TakesAnInvalidParameterForAbsence) {
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_ABSENT);
}

TEST_F(Observe, TakesNoOtherErrorForAbsence) {
  windows.processes[4240] = {};
  for (const Code error : {1U, 2U, 6U, 8U, 31U, 1168U, 1455U}) {
    windows.processes[4240].open_error = error;
    const auto seen = observe(probe, 4240);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE) << error;
    EXPECT_EQ(seen.os_code, error);
  }
}

TEST_F(Observe, CannotTellWhereTheOpeningFailsWithoutAnError) {
  windows_backend::System table = windows.table();
  table.open_process = [](std::uint32_t, std::uint32_t, windows_backend::Handle& out) {
    out = nullptr;
    return Code{0};
  };
  Probe opens_nothing(table);
  const auto seen = observe(opens_nothing, 4240);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_NE(seen.os_code, 0);
}

// OpenProcess(4243) opens 4240.
TEST_F(Observe, FindsAbsentANumberThatOpensAnother) {
  windows.processes[4240] = {};
  for (const std::int64_t pid : {4241, 4242, 4243}) {
    EXPECT_EQ(observe(probe, pid).presence, ROLLCALL_PRESENCE_ABSENT) << pid;
  }
}

TEST_F(Observe, CannotTellWhereTheHandlesNumberCannotBeRead) {
  windows.processes[4240] = {};
  windows.fails["process_id"] = 6;
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_UNREADABLE);
}

TEST_F(Observe, ReadsTheSystemProcessAsAnyOther) {
  windows.processes[4] = {.open_error = windows_backend::kAccessDenied};
  EXPECT_EQ(observe(probe, 4).presence, ROLLCALL_PRESENCE_UNREADABLE);
}

TEST_F(Observe, GivesAnotherTokenToAReusedPid) {
  windows.processes[4240] = {.created = 133'800'000'000'000'000};
  const std::string before = token_of(observe(probe, 4240));
  windows.processes[4240] = {.created = 133'800'000'000'000'001};  // 100 ns later
  EXPECT_NE(token_of(observe(probe, 4240)), before);
}

TEST_F(Observe, CannotTellWithoutACreationTime) {
  windows.processes[4240] = {};
  windows.fails["creation_time"] = 5;
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_UNREADABLE);
}

TEST_F(Observe, FindsAnExitEvenWithoutACreationTime) {
  windows.processes[4240] = {.exited = true};
  windows.fails["creation_time"] = 5;
  EXPECT_EQ(observe(probe, 4240).presence, ROLLCALL_PRESENCE_EXITED);
}

TEST_F(Observe, GivesNoTokenForACreationTimeOfZero) {
  windows.processes[4240] = {.created = 0};
  const auto seen = observe(probe, 4240);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), "");
}

TEST_F(Observe, AsksNothingOfAnImpossiblePid) {
  for (const std::int64_t pid :
       {INT64_MIN, INT64_C(-1), INT64_C(0), INT64_C(2147483648), INT64_C(4294971536), INT64_MAX}) {
    EXPECT_EQ(observe(probe, pid, kEverything).presence, ROLLCALL_PRESENCE_ABSENT) << pid;
  }
  EXPECT_TRUE(windows.counts.empty());
}

TEST_F(Observe, GivesTheAgeWhereItIsWanted) {
  windows.processes[4240] = {};
  EXPECT_EQ(observe(probe, 4240).flags & ROLLCALL_OBS_AGE, 0U);
  const auto seen = observe(probe, 4240, ROLLCALL_WANT_AGE);
  ASSERT_NE(seen.flags & ROLLCALL_OBS_AGE, 0U);
  EXPECT_EQ(seen.age_ns, 60'000'000'000);
  EXPECT_NE(seen.flags & ROLLCALL_OBS_START_TIME, 0U);
}

TEST_F(Observe, GivesNoAgeWhereTheClockWasSetBack) {
  windows.processes[4240] = {};
  windows.clock = windows.processes[4240].created - 1;
  const auto seen = observe(probe, 4240, ROLLCALL_WANT_AGE);
  EXPECT_EQ(seen.flags & ROLLCALL_OBS_AGE, 0U);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
}

TEST_F(Observe, DoesNotChangeWithTheClock) {
  windows.processes[4240] = {};
  const std::string before = token_of(observe(probe, 4240, kEverything));
  windows.clock += 36'000'000'000;
  EXPECT_EQ(token_of(observe(probe, 4240, kEverything)), before);
}

class WhoAmI : public Observe {
 protected:
  rollcall_whoami ask() {
    rollcall_whoami me = {};
    EXPECT_TRUE(probe.whoami(me, unbounded()).ok());
    return me;
  }
};

TEST_F(WhoAmI, NamesThisProcessAndItsBoot) {
  const auto me = ask();
  EXPECT_EQ(me.pid, FakeWindows::kOwnPid);
  EXPECT_EQ(std::string(me.start_token, me.start_token_size), "134000000000000000");
  EXPECT_EQ(std::string(me.boot_id, me.boot_id_size), "1755526380");
  EXPECT_EQ(me.boot_rule, ROLLCALL_BOOT_WITHIN_120_S);
}

TEST_F(WhoAmI, NamesTheMachine) {
  const auto me = ask();
  EXPECT_EQ(std::string(me.machine_id, me.machine_id_size), "5e6c2b1a-0000-4000-8000-00c0ffee0001");
  EXPECT_EQ(std::string(me.nodename, me.nodename_size), "w\xC3\xB6rkstation");
}

TEST_F(WhoAmI, KnowsNoNamespacesExactIdOrUid) {
  const auto me = ask();
  EXPECT_EQ(me.pid_namespace_size, 0U);
  EXPECT_EQ(me.time_namespace_size, 0U);
  EXPECT_EQ(me.exact_id, 0U);
  EXPECT_EQ(me.uid, 0U);
}

TEST_F(WhoAmI, SaysWhyThereIsNoBootIdAndTriesAgain) {
  windows.fails["boot_times"] = 5;
  auto me = ask();
  EXPECT_EQ(me.boot_id_size, 0U);
  EXPECT_GT(me.boot_id_why_size, 0U);
  windows.fails.clear();
  EXPECT_GT(ask().boot_id_size, 0U);
  windows.fails["boot_times"] = 5;
  EXPECT_GT(ask().boot_id_size, 0U);  // a good reading is kept
}

TEST_F(WhoAmI, SaysWhyThereIsNoStartToken) {
  windows.fails["creation_time"] = 5;
  const auto me = ask();
  EXPECT_EQ(me.start_token_size, 0U);
  EXPECT_GT(me.start_token_why_size, 0U);
}

TEST_F(WhoAmI, LeavesOutAMachineThatCannotBeRead) {
  windows.fails["machine_guid"] = 2;
  windows.fails["computer_name"] = 2;
  const auto me = ask();
  EXPECT_EQ(me.machine_id_size, 0U);
  EXPECT_EQ(me.nodename_size, 0U);
}

}  // namespace
}  // namespace rollcall::testing
