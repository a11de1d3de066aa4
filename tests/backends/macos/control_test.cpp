#include <gtest/gtest.h>
#include <signal.h>
#include <sys/proc.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "macos_support.hpp"

namespace rollcall::testing {
namespace {

const char* const kRecorded = "1700000100.000042";

class MacControl : public MacTest {
 protected:
  MacControl() { mac.add(77, 1'700'000'100, 42); }

  Signalled term(std::int64_t pid = 77) {
    return signal(backend, pid, ROLLCALL_SIGNAL_TERM, expects(kRecorded));
  }
  Awaited wait(std::int64_t ms = 3000) {
    return await_exit(backend, 77, expects(kRecorded), bounded(mac, ms));
  }
  // Another process takes the number before the nth call of this name.
  void reuse_before(const std::string& call, int nth) {
    mac.before = [this, call, nth](const std::string& made) {
      if (made == call && mac.counts[call] == nth) mac.add(77, 1'700'000'300, 9);
    };
  }
};

TEST_P(MacControl, SignalsTheRecordedProcess) {
  const auto done = term();
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(mac.signals, (std::vector<std::pair<int, int>>{{77, SIGTERM}}));
}

TEST_P(MacControl, VerifiesAndKillsInTwoAdjacentCalls) {
  (void)term();
  ASSERT_GE(mac.calls.size(), 2U);
  EXPECT_EQ(mac.calls[mac.calls.size() - 2], "proc_pidinfo");
  EXPECT_EQ(mac.calls.back(), "kill");
}

TEST_P(MacControl, EachSignalHasItsNumber) {
  const bool macos = GetParam() == Build::kDylib;  // its numbers are not Linux's
  const std::pair<std::uint32_t, int> kNumbers[] = {{ROLLCALL_SIGNAL_TERM, 15},
                                                    {ROLLCALL_SIGNAL_INT, 2},
                                                    {ROLLCALL_SIGNAL_HUP, 1},
                                                    {ROLLCALL_SIGNAL_QUIT, 3},
                                                    {ROLLCALL_SIGNAL_KILL, 9},
                                                    {ROLLCALL_SIGNAL_USR1, macos ? 30 : SIGUSR1},
                                                    {ROLLCALL_SIGNAL_USR2, macos ? 31 : SIGUSR2},
                                                    {ROLLCALL_SIGNAL_CONT, macos ? 19 : SIGCONT},
                                                    {ROLLCALL_SIGNAL_STOP, macos ? 17 : SIGSTOP}};
  for (const auto& [ours, native] : kNumbers) {
    (void)signal(backend, 77, ours, expects(kRecorded));
    EXPECT_EQ(mac.signals.back().second, native);
  }
}

TEST_P(MacControl, AnUnknownSignalIsRefusedAndNothingIsSent) {
  for (const std::uint32_t number : {0U, 10U, 64U, 4294967295U}) {
    EXPECT_EQ(signal(backend, 77, number, expects(kRecorded)).code, ROLLCALL_E_INVALID) << number;
  }
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AProcessThatTookTheNumberIsNotSignalled) {
  mac.add(77, 1'700'000'300, 9);
  EXPECT_EQ(term().outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AReuseBetweenVerdictAndSignalIsSeen) {
  reuse_before("proc_pidinfo", 2);
  const auto done = term();
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_NE(done.reason.find("started at another time"), std::string::npos) << done.reason;
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AReuseWhileTheJudgeThinksIsSeen) {
  const auto done = signal(backend, 77, ROLLCALL_SIGNAL_TERM, [&](const auto& seen) {
    mac.add(77, 1'700'000'300, 9);
    return expects(kRecorded)(seen);
  });
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AnEndBetweenVerdictAndSignalIsAlreadyGone) {
  mac.before = [&](const std::string& call) {
    if (call == "proc_pidinfo" && mac.counts[call] == 2) mac.exit(77);
  };
  EXPECT_EQ(term().outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, ASecondReadingThatFailsRefuses) {
  for (const int error : {EPERM, EIO}) {
    mac.counts.clear();
    mac.refuse_nth["proc_pidinfo"] = {2, error};
    const auto done = term();
    EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_REFUSED);
    EXPECT_EQ(done.os_code, error);
    EXPECT_EQ(mac.counts["kill"], 0);
  }
}

TEST_P(MacControl, AnEndBetweenTheLastReadingAndTheSignalIsAlreadyGone) {
  mac.refuse["kill"] = ESRCH;
  EXPECT_EQ(term().outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
}

TEST_P(MacControl, ARefusalOfTheSystemCarriesItsErrno) {
  mac.refuse["kill"] = EPERM;
  const auto done = term();
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(done.os_code, EPERM);
  EXPECT_NE(done.reason.find("Operation not permitted"), std::string::npos);
}

TEST_P(MacControl, WhatCannotBeReadIsNotSignalled) {
  mac.at(77).refused = EPERM;
  const auto done = term();
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(done.os_code, EPERM);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AVerdictOfAliveWithoutAPresenceIsNotBelieved) {
  mac.exit(77);
  const auto done =
      signal(backend, 77, ROLLCALL_SIGNAL_TERM, [](const auto&) { return ROLLCALL_JUDGE_ALIVE; });
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AProcessWithoutAStartIsNotSignalled) {
  mac.add(77, 0, 0);
  const auto done =
      signal(backend, 77, ROLLCALL_SIGNAL_TERM, [](const auto&) { return ROLLCALL_JUDGE_ALIVE; });
  EXPECT_EQ(done.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, AZombieIsAlreadyGone) {
  mac.exit(77);
  EXPECT_EQ(term().outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(wait().outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_P(MacControl, InitGroupsAndWeOurselvesAreNeverSignalled) {
  mac.add(1, 1'700'000'100, 42);
  mac.add(FakeMac::kOwnPid, 1'700'000'100, 42);
  for (const std::int64_t pid :
       {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{-77},
        std::int64_t{2147483648}, std::int64_t{FakeMac::kOwnPid}}) {
    EXPECT_EQ(term(pid).outcome, ROLLCALL_SIGNAL_REFUSED) << pid;
  }
  EXPECT_EQ(mac.counts["kill"], 0);
}

TEST_P(MacControl, OurOwnNumberMayHaveBeenTheRecordedOnes) {
  EXPECT_EQ(term(FakeMac::kOwnPid).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
}

TEST_P(MacControl, ANaturalEndIsSeenByTheKqueue) {
  mac.while_waiting = [&](std::int64_t) {
    if (mac.monotonic_ns >= 1'700'000'000) mac.exit(77, true);
    mac.while_waiting = mac.monotonic_ns >= 1'700'000'000 ? nullptr : mac.while_waiting;
  };
  const auto done = wait();
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(done.reason, "pid 77 has exited");
  EXPECT_EQ(mac.counts["nanosleep"], 0);
  EXPECT_EQ(mac.counts["close"], 1);
}

TEST_P(MacControl, AnEndIsReportedThoughTheNumberWasTakenAtOnce) {
  mac.while_waiting = [&](std::int64_t) {
    mac.exit(77, true);
    mac.add(77, 1'700'000'300, 9);
    mac.while_waiting = nullptr;
  };
  EXPECT_EQ(wait().outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_P(MacControl, AReuseBeforeTheWatchIsJudgedAndNotAwaited) {
  reuse_before("kevent", 1);
  const auto done = wait();
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(mac.counts["kevent"], 1);
}

TEST_P(MacControl, AnEndBetweenTheWatchAndTheReadingIsSeen) {
  mac.before = [&](const std::string& call) {
    if (call == "proc_pidinfo" && mac.processes.count(77) != 0) mac.exit(77, true);
  };
  EXPECT_EQ(wait().outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_P(MacControl, TheDeadlineComesAndTheProcessIsStillThere) {
  const auto done = wait(3000);
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_STILL_THERE);
  EXPECT_EQ(done.flags, 0U);
  EXPECT_EQ(mac.monotonic_ns, 1'000'000'000 + 3'000'000'000);
}

TEST_P(MacControl, AStoppedProcessIsSaidToBeStopped) {
  mac.at(77).info.pbi_status = SSTOP;
  const auto done = wait(300);
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_STILL_THERE);
  EXPECT_EQ(done.flags, ROLLCALL_OBS_SUSPENDED);
}

TEST_P(MacControl, AtTheDeadlineItIsAskedOnceMore) {
  mac.refuse["kqueue"] = EMFILE;
  mac.while_waiting = [&](std::int64_t) {
    if (mac.monotonic_ns == 1'300'000'000) mac.exit(77);
  };
  EXPECT_EQ(wait(300).outcome, ROLLCALL_AWAIT_ENDED);
}

TEST_P(MacControl, WithoutAKqueueItIsReadEvery200Milliseconds) {
  mac.refuse["kqueue"] = EMFILE;
  mac.while_waiting = [&](std::int64_t) {
    if (mac.monotonic_ns == 3'000'000'000) mac.exit(77);
  };
  EXPECT_EQ(wait(5000).outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(mac.monotonic_ns, 3'000'000'000);
  EXPECT_LT(mac.counts["proc_pidinfo"], 15);
}

TEST_P(MacControl, AWatchThatIsRefusedFallsBackOnReadings) {
  mac.refuse_nth["kevent"] = {1, EACCES};
  mac.while_waiting = [&](std::int64_t) {
    if (mac.monotonic_ns == 1'200'000'000) mac.add(77, 1'700'000'300, 9);
  };
  const auto done = wait();
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_NE(done.reason.find("started at another time"), std::string::npos);
}

TEST_P(MacControl, AnInterruptedWaitGoesOn) {
  mac.refuse_nth["kevent"] = {2, EINTR};
  EXPECT_EQ(wait(300).outcome, ROLLCALL_AWAIT_STILL_THERE);
}

TEST_P(MacControl, AnEndThatCannotBeToldIsUnknown) {
  mac.while_waiting = [&](std::int64_t) { mac.at(77).refused = EPERM; };
  const auto done = wait(300);
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_UNKNOWN);
  mac.at(77).refused = 0;
  mac.while_waiting = nullptr;
  mac.refuse["proc_pidinfo"] = EPERM;
  EXPECT_EQ(wait(300).outcome, ROLLCALL_AWAIT_UNKNOWN);
}

TEST_P(MacControl, ACancelledWaitEnds) {
  EXPECT_EQ(await_exit(backend, 77, expects(kRecorded), cancelled()).code, ROLLCALL_E_CANCELLED);
  EXPECT_LE(mac.monotonic_ns, 1'100'000'000);
}

TEST_P(MacControl, AnImpossiblePidIsAwaitedWithoutASystemCall) {
  const auto done = await_exit(backend, -77, expects(kRecorded), bounded(mac, 300));
  EXPECT_EQ(done.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_TRUE(mac.calls.empty());
}

ROLLCALL_BOTH_BUILDS(MacControl);

}  // namespace
}  // namespace rollcall::testing
