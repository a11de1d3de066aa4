// regtool pairs on real files and processes.
#include <gtest/gtest.h>

#include <filesystem>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;
using testing::slurp;
using testing::start_token_of;

class PairsCommand : public RegtoolTest {
 protected:
  void put_pair(const std::string& id, const std::string& rest) const {
    dir_.write("home/pairs/pair." + id + ".json", R"({"pair_id":")" + id + "\"" + rest + "}");
  }
  [[nodiscard]] std::string sentinel_of(pid_t pid) const {
    return std::to_string(pid) + ":" + boot_id() + ":" + start_token_of(pid);
  }
  [[nodiscard]] fs::path controller_file() const { return dir_ / "home/pairs/pair.a.claude-pid"; }
};

TEST_F(PairsCommand, ListsPairsAndShowsOne) {
  Child tui = Child::sleeper();
  put_pair("a", R"(,"tab":"t","generation":3,"controller":"c")");
  dir_.write("home/pairs/pair.a.g3.tui-pid", sentinel_of(tui.pid()));
  dir_.write("home/pairs/pair.a.claude-exited", "0");
  const Ran listed = run({"pairs", "ls", "--json"});
  EXPECT_EQ(listed.code(), 0) << listed.err;
  const auto list = parse_json(listed.out);
  EXPECT_EQ(string_at(list, "schema"), "rollcall.pairs/1");
  EXPECT_EQ(string_at(list, "pairs.0.terminal.state"), "alive");
  EXPECT_EQ(number_at(list, "pairs.0.terminal.pid"), tui.pid());
  EXPECT_EQ(number_at(list, "pairs.0.terminal.generation"), 3);
  EXPECT_EQ(string_at(list, "pairs.0.controller.state"), "dead");
  tui.signal(SIGKILL);
  ASSERT_TRUE(tui.wait());
  const Ran shown = run({"pairs", "show", "a", "--json"});
  EXPECT_EQ(shown.code(), 0) << shown.err;
  const auto pair = parse_json(shown.out);
  EXPECT_EQ(string_at(pair, "schema"), "rollcall.pair/1");
  EXPECT_EQ(string_at(pair, "terminal.state"), "dead");
  const Ran text = run({"pairs", "show", "a"});
  expect_clean(text.out);
  EXPECT_NE(text.out.find("no process holds pid"), std::string::npos) << text.out;
}

TEST_F(PairsCommand, SaysThatThereIsNoneAndMakesNothing) {
  const Ran none = run({"pairs", "show", "a", "--json"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "pair_not_found");
  EXPECT_EQ(run({"pairs", "ls"}).out, "no pairs\n");
  EXPECT_EQ(run({"pairs", "rebind", "a"}).code(), 1);
  EXPECT_FALSE(fs::exists(dir_ / "home"));
}

TEST_F(PairsCommand, BindsWhoeverStartedItOrTheProcessThatIsNamed) {
  put_pair("a", R"(,"controller":"c")");
  dir_.write("home/pairs/pair.a.claude-exited", "0");
  environment_["ROLLCALL_PAIR"] = "a";
  const Ran ours = run({"pairs", "rebind", "--json"});
  EXPECT_EQ(ours.code(), 0) << ours.err;
  EXPECT_EQ(number_at(parse_json(ours.out), "pid"), ::getpid());
  EXPECT_EQ(slurp(controller_file()), sentinel_of(::getpid()) + "\n");
  EXPECT_FALSE(fs::exists(dir_ / "home/pairs/pair.a.claude-exited"));

  Child other = Child::sleeper();
  const Ran again = run({"pairs", "rebind", "--parent", std::to_string(other.pid()), "--json"});
  EXPECT_EQ(again.code(), 1);
  EXPECT_EQ(string_at(parse_json(again.out), "outcome"), "controller_alive");
  EXPECT_EQ(slurp(controller_file()), sentinel_of(::getpid()) + "\n");

  dir_.write("home/pairs/pair.a.claude-pid", std::to_string(other.pid()) + ":" + boot_id() + ":1");
  EXPECT_EQ(run({"pairs", "rebind", "--parent", std::to_string(other.pid())}).code(), 0);
  EXPECT_EQ(slurp(controller_file()), sentinel_of(other.pid()) + "\n");
}

TEST_F(PairsCommand, RefusesToBindInitOrWhatIsGone) {
  put_pair("a", R"(,"controller":"c")");
  EXPECT_EQ(run({"pairs", "rebind", "a", "--parent", "1"}).code(), 4);
  const pid_t gone = testing::free_pid();
  EXPECT_EQ(run({"pairs", "rebind", "a", "--parent", std::to_string(gone)}).code(), 4);
  EXPECT_FALSE(fs::exists(controller_file()));
}

}  // namespace
}  // namespace rollcall::regtool
