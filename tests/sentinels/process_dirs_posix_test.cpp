// Sweeping folders of processes: links, and what is nested deep.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sentinels/process_dirs_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(ProcessDirs, AreNeverRemovedThroughALink) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  dir.write("victim/precious", "x");
  const std::string dead = std::to_string(free_pid());
  const auto gone = make(dead + "-77");
  fs::create_directory_symlink(dir / "victim", work + "/" + gone + "/inner/link");
  fs::create_directory_symlink(dir / "victim", work + "/" + dead + "-78");
  dir.write("work/" + dead + "-79", "a file");
  const auto result = sweep();
  EXPECT_EQ(names(result.removed), std::vector<std::string>{gone});
  EXPECT_EQ(names(result.kept), (std::vector<std::string>{dead + "-78", dead + "-79"}));
  EXPECT_EQ(slurp(dir / "victim" / "precious"), "x");
  EXPECT_TRUE(fs::is_symlink(work + "/" + dead + "-78"));
}

TEST_F(ProcessDirs, BehindALinkAreRefusedWhateverIsBehindItsName) {
  make(std::to_string(free_pid()) + "-77");
  fs::create_directory_symlink(work, dir / "link");
  for (const char* tail : {"", "/", "/.", "//"}) {
    const auto result = sweep_process_dirs((dir / "link").string() + tail, {}, *rig.probe, {});
    ASSERT_FALSE(result) << tail;
    EXPECT_EQ(result.error().code, ErrorCode::kDenied);
  }
  EXPECT_EQ(names_in(work).size(), 1U);
}

TEST_F(ProcessDirs, NestedDeeperThanTheBoundAreKeptWhole) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const auto gone = make(std::to_string(free_pid()) + "-77");
  std::string deep = work + "/" + gone;
  for (int i = 0; i < 300; ++i) deep += "/d";
  fs::create_directories(deep);
  const auto result = sweep();
  EXPECT_TRUE(result.removed.empty());
  EXPECT_TRUE(fs::exists(work + "/" + gone + "/inner/file"));
}

}  // namespace
}  // namespace rollcall
