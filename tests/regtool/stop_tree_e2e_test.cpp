// `stop --tree` of sessions that `run` guards, and what being held means for `run`.
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"
#include "rollcall/tree_hold.hpp"
#include "support/family.hpp"

namespace rollcall::regtool {
namespace {

using testing::Family;

class StopTree : public RegtoolTest {
 protected:
  ~StopTree() override {
    for (const pid_t pid : pids()) {
      if (Family::alive(pid)) ::kill(pid, SIGKILL);
    }
  }
  // Whoever runs this writes its pid down. `log` is its file.
  [[nodiscard]] std::string log() const { return (dir_ / "pids").string(); }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> found;
    std::ifstream file(log());
    for (pid_t pid = 0; file >> pid;) found.push_back(pid);
    return found;
  }
  [[nodiscard]] bool nothing_lives() const {
    const auto all = pids();
    return std::none_of(all.begin(), all.end(), &Family::alive);
  }
  bool await_pids(std::size_t count) const {
    return wait_until([&] { return pids().size() >= count; });
  }
  // Daemons in sessions of their own whose parents have ended, and which fork on.
  [[nodiscard]] std::string forkers() const {
    return "for i in 1 2 3; do sh -c 'setsid sh -c \"echo \\$\\$ >> " + log() +
           "; while :; do (sleep 600 & echo \\$! >> " + log() +
           "); sleep 0.02; done\" & exit 0'; done; echo $$ >> " + log() +
           "; while :; do sleep 0.1; done";
  }
};

TEST_F(StopTree, LeavesNothingOfForkersInSessionsOfTheirOwn) {
  auto session = this->session("s-tree", {"sh", "-c", forkers()});
  ASSERT_TRUE(await_pids(12));
  const Ran ran = run({"stop", "s-tree", "--tree", "--total", "20000", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out;
  EXPECT_TRUE(nothing_lives());
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_EQ(string_at(json, "tree.containment"), "kernel");
  EXPECT_EQ(string_at(json, "tree.contained_by"), "subreaper");
  EXPECT_GE(at(json, "tree.members").Size(), 12U);
  EXPECT_EQ(string_at(json, "tree.members.0.ended"), "seen");
  EXPECT_FALSE(has_record("s-tree"));
  const Ran guard = finish(std::move(session));
  EXPECT_EQ(guard.status, 0x8F00) << "run ended as its command did: by SIGTERM, 143";
}

TEST_F(StopTree, LeavesNothingByForceAndSaysWhoGotWhat) {
  auto session = this->session("s-tree", {"sh", "-c", forkers()});
  ASSERT_TRUE(await_pids(12));
  const Ran ran = run({"stop", "s-tree", "--tree", "--force", "--total", "20000", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out;
  EXPECT_TRUE(nothing_lives());
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "tree.containment"), "kernel");
  // Some may have ended by themselves before; nobody got anything else, or twice.
  for (const auto& member : at(json, "tree.members").GetArray()) {
    ASSERT_LE(member["signals"].Size(), 1U);
    if (member["signals"].Empty()) continue;
    EXPECT_STREQ(member["signals"][0].GetString(), "SIGKILL");
  }
  EXPECT_EQ(at(json, "signals").Size(), 1U);
}

TEST_F(StopTree, JournalSaysHowManyOfTheTreeWereSignalled) {
  auto session = this->session("s-tree", {"sh", "-c", "sleep 600 & sleep 600 & wait"});
  const Ran ran = run({"stop", "s-tree", "--tree", "--total", "20000", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out;
  const auto receipt = parse_json(ran.out);
  int signalled = 0;
  for (const auto& member : at(receipt, "tree.members").GetArray()) {
    signalled += member["signals"].Size() > 0 ? 1 : 0;
  }
  EXPECT_GE(signalled, 1);
  const auto events = parse_json(run({"events", "--json", "--limit", "1"}).out);
  EXPECT_EQ(string_at(events, "events.0.event"), "stop_requested");
  EXPECT_TRUE(at(events, "events.0.stop.tree").GetBool());
  EXPECT_FALSE(at(events, "events.0.stop.forced").GetBool());
  EXPECT_EQ(number_at(events, "events.0.stop.signalled"), signalled);
  EXPECT_EQ(number_at(events, "events.0.stop.members"), at(receipt, "tree.members").Size());
  const std::string line = run({"events", "--limit", "1"}).out;
  EXPECT_NE(line.find("processes of its tree signalled: ended"), std::string::npos) << line;
}

TEST_F(StopTree, GivesTheCommandOneSigtermAtATime) {
  // The guard would pass its own on to the command's group once more.
  auto session =
      this->session("s-tree", {"sh", "-c",
                               "trap 'echo TERM >> " + log() + ".signals' TERM; echo $$ >> " +
                                   log() + "; while :; do sleep 0.02; done"});
  ASSERT_TRUE(await_pids(1));
  const Ran ran = run({"stop", "s-tree", "--tree", "--after", "300", "--total", "600", "--json"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log() + ".signals") == "TERM\nTERM\n"; }))
      << testing::slurp(log() + ".signals");
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "still_there");
  EXPECT_TRUE(has_record("s-tree"));
  EXPECT_TRUE(Family::alive(session.child.pid()));
}

TEST_F(StopTree, GivesTheCommandOfANestedRunOneSigtermAtATime) {
  auto session =
      this->session("s-outer", {program(), "run", "--session", "s-inner", "--", "sh", "-c",
                                "trap 'echo TERM >> " + log() + ".signals' TERM; echo $$ >> " +
                                    log() + "; while :; do sleep 0.02; done"});
  ASSERT_TRUE(await_pids(1));
  const Ran ran = run({"stop", "s-outer", "--tree", "--after", "300", "--total", "600"});
  EXPECT_EQ(ran.code(), 1) << ran.out << ran.err;
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log() + ".signals") == "TERM\nTERM\n"; }))
      << testing::slurp(log() + ".signals");
  EXPECT_EQ(run({"stop", "s-outer", "--tree", "--force"}).code(), 0);
  EXPECT_TRUE(nothing_lives());
}

TEST_F(StopTree, LeavesWhoeverStayedToTheNextStop) {
  auto session = this->session("s-deaf", {"sh", "-c",
                                          "setsid sh -c 'trap \"\" TERM; echo $$ >> " + log() +
                                              "; while :; do sleep 0.02; done' & exec sleep 600"});
  ASSERT_TRUE(await_pids(1));
  const Ran asked = run({"stop", "s-deaf", "--tree", "--after", "100", "--total", "300"});
  EXPECT_EQ(asked.code(), 1) << asked.out << asked.err;
  ASSERT_TRUE(Family::alive(pids().front()));
  EXPECT_TRUE(has_record("s-deaf"));
  const Ran forced = run({"stop", "s-deaf", "--tree", "--force"});
  EXPECT_EQ(forced.code(), 0) << forced.out << forced.err;
  EXPECT_TRUE(nothing_lives());
  EXPECT_FALSE(has_record("s-deaf"));
}

TEST_F(StopTree, RunEndsWithItsCommandAndLeavesItsOrphansAlone) {
  const Ran ran = run({"run", "--session", "s-left", "--", "sh", "-c",
                       "(setsid sh -c 'echo $$ >> " + log() +
                           "; exec sleep 600' </dev/null "
                           ">/dev/null 2>&1 &); while ! [ -s " +
                           log() +
                           " ]; do sleep 0.01; done; "
                           "exit 7"});
  EXPECT_EQ(ran.code(), 7);
  ASSERT_EQ(pids().size(), 1U);
  EXPECT_TRUE(Family::alive(pids().front()));
}

TEST_F(StopTree, RunReapsTheOrphansThatEnd) {
  auto session = this->session("s-reap", {"sh", "-c",
                                          "sh -c 'sh -c \"echo \\$\\$ >> " + log() +
                                              "; exit 0\" & exit 0'; exec sleep 600"});
  ASSERT_TRUE(await_pids(1));
  EXPECT_TRUE(wait_until([&] { return testing::state_of(pids().front()) == '\0'; }));
  EXPECT_TRUE(Family::alive(session.child.pid()));
}

void say_hold(pid_t guard, std::int64_t ms) {
  ::sigval value{};
  value.sival_int = plugin::hold_value(ms);
  ASSERT_EQ(::sigqueue(guard, SIGURG, value), 0);
}

TEST_F(StopTree, RunStaysWhileItIsHeldAndGoesWhenItIsLetGo) {
  auto session = this->session("s-hold", {"sleep", "600"});
  const pid_t guard = session.child.pid();
  const pid_t command = command_pid("s-hold");
  say_hold(guard, 3'600'000);
  ::kill(command, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(command) == '\0'; }));  // it was reaped
  EXPECT_TRUE(Family::alive(guard));
  say_hold(guard, 0);
  EXPECT_EQ(finish(std::move(session)).code(), 137);
}

TEST_F(StopTree, RunThatIsHeldForItsOrphansEndsWithTheLast) {
  auto session = this->session(
      "s-hold",
      {"sh", "-c", "setsid sh -c 'echo $$ >> " + log() + "; exec sleep 600' & exec sleep 600"});
  ASSERT_TRUE(await_pids(1));
  say_hold(session.child.pid(), plugin::kHoldForOrphans);
  say_hold(session.child.pid(), 0);  // as a stop that was refused ends
  const pid_t command = command_pid("s-hold");
  ::kill(command, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(command) == '\0'; }));
  EXPECT_TRUE(Family::alive(session.child.pid()));
  ::kill(pids().front(), SIGKILL);
  EXPECT_EQ(finish(std::move(session)).code(), 137);
}

TEST_F(StopTree, RunThatIsHeldGoesAtASignalOrWhenTheTimeIsOver) {
  auto session = this->session("s-hold", {"sleep", "600"});
  say_hold(session.child.pid(), 3'600'000);
  const pid_t command = command_pid("s-hold");
  ::kill(command, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(command) == '\0'; }));
  session.child.signal(SIGTERM);
  EXPECT_EQ(finish(std::move(session)).code(), 137);
  auto brief = this->session("s-brief", {"sleep", "600"});
  say_hold(brief.child.pid(), 50);
  ::kill(command_pid("s-brief"), SIGKILL);
  EXPECT_EQ(finish(std::move(brief)).code(), 137);
}

}  // namespace
}  // namespace rollcall::regtool
