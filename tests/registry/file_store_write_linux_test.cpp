// Writing a home on Linux: system calls that fail, file systems of the kernel's, and full ones.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "registry/file_store_checks.hpp"
#include "registry/posix_fixture.hpp"
#include "support/seccomp_linux.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(FileStoreModes, ArePrivateFromCreationWithoutAnyChmod) {
  const Home home;
  auto child = Child::run([&] {
    if (!deny_system_calls({SYS_fchmod, SYS_fchmodat,
#ifdef SYS_chmod
                            SYS_chmod,
#endif
                            452 /* fchmodat2 */},
                           EPERM)) {
      return 77;
    }
    return check_private_modes(home, 0);
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST(FileStoreModes, AreNotTakenFromTheKernelsOwnDirectories) {
  // Refused by what they are as their owner, and by their owner else: never by an attempt.
  for (const char* path : {"/proc", "/sys", "/proc/self"}) {
    const auto before = mode_of(path);
    const Home home;
    const auto store = home.open([&](FileStore::Options& o) {
      o.home = path;
      o.lock_timeout_ms = 0;
    });
    const auto created = store->create_if_absent("a", record_bytes("a"), {});
    ASSERT_FALSE(created) << path;
    EXPECT_EQ(created.error().code, ErrorCode::kDenied) << created.error().message;
    EXPECT_EQ(mode_of(path), before) << path;
  }
}

TEST(FileStoreFullDisk, KeepsTheEarlierRecordOnATinyFullFileSystem) {
  const Home home;
  fs::create_directory(home.path());
  auto child = Child::run([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", home.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
      return 77;
    }
    int failures = 0;
    CHILD_CHECK(failures, home.open()->create_if_absent("a", record_bytes("a"), {}));
    const auto stored = home.open()->read("a", {});
    CHILD_CHECK(failures, stored);
    if (failures > 0) return failures;
    std::ofstream filler(home.path() / "filler");
    while (filler.put('x').flush()) {
    }
    return check_full_disk(home, stored->version);
  });
  const auto status = child.wait(60s);
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "mounting in a namespace of our own needs root";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST(FileStoreWithoutSpecialRenames, KeepsEveryRule) {
  const Home home;
  auto child = Child::run([&] {
    if (!deny_special_renames()) return 77;
    int failures = 0;
    const auto store = home.open();
    CHILD_CHECK(failures, store->create_if_absent("a", record_bytes("a"), {}));
    const auto again = store->create_if_absent("a", record_bytes("a"), {});
    CHILD_CHECK(failures, !again && again.error().code == ErrorCode::kExists);
    const auto first = store->read("a", {});
    CHILD_CHECK(failures,
                first && store->replace_if("a", first->version, record_bytes("a", "b"), {}));
    CHILD_CHECK(failures, slurp(home.record("a")) == record_bytes("a", "b"));
    CHILD_CHECK(failures, first && !store->replace_if("a", first->version, record_bytes("a"), {}));
    CHILD_CHECK(failures, first && !store->remove_if("a", first->version, {}));
    CHILD_CHECK(failures, names_in(home.running()) == std::vector<std::string>{"a.json"});
    const auto racing = home.open([&](FileStore::Options& o) {
      o.before_step = [&](std::string_view step) {
        if (step == "take aside") home.plant_over("a.json", record_bytes("a", "successor"));
      };
    });
    const auto judged = store->read("a", {});
    CHILD_CHECK(failures, judged && !racing->remove_if("a", judged->version, {}));
    CHILD_CHECK(failures, slurp(home.record("a")) == record_bytes("a", "successor"));
    CHILD_CHECK(failures, names_in(home.running()) == std::vector<std::string>{"a.json"});
    const auto last = store->read("a", {});
    CHILD_CHECK(failures, last && store->archive_gone(*last, sample_record("a"), {}, {}));
    CHILD_CHECK(failures, store->undo_gone("a", {}));
    CHILD_CHECK(failures, names_in(home.running()) == std::vector<std::string>{"a.json"});
    return failures;
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST(FileStoreCreate, LeavesNoDescriptorToAProgramThatIsExecuted) {
  const Home home;
  const std::size_t before = open_descriptors();
  const auto store = home.open([&](FileStore::Options& o) {
    // In the middle of a change: the lock, the directories and all are open.
    o.before_step = [&](std::string_view) {
      auto child = Child::exec({"ls", "-l", "/proc/self/fd"});
      EXPECT_GT(open_descriptors(), before);
      const auto status = child.wait();
      EXPECT_TRUE(status && *status == 0);
    };
  });
  ::testing::internal::CaptureStdout();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const std::string shown = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(shown.find("fd"), std::string::npos);
  EXPECT_EQ(shown.find(home.dir().path().string()), std::string::npos) << shown;
}

}  // namespace
}  // namespace rollcall
