#include <gtest/gtest.h>

#include <string>

#include "regtool/regtool_windows_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Act : public RegtoolTest {};

TEST_F(Act, StopEndsASessionAndItsRecordGoes) {
  auto live = session("s-live", {"listen", "1"});
  const Ran ran = run({"stop", "s-live", "--total", "20000", "--after", "10000", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.stop/1");
  EXPECT_EQ(string_at(json, "session_id"), "s-live");
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  ASSERT_EQ(at(json, "signals").Size(), 1U);
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
  EXPECT_FALSE(has_record("s-live"));
}

TEST_F(Act, StopAsksTwiceAndNeverKills) {
  auto live = session("s-stubborn", {"listen", "0"});
  const Ran ran = run({"stop", "s-stubborn", "--after", "300", "--total", "800", "--json"});
  EXPECT_EQ(ran.code, 1U);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "still_there");
  EXPECT_EQ(at(json, "signals").Size(), 2U);
  EXPECT_EQ(read_line(live.out), "asked\n");
  EXPECT_EQ(read_line(live.out), "asked\n");
  EXPECT_TRUE(live.child.alive());
  EXPECT_TRUE(has_record("s-stubborn"));
}

TEST_F(Act, StopByForceEndsItAndItsCommand) {
  auto live = session("s-stubborn", {"listen", "0"});
  const std::int64_t command = command_pid("s-stubborn");
  const Ran ran = run({"stop", "s-stubborn", "--force", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "signals.0"), "SIGKILL");
  EXPECT_TRUE(live.child.wait());
  EXPECT_TRUE(wait_until([&] { return !testing::runs(command); }));
  EXPECT_FALSE(has_record("s-stubborn"));
}

TEST_F(Act, KillEndsAProcessThatIsNoneOfOurs) {
  Child child = Child::sleeper();
  put_record_of("s-1", child);
  const Ran ran = run({"kill", "s-1", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.kill/1");
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_EQ(string_at(json, "signals.0"), "SIGKILL");
  EXPECT_TRUE(child.wait());
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Act, SparesAStrangerOnTheSamePid) {
  Child stranger = Child::sleeper();
  for (const char* command : {"stop", "kill"}) {
    put_record_of("s-forged", stranger);
    forge_start("s-forged");
    const Ran ran = run({command, "s-forged", "--json"});
    EXPECT_EQ(ran.code, 0U) << ran.out;
    const auto json = parse_json(ran.out);
    EXPECT_EQ(string_at(json, "outcome"), "already_gone");
    EXPECT_EQ(at(json, "signals").Size(), 0U);
    EXPECT_FALSE(has_record("s-forged"));
  }
  EXPECT_TRUE(stranger.alive());
}

TEST_F(Act, RefusesWhatCannotBeTold) {
  Child child = Child::sleeper();
  put_record_of("s-foreign", child);
  put_record_of("s-no-token", child);
  alter_record("s-no-token", "process_start", std::string());
  alter_record("s-foreign", "host_id", std::string("00ff-elsewhere"));
  for (const char* id : {"s-no-token", "s-foreign"}) {
    for (const char* command : {"stop", "kill"}) {
      const Ran ran = run({command, id, "--json"});
      EXPECT_EQ(ran.code, 4U) << command << " " << id << ran.out << ran.err;
      const auto json = parse_json(ran.out);
      EXPECT_EQ(string_at(json, "outcome"), "refused");
      EXPECT_EQ(at(json, "signals").Size(), 0U);
      EXPECT_TRUE(has_record(id));
    }
  }
  EXPECT_TRUE(child.alive());
}

TEST_F(Act, RefusesToStopWhatListensToNothingAndSaysWhatIsLeft) {
  Child child = Child::sleeper();
  put_record_of("s-deaf", child);
  const Ran ran = run({"stop", "s-deaf", "--after", "100", "--total", "300"});
  EXPECT_EQ(ran.code, 4U) << ran.out;
  EXPECT_NE(ran.out.find("KILL"), std::string::npos) << ran.out;
  EXPECT_TRUE(child.alive());
  EXPECT_TRUE(has_record("s-deaf"));
}

TEST_F(Act, HasNoOtherSignals) {
  Child child = Child::sleeper();
  put_record_of("s-1", child);
  for (const char* signal : {"HUP", "USR1", "USR2", "CONT", "STOP"}) {
    const Ran ran = run({"kill", "s-1", "--signal", signal, "--json"});
    EXPECT_EQ(ran.code, 5U) << signal;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "capability_unavailable") << signal;
  }
  EXPECT_TRUE(child.alive());
}

TEST_F(Act, CallsAProcessGoneThatExitedWith259) {
  const Child ended = Child::exited(STILL_ACTIVE);
  Child child = Child::sleeper();
  put_record_of("s-259", child);
  alter_record("s-259", "pid", ended.pid());
  alter_record("s-259", "process_start", ended.start_token());
  const Ran verified = run({"verify", "s-259", "--json"});
  EXPECT_EQ(verified.code, 1U) << verified.out;
  const Ran ran = run({"stop", "s-259", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "outcome"), "already_gone");
}

TEST_F(Act, WaitSeesTheEnd) {
  Child child = Child::sleeper();
  put_record_of("s-1", child);
  EXPECT_EQ(run({"wait", "s-1", "--timeout", "100ms"}).code, 1U);
  auto waiting = start({"wait", "s-1", "--timeout", "60s"});
  child.kill(STILL_ACTIVE);
  EXPECT_EQ(finish(std::move(waiting)).code, 0U);
}

TEST_F(Act, PruneRemovesTheGoneAndKeepsTheAlive) {
  Child alive = Child::sleeper();
  put_record_of("s-alive", alive);
  put_record_of("s-gone", alive);
  forge_start("s-gone");
  const Ran dry = run({"prune", "--dry-run", "--json"});
  EXPECT_EQ(dry.code, 0U) << dry.err;
  EXPECT_TRUE(has_record("s-gone"));
  const Ran ran = run({"prune", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  EXPECT_FALSE(has_record("s-gone"));
  EXPECT_TRUE(has_record("s-alive"));
  EXPECT_TRUE(alive.alive());
}

}  // namespace
}  // namespace rollcall::regtool
