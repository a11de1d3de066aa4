#include <gtest/gtest.h>
#include <sys/proc.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "liveness/boot.hpp"
#include "macos_support.hpp"

namespace rollcall::testing {
namespace {

class MacReading : public MacTest {
 protected:
};

TEST_P(MacReading, GivesTheStartTokenOfAProcess) {
  mac.add(77, 1'700'000'100, 42);
  const auto seen = observe(backend, 77);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), "1700000100.000042");
  EXPECT_EQ(seen.flags & ROLLCALL_OBS_EXACT_ID, 0U);
  EXPECT_EQ(mac.counts["proc_pidinfo"], 1);
}

TEST_P(MacReading, OnlyEsrchIsAbsence) {
  EXPECT_EQ(observe(backend, 77).presence, ROLLCALL_PRESENCE_ABSENT);
  mac.add(77);
  for (const int error : {EPERM, EACCES, EINVAL, ENOMEM, EINTR, EFAULT, EIO}) {
    mac.at(77).refused = error;
    const auto seen = observe(backend, 77);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE) << error;
    EXPECT_EQ(seen.os_code, error);
    EXPECT_NE(reason_of(seen).find("pid 77 could not be read"), std::string::npos);
    EXPECT_EQ(token_of(seen), "");
  }
}

TEST_P(MacReading, APidOutOfRangeIsAbsentWithoutASystemCall) {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-77},
                                 std::int64_t{2147483648}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(observe(backend, pid).presence, ROLLCALL_PRESENCE_ABSENT) << pid;
  }
  EXPECT_TRUE(mac.calls.empty());
}

TEST_P(MacReading, AShortAnswerIsUnreadable) {
  mac.add(77);
  for (const int less : {1, 8, 16, 120}) {
    mac.cut["proc_pidinfo"] = less;
    const auto seen = observe(backend, 77);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE) << less;
    EXPECT_NE(reason_of(seen).find("cut"), std::string::npos);
  }
}

TEST_P(MacReading, AnEmptyAnswerWithoutAnErrorIsUnreadable) {
  mac.add(77);
  mac.cut["proc_pidinfo"] = 136;
  errno = ESRCH;  // left over from something else
  EXPECT_EQ(observe(backend, 77).presence, ROLLCALL_PRESENCE_UNREADABLE);
}

TEST_P(MacReading, AnAnswerForAnotherPidIsUnreadable) {
  mac.add(77).info.pbi_pid = 78;
  const auto seen = observe(backend, 77);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(token_of(seen), "");
}

TEST_P(MacReading, AZombieHasExited) {
  mac.add(77);
  mac.exit(77);
  EXPECT_EQ(observe(backend, 77).presence, ROLLCALL_PRESENCE_EXITED);
}

TEST_P(MacReading, EveryOtherStateIsHeld) {
  mac.add(77);
  for (const std::uint32_t state : {0U, 1U, 2U, 3U, 4U, 6U, 99U}) {
    mac.at(77).info.pbi_status = state;
    EXPECT_EQ(observe(backend, 77).presence, ROLLCALL_PRESENCE_PRESENT) << state;
  }
}

TEST_P(MacReading, AStoppedProcessIsSuspended) {
  mac.add(77);
  EXPECT_EQ(observe(backend, 77).flags & ROLLCALL_OBS_SUSPENDED, 0U);
  mac.at(77).info.pbi_status = SSTOP;
  EXPECT_NE(observe(backend, 77).flags & ROLLCALL_OBS_SUSPENDED, 0U);
}

TEST_P(MacReading, AnAllZeroStartIsNoToken) {
  mac.add(77, 0, 0);
  const auto seen = observe(backend, 77);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), "");
}

TEST_P(MacReading, AReusedPidHasAnotherToken) {
  mac.add(77, 1'700'000'100, 42);
  const auto first = observe(backend, 77);
  mac.add(77, 1'700'000'100, 43);
  EXPECT_NE(token_of(first), token_of(observe(backend, 77)));
}

TEST_P(MacReading, AStepOfTheClockMovesTheAgeAndNotTheToken) {
  mac.add(77, 1'700'000'100, 42);
  constexpr std::uint32_t kWants = kToken | ROLLCALL_WANT_AGE;
  const auto before = observe(backend, 77, kWants);
  EXPECT_NE(before.flags & ROLLCALL_OBS_AGE, 0U);
  EXPECT_EQ(before.age_ns, 399'999'958'000);
  mac.unix_ns += 3'600'000'000'000;
  const auto forward = observe(backend, 77, kWants);
  mac.unix_ns = 1'000'000'000;  // 1970: before the process started
  const auto back = observe(backend, 77, kWants);
  EXPECT_EQ(token_of(forward), token_of(before));
  EXPECT_EQ(token_of(back), token_of(before));
  EXPECT_EQ(back.flags & ROLLCALL_OBS_AGE, 0U);
  EXPECT_EQ(back.age_ns, 0);
  EXPECT_EQ(back.start_unix_ns, before.start_unix_ns);
}

TEST_P(MacReading, AnAbsurdStartYieldsATokenAndNoAge) {
  mac.add(77, UINT64_MAX, 5);
  const auto seen = observe(backend, 77, kToken | ROLLCALL_WANT_AGE);
  EXPECT_EQ(token_of(seen), "18446744073709551615.000005");
  EXPECT_EQ(seen.flags & (ROLLCALL_OBS_AGE | ROLLCALL_OBS_START_TIME), 0U);
}

TEST_P(MacReading, ABatchStopsWhenItIsCancelled) {
  std::vector<rollcall_ask> asks(1000);
  std::vector<rollcall_observation> seen(1000);
  for (std::size_t i = 0; i < asks.size(); ++i) asks[i].pid = 100'000 + static_cast<int>(i);
  rollcall_observe_batch batch = {};
  batch.struct_size = sizeof batch;
  batch.ask_stride = sizeof asks[0];
  batch.observation_stride = sizeof seen[0];
  batch.count = asks.size();
  batch.asks = asks.data();
  batch.observations = seen.data();
  const auto call = cancelled();
  EXPECT_EQ(backend.probe->observe(backend.probe_self, &batch, &call, nullptr),
            ROLLCALL_E_CANCELLED);
  EXPECT_LT(mac.counts["proc_pidinfo"], 1000);
}

TEST_P(MacReading, SaysWhoWeAre) {
  const auto self = whoami(backend);
  EXPECT_EQ(self.pid, FakeMac::kOwnPid);
  EXPECT_EQ(self.uid, FakeMac::kOwnUid);
  EXPECT_EQ(std::string(self.start_token, self.start_token_size), "1700000400.000007");
  EXPECT_EQ(std::string(self.boot_id, self.boot_id_size), "9F1C0A52-7C3E-4B0E-8D77-2B7C1F0E6A11");
  EXPECT_EQ(self.boot_rule, ROLLCALL_BOOT_EXACT);
  EXPECT_EQ(std::string(self.machine_id, self.machine_id_size),
            "0A1A2A3A-4A5A-6A7A-8A9A-AABACADAEAFA");
  EXPECT_EQ(std::string(self.nodename, self.nodename_size), "mac.local");
}

TEST_P(MacReading, ABootIdThatCannotBeReadIsNoValue) {
  mac.refuse["sysctlbyname"] = EPERM;
  auto self = whoami(backend);
  EXPECT_EQ(self.boot_id_size, 0U);
  EXPECT_NE(std::string(self.boot_id_why, self.boot_id_why_size).find("not permitted"),
            std::string::npos);
  mac.refuse.clear();
  mac.names["kern.bootsessionuuid"] = std::string(37, '\0');
  self = whoami(backend);
  EXPECT_EQ(self.boot_id_size, 0U);
  EXPECT_NE(self.boot_id_why_size, 0U);
}

TEST_P(MacReading, AnOwnStartThatCannotBeReadSaysWhy) {
  mac.at(FakeMac::kOwnPid).refused = EPERM;
  const auto self = whoami(backend);
  EXPECT_EQ(self.start_token_size, 0U);
  EXPECT_NE(self.start_token_why_size, 0U);
}

TEST_P(MacReading, AHostThatCannotBeReadIsLeftOut) {
  mac.refuse["gethostuuid"] = EPERM;
  mac.refuse["gethostname"] = EINVAL;
  const auto self = whoami(backend);
  EXPECT_EQ(self.machine_id_size, 0U);
  EXPECT_EQ(self.nodename_size, 0U);
}

// kern.boottime is derived anew when the clock moves.
TEST_P(MacReading, ABootTimeThatMovedProvesNoOtherBoot) {
  struct Boottime {
    std::int64_t seconds;
    std::int32_t microseconds;
    std::int32_t padding;
  };
  mac.names.erase("kern.bootsessionuuid");
  const auto boot_at = [&](std::int64_t seconds, std::int32_t microseconds) {
    const Boottime time = {seconds, microseconds, 0};
    mac.names["kern.boottime"] = std::string(reinterpret_cast<const char*>(&time), sizeof time);
    const auto self = whoami(backend);
    EXPECT_EQ(self.boot_rule, ROLLCALL_BOOT_EQUAL_ONLY);
    return std::string(self.boot_id, self.boot_id_size);
  };
  const std::string recorded = boot_at(1'785'713'468, 118'135);
  const auto match = [&](const std::string& now) {
    Here here;
    here.boot_rule = BootRule::kEqualOnly;
    here.boot_id = now;
    return compare_boots(recorded, here);
  };
  EXPECT_EQ(match(boot_at(1'785'713'468, 118'135)), BootMatch::kSame);
  EXPECT_EQ(match(boot_at(1'785'713'468, 168'489)), BootMatch::kUnreadable);
  EXPECT_EQ(match(boot_at(1'785'713'469, 118'135)), BootMatch::kUnreadable);
  EXPECT_EQ(match(boot_at(1'785'713'468 - 3600, 118'135)), BootMatch::kUnreadable);
}

TEST_P(MacReading, TheTableGrowsUntilAllPidsFit) {
  for (int pid = 10'000; pid < 13'000; ++pid) mac.add(pid, 1'700'000'100, 1, 1);
  const auto listing = list(backend);
  EXPECT_EQ(listing.code, ROLLCALL_OK);
  EXPECT_EQ(listing.rows.size(), 3001U);
  EXPECT_GT(mac.counts["proc_listallpids"], 1);
}

TEST_P(MacReading, TheTableNamesParentsAndSkipsWhoIsGone) {
  mac.add(77, 1, 1, 50);
  mac.add(78, 1, 1, 77);
  mac.at(78).refused = EPERM;
  mac.add(79, 1, 1, 77);
  mac.before = [&](const std::string& call) {
    if (call == "proc_pidinfo") mac.processes.erase(79);
  };
  const auto listing = list(backend);
  EXPECT_EQ(listing.rows, (std::vector<std::string>{"77/50", "78/-1", "4000/1"}));
}

TEST_P(MacReading, ATableThatCannotBeReadIsAnErrorAndNotAnEmptyOne) {
  mac.refuse["proc_listallpids"] = EPERM;
  EXPECT_EQ(list(backend).code, ROLLCALL_E_IO);
  mac.refuse.clear();
  mac.cut["proc_listallpids"] = 1 << 20;
  EXPECT_EQ(list(backend).code, ROLLCALL_E_IO);
}

TEST_P(MacReading, NullArgumentsAndShortStridesAreRefused) {
  rollcall_observe_batch batch = {};
  batch.struct_size = sizeof batch;
  batch.ask_stride = 4;
  batch.observation_stride = sizeof(rollcall_observation);
  EXPECT_EQ(backend.probe->observe(backend.probe_self, &batch, nullptr, nullptr),
            ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.probe->observe(backend.probe_self, nullptr, nullptr, nullptr),
            ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.probe->whoami(nullptr, nullptr, nullptr, nullptr), ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.probe->list(backend.probe_self, nullptr, nullptr, nullptr), ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.probe->read(backend.probe_self, 1, 1, nullptr, nullptr, nullptr),
            ROLLCALL_E_INVALID);
  EXPECT_EQ(
      backend.control->signal(backend.control_self, 77, 1, nullptr, nullptr, nullptr, nullptr),
      ROLLCALL_E_INVALID);
}

ROLLCALL_BOTH_BUILDS(MacReading);

}  // namespace
}  // namespace rollcall::testing
