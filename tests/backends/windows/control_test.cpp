// Asking, ending and awaiting on a fake Windows: only the judged process, only while it is pinned.
#include "backends/windows/control.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "fake_system.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::testing {
namespace {

using windows_backend::Control;

// A host's judge, and what it was asked.
struct HostJudge {
  std::function<std::uint32_t(const rollcall_observation&)> verdict;
  int asked = 0;
  rollcall_observation seen = {};

  static HostJudge of_token(std::string token) {
    return {[token](const rollcall_observation& told) -> std::uint32_t {
      if (told.presence == ROLLCALL_PRESENCE_UNREADABLE) return ROLLCALL_JUDGE_UNVERIFIED;
      if (told.presence != ROLLCALL_PRESENCE_PRESENT) return ROLLCALL_JUDGE_GONE;
      return token_of(told) == token ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
    }};
  }
  static HostJudge always(std::uint32_t answer) {
    return {[answer](const rollcall_observation&) { return answer; }};
  }
  [[nodiscard]] plugin::Judge plug() {
    const rollcall_judge raw = {
        sizeof raw, ROLLCALL_WANT_START_TOKEN, this,
        [](void* context, const rollcall_observation* observation) -> std::uint32_t {
          auto& self = *static_cast<HostJudge*>(context);
          ++self.asked;
          self.seen = *observation;
          return self.verdict(*observation);
        }};
    return plugin::Judge(&raw);
  }
};

class ControlTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPid = 4240;

  void SetUp() override {
    windows.start(kPid, {.group = kPid});
    windows.processes[kPid].created = 133'800'000'012'345'678;
  }
  rollcall_signal_outcome signal(HostJudge& judge, std::uint32_t number, std::int64_t pid = kPid) {
    rollcall_signal_outcome out = {};
    const auto status = control.signal(pid, number, judge.plug(), out, unbounded());
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }
  rollcall_await_outcome await(HostJudge& judge, std::chrono::milliseconds limit,
                               std::int64_t pid = kPid) {
    rollcall_await_outcome out = {};
    const auto status = control.await_exit(pid, judge.plug(), out, bounded(limit));
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }
  static std::string reason(const auto& out) { return {out.reason, out.reason_size}; }
  FakeProcess& process() { return windows.processes[kPid]; }
  // Nothing was asked or ended.
  void expect_untouched() {
    EXPECT_EQ(windows.counts["terminate"], 0);
    EXPECT_TRUE(windows.breaks.empty());
    EXPECT_TRUE(windows.closed.empty());
    for (const auto& [name, sets] : windows.events) EXPECT_EQ(sets, 0);
  }

  FakeWindows windows;
  Control control{windows.table()};
  const std::u16string kEvent = u"Global\\rollcall-stop-4240-133800000012345678";
  HostJudge right = HostJudge::of_token("133800000012345678");
  HostJudge wrong = HostJudge::of_token("133800000012345677");
};

using Kill = ControlTest;
using Ask = ControlTest;
using Await = ControlTest;

TEST_F(Kill, EndsTheJudgedProcess) {
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_TRUE(process().exited);
  EXPECT_EQ(process().exit_code, 137U);
  EXPECT_EQ(right.asked, 1);
}

TEST_F(Kill, FindsAReusedPidGoneAndLeavesTheNewcomerAlone) {
  EXPECT_EQ(signal(wrong, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  expect_untouched();
}

TEST_F(Kill, IsWithheldUnlessTheVerdictIsAlive) {
  for (const std::uint32_t verdict : {ROLLCALL_JUDGE_UNVERIFIED, 3U, 4294967295U}) {
    auto judge = HostJudge::always(verdict);
    EXPECT_EQ(signal(judge, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_REFUSED);
  }
  expect_untouched();
}

TEST_F(Kill, IsWithheldFromWhatCannotBeRead) {
  process().open_error = windows_backend::kAccessDenied;
  auto reckless = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  const auto out = signal(reckless, ROLLCALL_SIGNAL_KILL);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(out.os_code, 5);
  expect_untouched();
}

TEST_F(Kill, IsRefusedWithTheErrorWhereItMayNotTerminate) {
  process().terminate_error = windows_backend::kAccessDenied;
  const auto out = signal(right, ROLLCALL_SIGNAL_KILL);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(out.os_code, 5);
  EXPECT_NE(reason(out).find("access is denied"), std::string::npos) << reason(out);
  EXPECT_EQ(right.seen.presence, ROLLCALL_PRESENCE_PRESENT);  // it was judged all the same
  expect_untouched();
}

TEST_F(Kill, FindsGoneWhatEndsBeforeIt) {
  auto judge = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  judge.verdict = [this](const rollcall_observation&) -> std::uint32_t {
    process().exited = true;
    return ROLLCALL_JUDGE_ALIVE;
  };
  EXPECT_EQ(signal(judge, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
}

TEST_F(Kill, FindsGoneWhatExitedWith259) {
  process().exited = true;
  process().exit_code = 259;
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  expect_untouched();
}

TEST_F(Kill, NeverReachesTheProcessThatARoundedPidOpens) {
  auto reckless = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  for (const std::int64_t pid : {4241, 4242, 4243}) {
    EXPECT_EQ(signal(reckless, ROLLCALL_SIGNAL_KILL, pid).outcome, ROLLCALL_SIGNAL_REFUSED);
  }
  EXPECT_FALSE(process().exited);
  expect_untouched();
}

TEST_F(Kill, NeverReachesItselfWhateverTheVerdict) {
  for (const std::uint32_t verdict : {ROLLCALL_JUDGE_ALIVE, ROLLCALL_JUDGE_UNVERIFIED}) {
    auto judge = HostJudge::always(verdict);
    EXPECT_EQ(signal(judge, ROLLCALL_SIGNAL_KILL, FakeWindows::kOwnPid).outcome,
              ROLLCALL_SIGNAL_REFUSED);
  }
  EXPECT_EQ(signal(wrong, ROLLCALL_SIGNAL_KILL, FakeWindows::kOwnPid).outcome,
            ROLLCALL_SIGNAL_ALREADY_GONE);
  expect_untouched();
}

TEST_F(Kill, NeverReachesAnImpossiblePid) {
  windows.counts.clear();
  auto reckless = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  for (const std::int64_t pid :
       {INT64_C(1), INT64_C(0), INT64_C(-4), INT64_C(4294971536), INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(signal(reckless, ROLLCALL_SIGNAL_KILL, pid).outcome, ROLLCALL_SIGNAL_REFUSED) << pid;
  }
  EXPECT_TRUE(windows.counts.empty());
}

TEST_F(Kill, AsksTheJudgeAboutAFreePidToo) {
  auto doubter = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  EXPECT_EQ(signal(doubter, ROLLCALL_SIGNAL_KILL, 5000).outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(doubter.seen.presence, ROLLCALL_PRESENCE_ABSENT);
}

// The handle is what keeps the number from being another's.
TEST_F(Ask, HoldsTheProcessOpenWhileItIsJudgedAndAsked) {
  std::uint64_t open = 0;
  auto judge = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  judge.verdict = [&](const rollcall_observation&) -> std::uint32_t {
    open = windows.open_handles;
    return ROLLCALL_JUDGE_ALIVE;
  };
  signal(judge, ROLLCALL_SIGNAL_TERM);
  EXPECT_EQ(open, 1U);
  EXPECT_EQ(windows.open_handles, 0U);
}

TEST_F(Ask, SetsTheStopEventFirst) {
  windows.events[kEvent] = 0;
  process().windows = 1;
  process().console = true;
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(windows.events[kEvent], 1);
  EXPECT_TRUE(windows.closed.empty());
  EXPECT_TRUE(windows.breaks.empty());
}

TEST_F(Ask, SetsNoEventOfAProcessThatStartedAtAnotherTime) {
  windows.events[u"Global\\rollcall-stop-4240-133800000012345677"] = 0;
  process().windows = 1;
  signal(right, ROLLCALL_SIGNAL_TERM);
  EXPECT_EQ(windows.events[u"Global\\rollcall-stop-4240-133800000012345677"], 0);
}

TEST_F(Ask, ClosesWindowsWhereThereIsNoEvent) {
  process().windows = 2;
  process().console = true;
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(windows.closed, std::vector<std::uint32_t>{kPid});
  EXPECT_TRUE(windows.breaks.empty());
}

TEST_F(Ask, SendsCtrlBreakToAGroupLeaderOfOurConsole) {
  process().console = true;
  for (const auto number : {ROLLCALL_SIGNAL_TERM, ROLLCALL_SIGNAL_INT, ROLLCALL_SIGNAL_QUIT}) {
    windows.breaks.clear();
    EXPECT_EQ(signal(right, number).outcome, ROLLCALL_SIGNAL_SENT);
    EXPECT_EQ(windows.breaks, std::vector<std::uint32_t>{kPid});
  }
}

// Windows would send it to the whole console, ourselves included.
TEST_F(Ask, SendsNoCtrlBreakToAMemberOfAnothersGroup) {
  windows.start(kPid, {.group = FakeWindows::kOwnPid});
  process().console = true;
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_QUIT).outcome, ROLLCALL_SIGNAL_REFUSED);
  expect_untouched();
}

TEST_F(Ask, SendsNoCtrlBreakWhereTheGroupCannotBeRead) {
  process().console = true;
  process().read_error = windows_backend::kAccessDenied;
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_REFUSED);
  expect_untouched();
}

TEST_F(Ask, SendsNoCtrlBreakToAnotherConsole) {
  EXPECT_EQ(signal(right, ROLLCALL_SIGNAL_INT).outcome, ROLLCALL_SIGNAL_REFUSED);
  expect_untouched();
}

TEST_F(Ask, IsRefusedWhereThereIsNothingToAskBy) {
  const auto out = signal(right, ROLLCALL_SIGNAL_TERM);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_NE(reason(out).find("only KILL can end it"), std::string::npos) << reason(out);
  expect_untouched();
}

TEST_F(Ask, NamesTheErrorOfAnEventThatMayNotBeSet) {
  windows.fails["set_event"] = windows_backend::kAccessDenied;
  const auto out = signal(right, ROLLCALL_SIGNAL_TERM);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(out.os_code, 5);
}

TEST_F(Ask, IsWithheldUnlessTheVerdictIsAlive) {
  windows.events[kEvent] = 0;
  process().windows = 1;
  process().console = true;
  EXPECT_EQ(signal(wrong, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  auto doubter = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  EXPECT_EQ(signal(doubter, ROLLCALL_SIGNAL_TERM).outcome, ROLLCALL_SIGNAL_REFUSED);
  expect_untouched();
}

TEST_F(Ask, TakesNoOtherSignalThanWindowsHas) {
  for (const auto number : {ROLLCALL_SIGNAL_HUP, ROLLCALL_SIGNAL_USR1, ROLLCALL_SIGNAL_USR2,
                            ROLLCALL_SIGNAL_CONT, ROLLCALL_SIGNAL_STOP}) {
    rollcall_signal_outcome out = {};
    EXPECT_EQ(control.signal(kPid, number, right.plug(), out, unbounded()).code(),
              ROLLCALL_E_UNSUPPORTED);
  }
  for (const std::uint32_t number : {0U, 10U, 15U, 4294967295U}) {
    rollcall_signal_outcome out = {};
    EXPECT_EQ(control.signal(kPid, number, right.plug(), out, unbounded()).code(),
              ROLLCALL_E_INVALID);
  }
  EXPECT_EQ(right.asked, 0);
  expect_untouched();
}

TEST_F(Await, SeesTheEndAndNamesTheExitCode) {
  windows.before_wait = [this] {
    if (windows.counts["wait"] != 3) return;
    process().exited = true;
    process().exit_code = 259;
  };
  const auto out = await(right, std::chrono::seconds(60));
  EXPECT_EQ(out.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(reason(out), "pid 4240 has exited with code 259");
}

TEST_F(Await, AsksOnceMoreAtTheDeadline) {
  EXPECT_EQ(await(right, std::chrono::milliseconds(-1)).outcome, ROLLCALL_AWAIT_STILL_THERE);
  windows.before_wait = [this] {
    if (windows.counts["wait"] % 2 == 0) return;  // the reading, then the one asking
    process().exited = true;
  };
  EXPECT_EQ(await(right, std::chrono::milliseconds(-1)).outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_F(Await, IsOverAtOnceForWhatHasGone) {
  const auto reused = await(wrong, std::chrono::seconds(60));
  EXPECT_EQ(reused.outcome, ROLLCALL_AWAIT_ENDED);
  process().exited = true;
  process().exit_code = 7;
  const auto exited = await(right, std::chrono::seconds(60));
  EXPECT_EQ(exited.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(reason(exited), "pid 4240 has exited with code 7");
  EXPECT_EQ(await(right, std::chrono::seconds(60), 5000).outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_F(Await, KnowsNothingOfWhatTheJudgeDoubts) {
  auto doubter = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  EXPECT_EQ(await(doubter, std::chrono::seconds(60)).outcome, ROLLCALL_AWAIT_UNKNOWN);
  process().open_error = windows_backend::kAccessDenied;
  auto reckless = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  EXPECT_EQ(await(reckless, std::chrono::seconds(60)).outcome, ROLLCALL_AWAIT_UNKNOWN);
}

TEST_F(Await, TakesAWaitThatFailsForNoEnd) {
  auto judge = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  judge.verdict = [this](const rollcall_observation&) -> std::uint32_t {
    windows.fails["wait"] = 6;
    return ROLLCALL_JUDGE_ALIVE;
  };
  const auto out = await(judge, std::chrono::seconds(60));
  EXPECT_EQ(out.outcome, ROLLCALL_AWAIT_UNKNOWN);
  EXPECT_NE(reason(out).find("error 6"), std::string::npos) << reason(out);
}

TEST_F(Await, EndsSoonAfterItIsCancelled) {
  const rollcall_call raw = {sizeof raw, 0, INT64_MAX, nullptr, [](void*) { return 1U; }};
  rollcall_await_outcome out = {};
  EXPECT_EQ(control.await_exit(kPid, right.plug(), out, plugin::Call(&raw)).code(),
            ROLLCALL_E_CANCELLED);
}

TEST(StopEvent, IsNamedForPidAndStart) {
  EXPECT_EQ(plugin::stop_event_name(4240, "133800000012345678"),
            "Global\\rollcall-stop-4240-133800000012345678");
}

}  // namespace
}  // namespace rollcall::testing
