// Sweeping folders of processes: links, mounts, and what is nested deep.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"
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

TEST_F(ProcessDirs, WithAMountInThemAreKeptWhole) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const auto gone = make(std::to_string(free_pid()) + "-77");
  dir.write("victim/precious", "x");
  const std::string point = work + "/" + gone + "/inner/mounted";
  fs::create_directory(point);
  Child child = Child::run([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount((dir / "victim").c_str(), point.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return 77;
    }
    const auto result = sweep();
    int failures = 0;
    CHILD_CHECK(failures, result.removed.empty());
    CHILD_CHECK(failures, result.kept.size() == 1);
    CHILD_CHECK(failures, fs::exists(work + "/" + gone + "/inner/file"));
    return failures;
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  EXPECT_EQ(slurp(dir / "victim" / "precious"), "x");
}

TEST_F(ProcessDirs, WithAFileThatIsAMountInThemAreKeptWhole) {
  if (is_shared()) GTEST_SKIP() << "TMPDIR is on a shared file system";
  const auto gone = make(std::to_string(free_pid()) + "-77");
  dir.write("precious", "x");
  dir.write("work/" + gone + "/inner/mounted", "");
  Child child = Child::run([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount((dir / "precious").c_str(), (work + "/" + gone + "/inner/mounted").c_str(), nullptr,
                MS_BIND, nullptr) != 0) {
      return 77;
    }
    const auto result = sweep();
    int failures = 0;
    CHILD_CHECK(failures, result.removed.empty());
    CHILD_CHECK(failures, result.kept.size() == 1);
    // Under the name that it has, and not the one that it had meanwhile.
    CHILD_CHECK(failures,
                result.kept.at(0).reason.find(gone + "/inner/mounted") != std::string::npos);
    CHILD_CHECK(failures, result.kept.at(0).reason.find(".swept~") == std::string::npos);
    CHILD_CHECK(failures, fs::exists(work + "/" + gone + "/inner/file"));
    return failures;
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  EXPECT_EQ(slurp(dir / "precious"), "x");
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
