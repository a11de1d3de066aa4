#include <gtest/gtest.h>

#include <string>

#include "rollcall/verdict.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kSession = "ses_a";

Finding find(const Classification& process, const Observation& read, const LayerReadings& layer3) {
  ProcessIdentity recorded;
  recorded.pid = 7;
  return conclude(kSession, process, recorded, read, Here{}, layer3);
}

const Classification kAliveState{ProcessState::kAlive, Reason::kNone, Rule::kToken};
const Classification kGoneState{ProcessState::kGone, Reason::kNoProcess, Rule::kNoProcess};
const Classification kUntoldState{ProcessState::kUnverified, Reason::kForeignView,
                                  Rule::kForeignHost};

Observation running() {
  Observation read;
  read.presence = Presence::kPresent;
  return read;
}

LayerReadings door(DoorReading reading) { return {true, true, std::move(reading)}; }

DoorReading named(std::string session) {
  DoorReading reading;
  reading.answered = true;
  reading.named = true;
  reading.ownership = Ownership::kProcess;
  reading.session = std::move(session);
  return reading;
}

TEST(Conclude, IsLiveWithoutADoorByLayersOneAndTwoAlone) {
  EXPECT_EQ(find(kAliveState, running(), {}).verdict, Verdict::kLive);
}

TEST(Conclude, IsLiveWhenTheDoorNamesTheSession) {
  EXPECT_EQ(find(kAliveState, running(), door(named("ses_a"))).verdict, Verdict::kLive);
}

TEST(Conclude, IsUnreachableWhenTheDoorAnswersForAnother) {
  const auto finding = find(kAliveState, running(), door(named("ses_b\x1b[2J")));
  EXPECT_EQ(finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(finding.reason, Reason::kOtherSession);
  EXPECT_EQ(finding.text, "its door answers for ses_b\\x1b[2J");
}

TEST(Conclude, ComparesSessionsAsWholeStrings) {
  for (const char* const other : {"ses_", "ses_a ", "SES_A", "ses_ab"}) {
    EXPECT_EQ(find(kAliveState, running(), door(named(other))).reason, Reason::kOtherSession);
  }
  EXPECT_EQ(find(kAliveState, running(), door(named(""))).reason, Reason::kNoSession);
}

TEST(Conclude, IsNeverLiveWhenAStrangerHoldsTheDoor) {
  auto reading = named("ses_a");
  reading.ownership = Ownership::kForeign;
  const auto finding = find(kAliveState, running(), door(reading));
  EXPECT_EQ(finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(finding.reason, Reason::kForeignListener);
  EXPECT_EQ(finding.text, "another process holds the door");
}

TEST(Conclude, TakesADoorThatNamesNobodyByTheKernelsWordOnly) {
  DoorReading reading;
  reading.answered = true;
  for (const Ownership owner : {Ownership::kProcess, Ownership::kDescendant}) {
    reading.ownership = owner;
    EXPECT_EQ(find(kAliveState, running(), door(reading)).verdict, Verdict::kLive);
  }
  for (const Ownership owner : {Ownership::kUnknown, Ownership::kUidOnly}) {
    reading.ownership = owner;
    EXPECT_EQ(find(kAliveState, running(), door(reading)).reason, Reason::kOwnerUnknown);
  }
}

TEST(Conclude, SaysThatASuspendedProcessIsSuspended) {
  auto read = running();
  read.suspended = true;
  const auto finding = find(kAliveState, read, {true, false, {}});
  EXPECT_EQ(finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(finding.reason, Reason::kSuspended);
}

TEST(Conclude, IsAliveWhereTheDoorWasNotAsked) {
  EXPECT_EQ(find(kAliveState, running(), {true, false, {}}).verdict, Verdict::kAlive);
}

TEST(Conclude, IsGoneOrUnreachableByTheProcessWhateverTheDoorSays) {
  EXPECT_EQ(find(kGoneState, running(), door(named("ses_a"))).verdict, Verdict::kGone);
  const auto finding = find(kUntoldState, running(), door(named("ses_a")));
  EXPECT_EQ(finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(finding.reason, Reason::kForeignView);
}

TEST(Conclude, PutsAFailedDoorIntoWordsWithItsDetail) {
  DoorReading reading;
  reading.reason = Reason::kHttpStatus;
  reading.detail = "500 \x1b]0;owned\x07";
  const auto finding = find(kAliveState, running(), door(reading));
  EXPECT_EQ(finding.reason, Reason::kHttpStatus);
  EXPECT_EQ(finding.text, "its door answered with an HTTP error: 500 \\x1b]0;owned\\x07");
}

TEST(JudgeDoor, NeverTakesAnAnswerThatFailedWithoutAReason) {
  EXPECT_EQ(judge_door("ses_a", DoorReading{}), Reason::kUnverified);
}

}  // namespace
}  // namespace rollcall
