// Sweeping folders of processes in which something is mounted.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <string>

#include "sentinels/process_dirs_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

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

}  // namespace
}  // namespace rollcall
