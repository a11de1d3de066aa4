#include <gtest/gtest.h>

#include <string>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Verify : public RegtoolTest {};

TEST_F(Verify, IsLiveWithEveryKey) {
  auto live = session("s-live", {"sleep", "60"});
  const Ran ran = run({"verify", "s-live", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.verify/1");
  EXPECT_EQ(string_at(json, "session_id"), "s-live");
  EXPECT_EQ(string_at(json, "verdict"), "live");
  EXPECT_EQ(string_at(json, "process.state"), "alive");
  EXPECT_TRUE(at(json, "process").HasMember("reason"));
  EXPECT_EQ(number_at(json, "process.recorded.pid"), live.child.pid());
  EXPECT_EQ(string_at(json, "process.recorded.start_token"),
            testing::start_token_of(live.child.pid()));
  EXPECT_EQ(string_at(json, "process.read.presence"), "present");
  EXPECT_EQ(string_at(json, "door.kind"), "a2a");
  EXPECT_EQ(string_at(json, "door.outcome"), "ok");
  EXPECT_TRUE(at(json, "door.reason").IsNull());
  EXPECT_GE(number_at(json, "door.elapsed_ms"), 0);
}

TEST_F(Verify, IsGoneWhenNoProcessHoldsThePid) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const Ran ran = run({"verify", "s-dead", "--json"});
  EXPECT_EQ(ran.code(), 1);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "verdict"), "gone");
  EXPECT_EQ(string_at(json, "process.state"), "gone");
  EXPECT_EQ(string_at(json, "process.reason").rfind("no process holds pid ", 0), 0U);
  EXPECT_TRUE(at(json, "door").IsNull());
  EXPECT_TRUE(has_record("s-dead"));
}

TEST_F(Verify, IsGoneWhenAnotherProcessHoldsThePid) {
  const Child stranger = Child::sleeper();
  const std::string token = testing::start_token_of(stranger.pid());
  put_record("s-forged", record("s-forged", stranger.pid(), std::to_string(std::stoll(token) - 1)));
  const Ran ran = run({"verify", "s-forged"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_NE(ran.out.find("started at another time"), std::string::npos) << ran.out;
}

TEST_F(Verify, IsUnreachableWhenItCannotBeTold) {
  put_record("s-foreign",
             record("s-foreign", testing::free_pid(), "1", R"(,"host_id":"00ff-elsewhere")"));
  const Ran ran = run({"verify", "s-foreign", "--json"});
  EXPECT_EQ(ran.code(), 3);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "verdict"), "unreachable");
  EXPECT_EQ(string_at(json, "process.state"), "unverified");
}

TEST_F(Verify, IsUnreachableWhileItsProcessIsStopped) {
  auto live = session("s-live", {"sleep", "60"});
  live.child.signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(live.child.pid()) == 'T'; }));
  const Ran ran = run({"verify", "s-live", "--json"});
  EXPECT_EQ(ran.code(), 3);
  EXPECT_EQ(string_at(parse_json(ran.out), "reason.code"), "suspended");
  live.child.signal(SIGCONT);
  EXPECT_TRUE(wait_until([&] { return run({"verify", "s-live"}).code() == 0; }));
}

TEST_F(Verify, IsUnreachableWhenAnotherSessionAnswers) {
  auto one = session("s-one", {"sleep", "60"});
  const auto json = parse_json(run({"show", "s-one", "--json"}).out);
  ASSERT_EQ(run({"register", "--session", "s-two", "--pid", std::to_string(one.child.pid()),
                 "--url", string_at(json, "record.url")})
                .code(),
            0);
  const Ran ran = run({"verify", "s-two", "--json"});
  EXPECT_EQ(ran.code(), 3);
  EXPECT_EQ(string_at(parse_json(ran.out), "door.outcome"), "other-session");
  EXPECT_TRUE(has_record("s-two"));
}

TEST_F(Verify, IsUnreachableWhenAStrangerHoldsTheDoor) {
  auto stranger = session("s-stranger", {"sleep", "60"});
  const auto json = parse_json(run({"show", "s-stranger", "--json"}).out);
  const Child sleeper = Child::sleeper();
  ASSERT_EQ(run({"register", "--session", "s-mine", "--pid", std::to_string(sleeper.pid()), "--url",
                 string_at(json, "record.url"), "--token-file", "-"},
                "tok-secret\n")
                .code(),
            0);
  const Ran ran = run({"verify", "s-mine", "--json"});
  EXPECT_EQ(ran.code(), 3);
  EXPECT_EQ(string_at(parse_json(ran.out), "door.outcome"), "foreign-listener");
}

TEST_F(Verify, ExplainsLayerByLayer) {
  auto live = session("s-live", {"sleep", "60"});
  const Ran ran = run({"verify", "--explain", "s-live"});
  EXPECT_EQ(ran.code(), 0);
  for (const char* part : {"pid held", "same process", "door", "recorded", "read", "follows",
                           "rollcall.backend.linux", "rollcall.a2a_door"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
  const auto json = parse_json(run({"verify", "--explain", "s-live", "--json"}).out);
  ASSERT_GE(at(json, "explain").Size(), 3U);
  EXPECT_TRUE(at(json, "explain.0").HasMember("follows"));
}

TEST_F(Verify, TakesTheEndOfAnIdAndARow) {
  auto live = session("s-live-ABCD", {"sleep", "60"});
  EXPECT_EQ(run({"verify", "abcd"}).code(), 0);
  EXPECT_EQ(run({"verify", "@1"}).code(), 0);
  EXPECT_EQ(run({"verify", "@2"}).code(), 1);
  EXPECT_EQ(run({"verify", "bcd"}).code(), 1);
}

TEST_F(Verify, ListsTheMatchesOfAnAmbiguousName) {
  const Child sleeper = Child::sleeper();
  put_record_of("s-1-same", sleeper.pid());
  put_record_of("s-2-same", sleeper.pid());
  const Ran ran = run({"verify", "same", "--json"});
  EXPECT_EQ(ran.code(), 2);
  EXPECT_NE(ran.err.find("s-2-same s-1-same"), std::string::npos) << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "ambiguous");
}

TEST_F(Verify, SaysWhyAPrunedSessionIsGone) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  run({"ps"});
  const Ran ran = run({"verify", "s-dead", "--json"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "session_not_found");
  EXPECT_NE(string_at(parse_json(ran.out), "error.text").find("no process holds pid"),
            std::string::npos);
}

TEST_F(Verify, SaysNotFound) {
  const Ran ran = run({"verify", "nothing-here", "--json"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "session_not_found");
  EXPECT_EQ(string_at(parse_json(ran.out), "error.object"), "nothing-here");
  EXPECT_EQ(run({"verify", "nothing-here"}).err,
            "regtool: no session nothing-here in " + home_ + "\n");
}

TEST_F(Verify, TellsATornRecordFromNone) {
  put_record("torn", "{");
  const Ran ran = run({"verify", "torn", "--json"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "unreadable");
  EXPECT_TRUE(has_record("torn"));
}

TEST_F(Verify, TouchesNoFileForAPath) {
  std::filesystem::create_directories(home_ + "/running");
  const Child sleeper = Child::sleeper();
  const std::string outside = home_ + "/outside.json";
  std::ofstream(outside) << record("outside", sleeper.pid(),
                                   testing::start_token_of(sleeper.pid()));
  for (const char* id : {"../outside", "..", ".", "", "/tmp/x", "a/b", "a\\b", "-rf",
                         "outside.json", "../outside.json"}) {
    for (const char* command : {"verify", "show", "stop", "kill", "forget", "wait"}) {
      EXPECT_EQ(run({command, "--", id}).code(), 2) << command << " " << id;
    }
  }
  EXPECT_TRUE(std::filesystem::exists(outside));
  EXPECT_EQ(testing::state_of(sleeper.pid()), 'S');
}

TEST_F(Verify, ShowsARecordWithItsVerdict) {
  auto live = session("s-live", {"sleep", "60"}, {"--auth", "--label", "team=db"});
  const Ran ran = run({"show", "s-live", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.show/1");
  EXPECT_EQ(string_at(json, "verdict"), "live");
  EXPECT_TRUE(at(json, "record.has_token").IsTrue());
  EXPECT_FALSE(at(json, "record").HasMember("door_token"));
  EXPECT_EQ(string_at(json, "record.metadata.command_pid"), std::to_string(command_pid("s-live")));
  EXPECT_NE(run({"show", "s-live"}).out.find("recorded (not shown)"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
