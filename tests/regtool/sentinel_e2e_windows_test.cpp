// receipts, sentinel and sweep on real processes of Windows.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "regtool/regtool_windows_fixture.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;

class SentinelCommand : public RegtoolTest {
 protected:
  [[nodiscard]] std::uint32_t check() const { return run({"sentinel", "check", file_}).code; }
  std::string file_ = testing::utf8(dir_ / "web.pid");
};

TEST_F(SentinelCommand, ChecksWithTheStatusCodesOfAnInitScript) {
  EXPECT_EQ(check(), 3U);
  Child child = Child::sleeper();
  const Ran wrote = run({"sentinel", "write", "--pid", std::to_string(child.pid()), file_});
  ASSERT_EQ(wrote.code, 0U) << wrote.err;
  EXPECT_EQ(check(), 0U);
  EXPECT_EQ(run({"sentinel", "write", file_}).code, 4U) << "not in place of one that runs";
  child.kill();
  EXPECT_TRUE(wait_until([&] { return check() == 1; }));
  dir_.write("web.pid", "nonsense");
  EXPECT_EQ(check(), 4U);
}

TEST_F(SentinelCommand, RunNamesTheCommandAndEndsAsItDoes) {
  const Ran ran = run({"sentinel", "run", file_, "--", Child::actor(), "exit", "259"});
  EXPECT_EQ(ran.code, 259U) << ran.err;
  EXPECT_EQ(check(), 1U);
  Started started = start({"sentinel", "run", file_, "--", Child::actor(), "sleep"});
  EXPECT_TRUE(wait_until([&] { return check() == 0; }));
  const std::string bytes = testing::slurp(file_);
  EXPECT_NE(std::stoll(bytes), started.child.pid()) << "the command, not regtool";
  EXPECT_EQ(run({"sentinel", "run", file_, "--", Child::actor(), "exit", "0"}).code, 125U);
}

TEST_F(SentinelCommand, HasOneWinnerOfManyStarters) {
  Child gone = Child::sleeper();
  ASSERT_EQ(run({"sentinel", "write", "--pid", std::to_string(gone.pid()), file_}).code, 0U);
  gone.kill();
  ASSERT_TRUE(wait_until([&] { return check() == 1; }));
  std::vector<Child> children;
  std::vector<Started> starters;
  for (int i = 0; i < 8; ++i) {
    children.push_back(Child::sleeper());
    starters.push_back(
        start({"sentinel", "write", "--pid", std::to_string(children.back().pid()), file_}));
  }
  int winners = 0;
  for (Started& starter : starters) {
    const Ran ran = finish(std::move(starter));
    if (ran.code == 0U) ++winners;
    EXPECT_TRUE(ran.code == 0U || ran.code == 4U) << ran.code << ran.err;
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(check(), 0U);
}

TEST_F(SentinelCommand, SweepsFoldersOnProofOnly) {
  Child child = Child::sleeper();
  Child gone = Child::sleeper();
  const std::string dead = std::to_string(gone.pid()) + "-77";
  gone.kill();
  dir_.write("work/" + dead + "/inner/file", "x");
  dir_.write("work/" + std::to_string(child.pid()) + "-0/file", "x");
  dir_.write("work/notes/file", "x");
  const Ran swept = run({"sweep", testing::utf8(dir_ / "work"), "--json"});
  const auto json = parse_json(swept.out);
  if (string_at(json, "kept.0.code") == "foreign-view") GTEST_SKIP() << "the disk counts as shared";
  EXPECT_EQ(string_at(json, "removed.0.name"), dead) << swept.out;
  EXPECT_FALSE(fs::exists(dir_ / ("work/" + dead)));
  EXPECT_TRUE(fs::exists(dir_ / "work/notes/file"));
  EXPECT_EQ(number_at(json, "kept.0.pid"), static_cast<std::int64_t>(child.pid()));
}

TEST_F(SentinelCommand, ReceiptsGiveTheTokenIntoAFileOnly) {
  Child child = Child::sleeper();
  const Ran added = run({"receipts", "register", "--runtime", "rt_1", "--pid",
                         std::to_string(child.pid()), "--base-url", "http://127.0.0.1:4096",
                         "--harness", "acp", "--session", "s1", "--token-file", "-"},
                        "tok-Very-Secret\r\n");
  ASSERT_EQ(added.code, 0U) << added.err;
  const std::string endpoint = added.out.substr(0, added.out.find_first_of("\r\n"));
  EXPECT_EQ(run({"receipts", "find", "rt_1"}).code, 0U);
  const std::string file = testing::utf8(dir_ / "token");
  const Ran resolved = run({"receipts", "resolve", endpoint, "--harness", "acp", "--session", "s1",
                            "--token-file", file});
  EXPECT_EQ(resolved.code, 0U) << resolved.err;
  EXPECT_EQ(resolved.out.find("Very-Secret"), std::string::npos);
  EXPECT_EQ(testing::slurp(file), "tok-Very-Secret");
  child.kill();
  EXPECT_TRUE(wait_until([&] { return run({"receipts", "find", "rt_1"}).code == 1; }));
}

}  // namespace
}  // namespace rollcall::regtool
