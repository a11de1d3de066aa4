#include "watch/differences.hpp"

#include <gtest/gtest.h>

namespace rollcall::watch {
namespace {

Event state(Verdict status, Reason reason = Reason::kNone) {
  Event event;
  event.session_id = "web";
  event.pid = 7;
  event.start_token = "1";
  event.record = "r";
  event.status = status;
  event.reason = reason;
  event.process = status == Verdict::kGone ? ProcessState::kGone : ProcessState::kAlive;
  return event;
}

// The kind of the difference, or kOther where there is none.
EventKind kind_of(const std::optional<Event>& said, const Event& now, bool asks_doors = true) {
  const auto event = difference(said, now, asks_doors);
  return event ? event->kind : EventKind::kOther;
}

Event said_as(EventKind kind, Event event) {
  event.kind = kind;
  return event;
}

TEST(Difference, OfOneThatNobodySpokeOfIsThatItAppeared) {
  EXPECT_EQ(kind_of({}, state(Verdict::kLive)), EventKind::kAppeared);
  EXPECT_EQ(kind_of(said_as(EventKind::kGone, state(Verdict::kGone)), state(Verdict::kLive)),
            EventKind::kAppeared);
}

TEST(Difference, OfOneThatIsDeadIsToldOnlyIfItWasSpokenOf) {
  EXPECT_EQ(kind_of({}, state(Verdict::kGone)), EventKind::kOther);
  EXPECT_EQ(kind_of(said_as(EventKind::kLive, state(Verdict::kLive)), state(Verdict::kGone)),
            EventKind::kGone);
  EXPECT_EQ(kind_of(said_as(EventKind::kGone, state(Verdict::kGone)), state(Verdict::kGone)),
            EventKind::kOther);
}

TEST(Difference, IsTheVerdictWhereThatChanged) {
  const Event live = said_as(EventKind::kAppeared, state(Verdict::kLive));
  EXPECT_EQ(kind_of(live, state(Verdict::kLive)), EventKind::kOther);
  EXPECT_EQ(kind_of(live, state(Verdict::kUnreachable, Reason::kRefused)), EventKind::kUnreachable);
  EXPECT_EQ(kind_of(live, state(Verdict::kAlive)), EventKind::kAlive);
}

TEST(Difference, IsToldWhereOnlyTheReasonChanged) {
  const Event refused =
      said_as(EventKind::kUnreachable, state(Verdict::kUnreachable, Reason::kRefused));
  EXPECT_EQ(kind_of(refused, state(Verdict::kUnreachable, Reason::kReadTimeout)),
            EventKind::kUnreachable);
}

TEST(Difference, OfWhoAsksNoDoorSaysNothingAgainstADoor) {
  const Event live = said_as(EventKind::kLive, state(Verdict::kLive));
  EXPECT_EQ(kind_of(live, state(Verdict::kAlive), false), EventKind::kOther);
  const Event stopped =
      said_as(EventKind::kUnreachable, state(Verdict::kUnreachable, Reason::kSuspended));
  EXPECT_EQ(kind_of(stopped, state(Verdict::kAlive), false), EventKind::kAlive);
}

TEST(Difference, OfARecordOrAProcessIsThatItChanged) {
  const Event said = said_as(EventKind::kLive, state(Verdict::kLive));
  Event renamed = state(Verdict::kLive);
  renamed.record = "other";
  EXPECT_EQ(kind_of(said, renamed), EventKind::kChanged);
  Event successor = state(Verdict::kLive);
  successor.pid = 8;
  EXPECT_EQ(kind_of(said, successor), EventKind::kChanged);
}

TEST(Difference, OfARemovedRecordIsNoDeath) {
  const Event said = said_as(EventKind::kLive, state(Verdict::kLive));
  const Event removed = removed_state(said, ProcessState::kAlive, Reason::kNone, {});
  EXPECT_EQ(kind_of(said, removed), EventKind::kRemoved);
  EXPECT_EQ(kind_of(removed, removed), EventKind::kOther);
  const Event dead = removed_state(said, ProcessState::kGone, Reason::kNoProcess, "none holds it");
  EXPECT_EQ(kind_of(said, dead), EventKind::kGone);
  EXPECT_EQ(kind_of(removed, dead), EventKind::kGone) << "its end is still told";
}

TEST(StateOf, KeepsNoTokenAndNoPathOfAUrl) {
  SessionView view;
  view.record.session_id = "web";
  view.record.process.pid = 7;
  view.record.url = "http://user:secret@127.0.0.1:80/secret?secret";
  view.record.door_token = "secret";
  const Event plain = state_of(view, "rollcall");
  EXPECT_EQ(plain.url->find("secret"), std::string::npos);
  view.record.door_token = "another";
  EXPECT_EQ(state_of(view, "rollcall").record, plain.record) << "a new token is no news";
  view.record.name = "renamed";
  EXPECT_NE(state_of(view, "rollcall").record, plain.record);
}

}  // namespace
}  // namespace rollcall::watch
