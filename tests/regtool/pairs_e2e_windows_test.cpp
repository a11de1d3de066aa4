// regtool pairs and the stores of other programs, on real files and processes of Windows.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "regtool/regtool_windows_fixture.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;
using testing::slurp;

class PairsCommand : public RegtoolTest {
 protected:
  void put_pair(const std::string& id, const std::string& rest) const {
    dir_.write("home/pairs/pair." + id + ".json", R"({"pair_id":")" + id + "\"" + rest + "}");
  }
  // As `sentinel write` has it.
  [[nodiscard]] std::string sentinel_of(const Child& child) const {
    const std::string file = testing::utf8(dir_ / "sentinel");
    const Ran ran =
        run({"sentinel", "write", "--replace", "--pid", std::to_string(child.pid()), file});
    EXPECT_EQ(ran.code, 0U) << ran.err;
    return slurp(file);
  }
};

TEST_F(PairsCommand, ListsPairsAndShowsOne) {
  Child tui = Child::sleeper();
  put_pair("a", R"(,"tab":"t","generation":3,"controller":"c")");
  dir_.write("home/pairs/pair.a.g3.tui-pid", sentinel_of(tui));
  dir_.write("home/pairs/pair.a.claude-exited", "0");
  const Ran listed = run({"pairs", "ls", "--json"});
  EXPECT_EQ(listed.code, 0U) << listed.err;
  const auto list = parse_json(listed.out);
  EXPECT_EQ(string_at(list, "pairs.0.terminal.state"), "alive") << listed.out;
  EXPECT_EQ(number_at(list, "pairs.0.terminal.pid"), tui.pid());
  EXPECT_EQ(string_at(list, "pairs.0.controller.state"), "dead");
  tui.kill(STILL_ACTIVE);
  ASSERT_TRUE(tui.wait());
  const Ran shown = run({"pairs", "show", "a", "--json"});
  EXPECT_EQ(shown.code, 0U) << shown.err;
  EXPECT_EQ(string_at(parse_json(shown.out), "terminal.state"), "dead") << shown.out;
}

TEST_F(PairsCommand, BindsTheProcessThatIsNamedInPlaceOfADeadOneOnly) {
  put_pair("a", R"(,"controller":"c")");
  Child first = Child::sleeper();
  Child second = Child::sleeper();
  const auto rebind = [&](const Child& child) {
    return run({"pairs", "rebind", "a", "--parent", std::to_string(child.pid()), "--json"});
  };
  const Ran bound = rebind(first);
  EXPECT_EQ(bound.code, 0U) << bound.err;
  EXPECT_EQ(number_at(parse_json(bound.out), "pid"), first.pid());
  const std::string sentinel = slurp(dir_ / "home/pairs/pair.a.claude-pid");
  EXPECT_EQ(sentinel, sentinel_of(first));
  const Ran refused = rebind(second);
  EXPECT_EQ(refused.code, 1U);
  EXPECT_EQ(string_at(parse_json(refused.out), "outcome"), "controller_alive");
  EXPECT_EQ(slurp(dir_ / "home/pairs/pair.a.claude-pid"), sentinel);
  first.kill();
  ASSERT_TRUE(first.wait());
  EXPECT_EQ(rebind(second).code, 0U);
  EXPECT_EQ(slurp(dir_ / "home/pairs/pair.a.claude-pid"), sentinel_of(second));
}

class StoresOfOthers : public RegtoolTest {
 protected:
  StoresOfOthers() {
    set("USERPROFILE", testing::utf8(dir_.path()));
    for (const char* name : {"CLAUDE_CONFIG_DIR", "SUPERCODE_HOME"}) set(name, std::nullopt);
    fs::copy_file(Child::actor(), dir_ / "claude.exe");
  }
  ~StoresOfOthers() override {
    claude_ = Child();  // its program cannot be removed before
  }

  void put_murmur(const std::string& id, std::int64_t pid, const std::string& token) const {
    dir_.write(".murmur/running/" + id + ".json",
               R"({"session_id":")" + id + R"(","url":null,"pid":)" + std::to_string(pid) +
                   R"(,"process_start":")" + token +
                   R"(","capsule_name":"agent","capsule_version":"2","workdir":"/",)" +
                   R"("outlives_launcher":false,"started_at":"2026-01-01T00:00:00Z"})");
  }
  void put_row(const std::string& id, std::int64_t pid) const {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    dir_.write(".claude/sessions/" + std::to_string(pid) + ".json",
               R"({"pid":)" + std::to_string(pid) + R"(,"sessionId":")" + id + R"(","startedAt":)" +
                   std::to_string(now.count()) + R"(,"cwd":"/"})");
  }
  // "store/session" and its status.
  [[nodiscard]] std::map<std::string, std::string> read_all() const {
    const Ran ran = run({"ps", "--store", "all", "--no-prune", "--json"});
    EXPECT_EQ(ran.code, 0U) << ran.err;
    const auto document = parse_json(ran.out);
    std::map<std::string, std::string> found;
    for (const auto& row : at(document, "sessions").GetArray()) {
      found[string_at(row, "store") + "/" + string_at(row, "session_id")] =
          string_at(row, "status") + (at(row, "guarded_by_time").IsTrue() ? ", by time" : "");
    }
    return found;
  }

  Child murmur_ = Child::sleeper();
  Child claude_;
};

TEST_F(StoresOfOthers, AreToldApartLiveAndDeadInOneList) {
  claude_ = Child::exec(testing::utf8(dir_ / "claude.exe"), {"claude", "sleep"});
  put_murmur("murmur-live", murmur_.pid(), murmur_.start_token());
  put_murmur("murmur-dead", murmur_.pid(), "1");
  put_row("claude-live", claude_.pid());
  auto found = read_all();
  EXPECT_EQ(found["murmur/murmur-live"], "live");
  EXPECT_EQ(found["murmur/murmur-dead"], "gone");
  EXPECT_EQ(found["claude/claude-live"], "live, by time");
}

TEST_F(StoresOfOthers, GuardedByTimeAreSignalledOnlyWhereThatIsAccepted) {
  claude_ = Child::exec(testing::utf8(dir_ / "claude.exe"), {"claude", "sleep"});
  put_row("claude-live", claude_.pid());
  EXPECT_EQ(run({"kill", "claude-live", "--store", "claude"}).code, 4U);
  EXPECT_TRUE(claude_.alive());
  EXPECT_EQ(run({"kill", "claude-live", "--store", "claude", "--accept-time-guard"}).code, 0U);
  EXPECT_TRUE(claude_.wait());
  put_row("stranger", murmur_.pid());
  EXPECT_EQ(run({"kill", "stranger", "--store", "claude", "--accept-time-guard"}).code, 4U);
  EXPECT_TRUE(murmur_.alive());
}

}  // namespace
}  // namespace rollcall::regtool
