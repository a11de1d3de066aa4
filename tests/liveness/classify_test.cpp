#include <gtest/gtest.h>

#include <string>

#include "liveness/count_allocations.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kPid = 4242;
constexpr const char* kBoot = "7b3d4f2a-5b1e-4c7d-9a0f-2f6f8a1b9c3d";

ProcessIdentity recorded() {
  ProcessIdentity identity;
  identity.pid = kPid;
  identity.start_token = "78475";
  identity.boot_id = kBoot;
  return identity;
}

Observation present(std::string_view token) {
  Observation read;
  read.pid = kPid;
  read.presence = Presence::kPresent;
  read.start_token.assign(token);
  return read;
}

Observation with(Presence presence) {
  Observation read;
  read.pid = kPid;
  read.presence = presence;
  return read;
}

Here here() {
  Here machine;
  machine.home = HomeKind::kLocal;
  machine.boot_id = kBoot;
  machine.host_id = "aa-host";
  machine.pid_namespace = "4026531836";
  machine.time_namespace = "4026531834";
  return machine;
}

void expect(const Classification& result, ProcessState state, Reason reason, Rule rule) {
  EXPECT_EQ(result.state, state) << to_text(result.state);
  EXPECT_EQ(result.reason, reason) << to_text(result.reason);
  EXPECT_EQ(result.rule, rule);
}

TEST(Classify, IsAliveWhenTheTokenIsEqual) {
  expect(classify(recorded(), present("78475"), here()), ProcessState::kAlive, Reason::kNone,
         Rule::kToken);
}

TEST(Classify, IsGoneWhenTheTokenDiffersByOneTick) {
  expect(classify(recorded(), present("78474"), here()), ProcessState::kGone, Reason::kOtherProcess,
         Rule::kToken);
}

TEST(Classify, ComparesTokensAsTextOnly) {
  auto identity = recorded();
  identity.start_token = "078475";
  EXPECT_EQ(classify(identity, present("78475"), here()).state, ProcessState::kGone);
}

TEST(Classify, IsGoneWhenNoProcessHoldsThePid) {
  for (const Presence presence : {Presence::kAbsent, Presence::kExited}) {
    expect(classify(recorded(), with(presence), here()), ProcessState::kGone, Reason::kNoProcess,
           Rule::kNoProcess);
  }
}

TEST(Classify, IsGoneWhenTheNumberIsAThreadsId) {
  auto read = with(Presence::kAbsent);
  read.thread = true;
  expect(classify(recorded(), read, here()), ProcessState::kGone, Reason::kNoProcess,
         Rule::kThread);
}

TEST(Classify, TakesAFailedReadingForNoEvidence) {
  auto read = with(Presence::kUnreadable);
  read.reason.assign("cannot open /proc/4242/stat: Permission denied");
  const auto result = classify(recorded(), read, here());
  expect(result, ProcessState::kUnverified, Reason::kUnreadable, Rule::kObservationUnreadable);
  EXPECT_EQ(reason_text(result, recorded(), read, here()),
            "cannot open /proc/4242/stat: Permission denied");
}

TEST(Classify, IsGoneByAnotherBootIdOfThisMachine) {
  auto identity = recorded();
  identity.boot_id = "00000000-0000-4000-8000-000000000000";
  expect(classify(identity, present("78475"), here()), ProcessState::kGone, Reason::kRebooted,
         Rule::kRebooted);
}

TEST(Classify, ComparesTheHostBeforeTheBootId) {
  auto identity = recorded();
  identity.host_id = "bb-elsewhere";
  identity.boot_id = "00000000-0000-4000-8000-000000000000";
  for (const auto& read : {present("78475"), present("1"), with(Presence::kAbsent)}) {
    expect(classify(identity, read, here()), ProcessState::kUnverified, Reason::kForeignView,
           Rule::kForeignHost);
  }
}

TEST(Classify, CannotTellARecordOfAnotherPidNamespace) {
  auto identity = recorded();
  identity.pid_namespace = "4026532201";
  for (const auto& read : {present("78475"), present("1"), with(Presence::kAbsent)}) {
    expect(classify(identity, read, here()), ProcessState::kUnverified, Reason::kForeignView,
           Rule::kForeignPidNamespace);
  }
}

TEST(Classify, CannotTellARecordOfAnotherTimeNamespace) {
  auto identity = recorded();
  identity.time_namespace = "4026532202";
  expect(classify(identity, present("1"), here()), ProcessState::kUnverified, Reason::kForeignView,
         Rule::kForeignTimeNamespace);
}

TEST(Classify, CannotTellAViewWhenItsOwnIsUnreadable) {
  auto identity = recorded();
  identity.pid_namespace = "4026531836";
  auto machine = here();
  machine.pid_namespace.reset();
  expect(classify(identity, with(Presence::kAbsent), machine), ProcessState::kUnverified,
         Reason::kForeignView, Rule::kViewUnreadable);
}

TEST(Classify, CannotTellWhenTheBootIdIsUnreadableNow) {
  auto machine = here();
  machine.boot_id.reset();
  machine.boot_id_why = "no such file";
  const auto result = classify(recorded(), present("1"), machine);
  expect(result, ProcessState::kUnverified, Reason::kUnreadable, Rule::kBootUnreadable);
  EXPECT_EQ(reason_text(result, recorded(), present("1"), machine),
            "the boot id cannot be read: no such file");
}

TEST(Classify, NeverComparesAnEmptyBootId) {
  auto identity = recorded();
  identity.boot_id = "";
  EXPECT_EQ(classify(identity, present("78475"), here()).rule, Rule::kBootUnreadable);
  auto machine = here();
  machine.boot_id = "";
  EXPECT_EQ(classify(recorded(), present("78475"), machine).rule, Rule::kBootUnreadable);
}

TEST(Classify, SeesAbsenceEvenWithoutABootId) {
  auto machine = here();
  machine.boot_id.reset();
  EXPECT_EQ(classify(recorded(), with(Presence::kAbsent), machine).state, ProcessState::kGone);
}

TEST(Classify, LetsTheTokenDecideAloneWhereNoBootIdWasRecorded) {
  auto identity = recorded();
  identity.boot_id.reset();
  EXPECT_EQ(classify(identity, present("78475"), here()).state, ProcessState::kAlive);
  EXPECT_EQ(classify(identity, present("1"), here()).state, ProcessState::kGone);
}

TEST(Classify, LetsTheExactIdDecideOverAnEqualToken) {
  auto identity = recorded();
  identity.exact_id = "9001";
  auto read = present("78475");
  read.exact_id = 9002;
  expect(classify(identity, read, here()), ProcessState::kGone, Reason::kOtherProcess,
         Rule::kExactId);
  read.exact_id = 9001;
  read.start_token.clear();
  expect(classify(identity, read, here()), ProcessState::kAlive, Reason::kNone, Rule::kExactId);
}

TEST(Classify, FallsBackToTheTokenWhereNoExactIdCanBeRead) {
  auto identity = recorded();
  identity.exact_id = "9001";
  expect(classify(identity, present("78475"), here()), ProcessState::kAlive, Reason::kNone,
         Rule::kToken);
}

TEST(Classify, VoidsAnExactIdWithoutABootIdOrThatIsNoNumber) {
  auto read = present("78475");
  read.exact_id = 1;
  auto identity = recorded();
  identity.exact_id = "9001";
  identity.boot_id.reset();
  EXPECT_EQ(classify(identity, read, here()).rule, Rule::kToken);
  for (const char* const text : {"", "x", "09001", "-1", "9001 ", "99999999999999999999999"}) {
    identity = recorded();
    identity.exact_id = text;
    expect(classify(identity, read, here()), ProcessState::kAlive, Reason::kNone, Rule::kToken);
  }
}

TEST(Classify, CannotTellWithoutATokenOnEitherSide) {
  auto identity = recorded();
  identity.start_token.clear();
  expect(classify(identity, present("78475"), here()), ProcessState::kUnverified,
         Reason::kUnreadable, Rule::kTokenMissing);
  expect(classify(recorded(), present(""), here()), ProcessState::kUnverified, Reason::kUnreadable,
         Rule::kTokenUnreadable);
}

TEST(Classify, KeepsARecordOfASharedHomeThatNamesNoHost) {
  auto machine = here();
  machine.home = HomeKind::kShared;
  auto other_boot = recorded();
  other_boot.boot_id = "00000000-0000-4000-8000-000000000000";
  expect(classify(other_boot, present("1"), machine), ProcessState::kUnverified,
         Reason::kForeignView, Rule::kSharedHome);
  for (const auto& read : {with(Presence::kAbsent), present("1")}) {
    EXPECT_EQ(classify(recorded(), read, machine).rule, Rule::kSharedHome);
  }
  EXPECT_EQ(classify(recorded(), present("78475"), machine).state, ProcessState::kAlive);
  auto named = recorded();
  named.host_id = "aa-host";
  EXPECT_EQ(classify(named, with(Presence::kAbsent), machine).state, ProcessState::kGone);
}

TEST(Classify, HoldsNoProcessForAnImpossiblePid) {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, kMaxPid + 1}) {
    auto identity = recorded();
    identity.pid = pid;
    expect(classify(identity, with(Presence::kUnreadable), here()), ProcessState::kGone,
           Reason::kNoProcess, Rule::kImpossiblePid);
  }
}

TEST(Classify, TakesWindowsBootTimesWithin120SecondsForOneBoot) {
  auto identity = recorded();
  identity.boot_id = "1700000000";
  auto machine = here();
  machine.boot_rule = BootRule::kWithin120s;
  for (const char* const now : {"1700000120", "1699999880", "1700000000"}) {
    machine.boot_id = now;
    EXPECT_EQ(classify(identity, present("78475"), machine).state, ProcessState::kAlive) << now;
  }
  for (const char* const now : {"1700000121", "1699999879"}) {
    machine.boot_id = now;
    EXPECT_EQ(classify(identity, present("78475"), machine).rule, Rule::kRebooted) << now;
  }
  for (const char* const now : {"x", "-1700000000", "1700000000.5", "99999999999999999999"}) {
    machine.boot_id = now;
    EXPECT_EQ(classify(identity, present("78475"), machine).rule, Rule::kBootUnreadable) << now;
  }
}

TEST(Classify, TakesNoDifferenceOfABootTimeThatMovesForAnotherBoot) {
  auto identity = recorded();
  identity.boot_id = "{ sec = 1785713468, usec = 118135 }";
  auto machine = here();
  machine.boot_rule = BootRule::kEqualOnly;
  machine.boot_id = identity.boot_id;
  EXPECT_EQ(classify(identity, present("78475"), machine).state, ProcessState::kAlive);
  for (const char* const now :
       {"{ sec = 1785713468, usec = 168489 }", "{ sec = 1785713469, usec = 118135 }",
        "{ sec = 1785709868, usec = 118135 }"}) {
    machine.boot_id = now;
    EXPECT_EQ(classify(identity, present("1"), machine).rule, Rule::kBootUnreadable) << now;
  }
}

TEST(Classify, AllocatesNothing) {
#if defined(ROLLCALL_SANITIZED)
  GTEST_SKIP() << "the sanitizer owns operator new";
#endif
  auto identity = recorded();
  identity.exact_id = "9001";
  identity.host_id = "aa-host";
  const auto machine = here();
  auto read = present("78475");
  read.exact_id = 9001;
  const auto absent = with(Presence::kAbsent);
  const std::size_t before = test::allocations();
  const auto first = classify(identity, read, machine);
  const auto second = classify(identity, absent, machine);
  const std::size_t after = test::allocations();
  EXPECT_EQ(after, before);
  EXPECT_EQ(first.state, ProcessState::kAlive);
  EXPECT_EQ(second.state, ProcessState::kGone);
}

TEST(WantsFor, SparesTheTokenWhereAnExactIdWillDecide) {
  auto identity = recorded();
  EXPECT_EQ(wants_for(identity), kWantStartToken);
  identity.exact_id = "9001";
  EXPECT_EQ(wants_for(identity), kWantStartToken | kWantExactId | kWantExactSuffices);
  identity.boot_id.reset();
  EXPECT_EQ(wants_for(identity), kWantStartToken);
}

}  // namespace
}  // namespace rollcall
