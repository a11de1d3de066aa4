// Sweeping folders of processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sentinels/process_dirs_fixture.hpp"
#include "support/fakes.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test
TEST(ProcessDirName, SplitsAtTheFirstDash) {
  const auto own = parse_process_dir("4242-78475@6f1b0c3d-aaaa-bbbb-cccc-000000000000");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->pid, 4242);
  EXPECT_EQ(own->start_token, "78475");
  EXPECT_EQ(own->boot_id, "6f1b0c3d-aaaa-bbbb-cccc-000000000000");
  const auto foreign = parse_process_dir("4242-1700000000.000123");
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->start_token, "1700000000.000123");
  EXPECT_EQ(foreign->boot_id, std::nullopt);
}

TEST(ProcessDirName, WithAStartOfZeroNamesNoStart) {
  EXPECT_EQ(parse_process_dir("4242-0")->start_token, "");
  EXPECT_EQ(parse_process_dir("4242-0@b")->start_token, "");
}

TEST(ProcessDirName, OfAnotherShapeIsNone) {
  for (const char* name : {"",
                           "-",
                           "4242",
                           "4242-",
                           "-5",
                           "0-5",
                           "007-5",
                           "+5-5",
                           "-5-5",
                           " 5-5",
                           "5 -5",
                           "4242-05",
                           "4242-5 ",
                           "4242-x",
                           "4242-5x",
                           "4242--5",
                           "4242-5@",
                           "4242-5@a/b",
                           "4242-5@a@b",
                           "4242-5.1",
                           "4242-5.1234567",
                           "4242-.123456",
                           "2147483648-5",
                           "99999999999999999999-5",
                           "2026-01-15",
                           "notes-5",
                           "4242_5",
                           ".4242-5",
                           "4242-5.tmp",
                           "..",
                           "."}) {
    EXPECT_FALSE(parse_process_dir(name)) << name;
  }
}

TEST(ProcessDirName, IsReadBackAsItWasWritten) {
  const ProcessIdentity identity{.pid = 7, .start_token = "78475", .boot_id = "6f1b-0"};
  EXPECT_EQ(format_process_dir(identity).value(), "7-78475@6f1b-0");
  EXPECT_FALSE(format_process_dir({.pid = 7, .start_token = "78475"}));
  EXPECT_FALSE(format_process_dir({.pid = 7, .start_token = "", .boot_id = "b"}));
  EXPECT_FALSE(format_process_dir({.pid = 7, .start_token = "0", .boot_id = "b"}));
  EXPECT_FALSE(format_process_dir({.pid = 7, .start_token = "5", .boot_id = "a/b"}));
}

TEST_F(ProcessDirs, OfGoneProcessesAreRemovedAndOthersKept) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const std::string pid = std::to_string(here.pid);
  const std::string dead = std::to_string(free_pid());
  const auto alive = make(format_process_dir(here).value());
  const auto foreign_alive = make(pid + "-" + here.start_token);
  const auto gone = make(dead + "-77@" + *here.boot_id);
  const auto foreign_gone = make(dead + "-78");
  const auto reused = make(pid + "-1");
  const auto other_boot = make(pid + "-" + here.start_token + "@86400");
  const auto result = sweep();
  auto removed = names(result.removed);
  std::vector<std::string> wanted = {gone, foreign_gone, reused, other_boot};
  std::sort(wanted.begin(), wanted.end());
  std::sort(removed.begin(), removed.end());
  EXPECT_EQ(removed, wanted);
  EXPECT_TRUE(has(alive));
  EXPECT_TRUE(has(foreign_alive));
  EXPECT_EQ(names_in(work).size(), 2U) << "nothing else is left";
}

TEST_F(ProcessDirs, WithAStartOfZeroGoOnlyWhereNobodyHoldsThePid) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const auto held = make(std::to_string(here.pid) + "-0");
  const auto gone = make(std::to_string(free_pid()) + "-0");
  const auto result = sweep();
  EXPECT_EQ(names(result.removed), std::vector<std::string>{gone});
  EXPECT_EQ(names(result.kept), std::vector<std::string>{held});
  EXPECT_NE(result.kept[0].reason, "");
  EXPECT_TRUE(has(held));
}

TEST_F(ProcessDirs, OfAnotherShapeAreLeftAlone) {
  for (const char* name : {"2026-01-15", "notes", "4242", "x-1", ".hidden-1", "12-3.tmp"})
    make(name);
  const auto result = sweep();
  EXPECT_TRUE(result.removed.empty());
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(names_in(work).size(), 6U);
}

TEST_F(ProcessDirs, ADryRunRemovesNothing) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const auto gone = make(std::to_string(free_pid()) + "-77");
  EXPECT_EQ(names(sweep(true).removed), std::vector<std::string>{gone});
  EXPECT_TRUE(has(gone));
}

TEST_F(ProcessDirs, OfAMissingFolderAreNone) {
  const auto result = sweep();
  EXPECT_TRUE(result.removed.empty());
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(ProcessDirs, ThatCannotBeToldAreKeptWithTheReason) {
  test::FakeProbe probe;
  probe.answer(4242, {test::unreadable(4242, "no permission")});
  make("4242-77");
  const auto result = sweep_process_dirs(work, {}, probe, {}).value();
  ASSERT_EQ(result.kept.size(), 1U);
  EXPECT_EQ(result.kept[0].reason, "no permission");
  EXPECT_TRUE(has("4242-77"));
}

TEST_F(ProcessDirs, WhoseProcessAppearsMeanwhileStay) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  test::FakeProbe probe;
  probe.answer(4242, {test::absent(4242), test::present(4242, "77")});
  make("4242-0");
  const auto result = sweep_process_dirs(work, {}, probe, {}).value();
  EXPECT_TRUE(result.removed.empty());
  EXPECT_EQ(names(result.kept), std::vector<std::string>{"4242-0"});
  EXPECT_EQ(names_in(work), std::vector<std::string>{"4242-0"}) << "put back under its name";
}

TEST_F(ProcessDirs, ThatAKilledSweepHadTakenAsideAreJudgedAgain) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const std::string gone = std::to_string(free_pid()) + "-77";
  make(".swept~" + gone + "~0011223344556677");
  const std::string alive = format_process_dir(here).value();
  make(".swept~" + alive + "~0011223344556677");
  const auto result = sweep();
  EXPECT_EQ(names(result.removed), std::vector<std::string>{gone});
  EXPECT_EQ(names(result.kept), std::vector<std::string>{alive});
  EXPECT_EQ(names_in(work).size(), 1U);
}

}  // namespace
}  // namespace rollcall
