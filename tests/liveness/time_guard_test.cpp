#include "rollcall/time_guard.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace rollcall {
namespace {

constexpr std::int64_t kS = 1'000'000'000;
constexpr std::int64_t kRecorded = 1'790'000'000 * kS;
using namespace std::string_view_literals;

TimeGuard guard(bool late = false) { return {{"agent", "python3"}, late}; }

GuardReading reading(std::int64_t start_after_record_ns,
                     std::optional<std::string_view> command = "agent\0--x\0"sv) {
  return {kRecorded, kRecorded + start_after_record_ns, command};
}

void expect(const Classification& result, ProcessState state, Rule rule) {
  EXPECT_EQ(result.state, state);
  EXPECT_EQ(result.rule, rule);
}

Observation present(std::string_view token = "77") {
  Observation read;
  read.pid = 4242;
  read.presence = Presence::kPresent;
  read.start_token.assign(token);
  return read;
}

Here here(HomeKind home = HomeKind::kLocal) {
  Here machine;
  machine.boot_id = "boot-a";
  machine.home = home;
  return machine;
}

TEST(TimeGuard, TakesAStartUpTo5SecondsAfterTheRecordAndCallsALaterOneGone) {
  expect(judge_by_time(guard(), reading(5 * kS)), ProcessState::kAlive, Rule::kTimeGuard);
  const auto later = judge_by_time(guard(), reading(5 * kS + 1));
  expect(later, ProcessState::kGone, Rule::kTimeGuard);
  EXPECT_EQ(later.reason, Reason::kOtherProcess);
}

TEST(TimeGuard, TakesAStartUpTo120SecondsBeforeTheRecordAndCannotTellAnEarlierOne) {
  expect(judge_by_time(guard(), reading(-120 * kS)), ProcessState::kAlive, Rule::kTimeGuard);
  expect(judge_by_time(guard(), reading(-120 * kS - 1)), ProcessState::kUnverified,
         Rule::kGuardEarly);
}

TEST(TimeGuard, HoldsAStoreThatRegistersLateToTheUpperBoundOnly) {
  expect(judge_by_time(guard(true), reading(-86'400 * kS)), ProcessState::kAlive, Rule::kTimeGuard);
  expect(judge_by_time(guard(true), reading(5 * kS + 1)), ProcessState::kGone, Rule::kTimeGuard);
}

TEST(TimeGuard, ComparesTheBaseNameOfTheFirstArgumentAndNothingElse) {
  struct Row {
    std::string_view command;
    bool alive;
  };
  const Row rows[] = {
      {"agent\0"sv, true},
      {"agent"sv, true},
      {"/usr/bin/agent\0-v\0"sv, true},
      {"./agent\0"sv, true},
      {"C:\\Program Files\\agent\0"sv, true},
      {"\\\\server\\share\\agent\0"sv, true},
      {"/opt/agent/\0"sv, false},
      {"/usr/bin/agent2\0"sv, false},
      {"my-agent\0"sv, false},
      {"Agent\0"sv, false},
      {"-agent\0"sv, false},
      {"agent \0"sv, false},
      {"vim\0agent\0"sv, false},
      {"sh\0-c\0agent\0"sv, false},
      {"x\\agent\0"sv, false},
      {"\0agent\0"sv, false},
  };
  for (const Row& row : rows) {
    const auto result = judge_by_time(guard(), reading(0, row.command));
    EXPECT_EQ(result.state == ProcessState::kAlive, row.alive) << row.command;
    if (!row.alive) {
      EXPECT_EQ(result.rule, Rule::kGuardName) << row.command;
    }
  }
}

TEST(TimeGuard, CannotTellWhatCouldNotBeRead) {
  auto without = reading(0);
  without.recorded_unix_ns.reset();
  expect(judge_by_time(guard(), without), ProcessState::kUnverified, Rule::kGuardUnreadable);
  without = reading(0);
  without.start_unix_ns.reset();
  expect(judge_by_time(guard(), without), ProcessState::kUnverified, Rule::kGuardUnreadable);
  expect(judge_by_time(guard(), reading(0, std::nullopt)), ProcessState::kUnverified,
         Rule::kGuardUnreadable);
  expect(judge_by_time(guard(), reading(0, "")), ProcessState::kUnverified, Rule::kGuardUnreadable);
}

TEST(TimeGuard, CallsALaterStartGoneWhateverThatProcessIs) {
  expect(judge_by_time(guard(), reading(6 * kS, "sleep\0"sv)), ProcessState::kGone,
         Rule::kTimeGuard);
  expect(judge_by_time(guard(), reading(6 * kS, std::nullopt)), ProcessState::kGone,
         Rule::kTimeGuard);
}

TEST(TimeGuard, AsksForTheCommandOnlyWhereItMatters) {
  EXPECT_TRUE(needs_command(guard(), reading(0)));
  EXPECT_TRUE(needs_command(guard(), reading(-500 * kS)));
  EXPECT_FALSE(needs_command(guard(), reading(6 * kS)));
  auto without = reading(0);
  without.start_unix_ns.reset();
  EXPECT_FALSE(needs_command(guard(), without));
}

TEST(TimeGuard, TakesTimesFromOtherErasWithoutOverflow) {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(judge_by_time(guard(), {kLowest, kHighest, "agent"sv}).state, ProcessState::kGone);
  EXPECT_EQ(judge_by_time(guard(), {kHighest, kLowest, "agent"sv}).rule, Rule::kGuardEarly);
  EXPECT_EQ(judge_by_time(guard(), {kHighest, kHighest, "agent"sv}).state, ProcessState::kAlive);
}

TEST(TimeGuard, HasNoSayWhereAStartTokenWasRecorded) {
  ProcessIdentity recorded;
  recorded.pid = 4242;
  recorded.start_token = "77";
  EXPECT_EQ(classify_guarded(recorded, present("77"), here(), guard(), reading(60 * kS)).rule,
            Rule::kToken);
  EXPECT_EQ(classify_guarded(recorded, present(""), here(), guard(), reading(0)).rule,
            Rule::kTokenUnreadable);
}

TEST(TimeGuard, SaysNothingOfAProcessThatIsAbsentOrUnreadable) {
  ProcessIdentity recorded;
  recorded.pid = 4242;
  Observation read;
  read.presence = Presence::kAbsent;
  EXPECT_EQ(classify_guarded(recorded, read, here(), guard(), reading(0)).rule, Rule::kNoProcess);
  read.presence = Presence::kUnreadable;
  EXPECT_EQ(classify_guarded(recorded, read, here(), guard(), reading(60 * kS)).state,
            ProcessState::kUnverified);
}

TEST(TimeGuard, CallsNothingGoneOnAHomeThatMayBeShared) {
  ProcessIdentity recorded;
  recorded.pid = 4242;
  const auto shared =
      classify_guarded(recorded, present(), here(HomeKind::kShared), guard(), reading(60 * kS));
  expect(shared, ProcessState::kUnverified, Rule::kSharedHome);
  const auto local = classify_guarded(recorded, present(), here(), guard(), reading(60 * kS));
  expect(local, ProcessState::kGone, Rule::kTimeGuard);
}

TEST(TimeGuard, IsNamedWhereverItDecided) {
  ProcessIdentity recorded;
  recorded.pid = 4242;
  const auto alive = classify_guarded(recorded, present(), here(), guard(), reading(0));
  const Finding live = conclude("s", alive, recorded, present(), here(), {});
  EXPECT_EQ(live.verdict, Verdict::kLive);
  EXPECT_EQ(live.reason, Reason::kNone);
  EXPECT_EQ(live.text, "guarded by time");
  const auto gone = classify_guarded(recorded, present(), here(), guard(), reading(60 * kS));
  const Finding dead = conclude("s", gone, recorded, present(), here(), {});
  EXPECT_EQ(dead.verdict, Verdict::kGone);
  EXPECT_NE(dead.text.find("guarded by time"), std::string::npos) << dead.text;
}

}  // namespace
}  // namespace rollcall
