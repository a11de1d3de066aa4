// Reading a home on Linux: a folder that fails halfway, and file systems.
#include <gtest/gtest.h>

#include <string>

#include "registry/posix_fixture.hpp"
#include "support/seccomp_linux.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST(FileStoreList, CallsAReadingThatFailsHalfwayAnError) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  auto child = Child::run([&] {
    int failures = 0;
    if (!deny_system_calls({SYS_getdents64}, EIO)) return 77;
    const auto records = home.open()->list({});
    CHILD_CHECK(failures, !records && records.error().os_code == EIO);
    CHILD_CHECK(failures, !records && records.error().message.find(home.running().string()) !=
                                          std::string::npos);
    return failures;
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST(FileStoreHomeKind, CountsAnUnknownFileSystemAsShared) {
  const auto store = FileStore::open({.home = "/proc/self", .clock = system_clock()}).value();
  EXPECT_EQ(store->home_kind(), HomeKind::kShared);
}

TEST(FileStoreHomeKind, KnowsMemoryFileSystemsAsLocal) {
  if (mode_of("/dev/shm") == 0) GTEST_SKIP() << "no /dev/shm here";
  const auto store = FileStore::open({.home = "/dev/shm/none", .clock = system_clock()}).value();
  EXPECT_EQ(store->home_kind(), HomeKind::kLocal);
}

}  // namespace
}  // namespace rollcall
