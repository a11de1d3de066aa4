// Writing a home on a POSIX system: modes from creation, odd files, full disks, many processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(FileStoreCreate, MakesMissingParentsPrivate) {
  const Home home;
  const auto store = home.open([](FileStore::Options& o) { o.home += "/b/c"; });
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(mode_of(home.path()), 0700U);
  EXPECT_EQ(mode_of(home.path() / "b"), 0700U);
  EXPECT_EQ(mode_of(home.path() / "b/c/running"), 0700U);
}

TEST(FileStoreCreate, ReplacesALinkInItsPlaceAndLeavesItsTarget) {
  const Home home;
  const auto victim = home.dir().write("victim", "untouched");
  home.plant("x.json", record_bytes("x"));
  fs::create_symlink(victim, home.record("s"));
  const auto store = home.open();
  EXPECT_EQ(store->replace_if("s", "", record_bytes("s"), {}).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(store->create_if_absent("s", record_bytes("s"), {}));
  EXPECT_EQ(slurp(home.record("s")), record_bytes("s"));
  EXPECT_FALSE(fs::is_symlink(home.record("s")));
  EXPECT_EQ(slurp(victim), "untouched");
  EXPECT_EQ(names_in(home.running()), (std::vector<std::string>{"s.json", "x.json"}));
  EXPECT_TRUE(store->write_control("x", "t0ken", true, {}));
  fs::remove(home.running() / "x.control");
  fs::create_symlink(victim, home.running() / "x.control");
  EXPECT_TRUE(store->write_control("x", "t0ken", true, {}));
  EXPECT_EQ(slurp(victim), "untouched");
  EXPECT_FALSE(fs::is_symlink(home.running() / "x.control"));
}

TEST(FileStoreCreate, KeepsAForeignWritersRecordThatTookTheLinksPlace) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  fs::create_symlink("nowhere", home.record("s"));
  const auto store = home.open([&](FileStore::Options& o) {
    o.before_step = [&](std::string_view step) {
      if (step == "rename") home.plant_over("s.json", record_bytes("s", "foreign"));
    };
  });
  EXPECT_EQ(store->create_if_absent("s", record_bytes("s"), {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(slurp(home.record("s")), record_bytes("s", "foreign"));
  EXPECT_EQ(names_in(home.running()), (std::vector<std::string>{"s.json", "x.json"}));
}

TEST(FileStoreCreate, ReplacesNoOtherOddFile) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  ASSERT_EQ(::mkfifo(home.record("f").c_str(), 0600), 0);
  fs::create_directory(home.record("d"));
  const auto store = home.open();
  EXPECT_EQ(store->create_if_absent("f", record_bytes("f"), {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(store->create_if_absent("d", record_bytes("d"), {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(names_in(home.running()).size(), 3U);
}

int check_private_modes(const Home& home, mode_t mask) {
  int failures = 0;
  ::umask(mask);
  const auto store = home.open();
  CHILD_CHECK(failures, store->create_if_absent("a", record_bytes("a"), {}));
  CHILD_CHECK(failures, store->write_control("a", "t0ken", false, {}));
  const auto stored = store->read("a", {});
  CHILD_CHECK(failures, stored && stored->problem.empty());
  if (failures > 0) return failures;
  CHILD_CHECK(failures, store->replace_if("a", stored->version, record_bytes("a", "b"), {}));
  CHILD_CHECK(failures, mode_of(home.path()) == 0700);
  CHILD_CHECK(failures, mode_of(home.running()) == 0700);
  CHILD_CHECK(failures, mode_of(home.path() / "lock") == 0600);
  CHILD_CHECK(failures, mode_of(home.record("a")) == 0600);
  CHILD_CHECK(failures, mode_of(home.running() / "a.control") == 0600);
  CHILD_CHECK(failures, store->archive_gone(*store->read("a", {}), sample_record("a"), {}, {}));
  CHILD_CHECK(failures, mode_of(home.path() / "gone") == 0700);
  CHILD_CHECK(failures, mode_of(home.path() / "gone/a.json") == 0600);
  return failures;
}

TEST(FileStoreModes, ArePrivateUnderAnyUmask) {
  for (const mode_t mask : {0U, 022U, 077U, 0777U}) {
    const Home home;
    EXPECT_EQ(run_as_ordinary_user(home.dir(), [&] { return check_private_modes(home, mask); }), 0)
        << std::oct << mask;
  }
}

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

TEST(FileStoreModes, AreTakenFromGroupAndOthersOnWriting) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  fs::permissions(home.path(), fs::perms(0755));
  fs::permissions(home.running(), fs::perms(0777));
  ASSERT_TRUE(home.open()->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(mode_of(home.path()), 0700U);
  EXPECT_EQ(mode_of(home.running()), 0700U);
}

TEST(FileStoreModes, AreNeverWidened) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  fs::permissions(home.running(), fs::perms(0500));
  static_cast<void>(home.open()->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(mode_of(home.running()), 0500U);
  fs::permissions(home.running(), fs::perms(0700));
}

TEST(FileStoreModes, AreNotTakenFromADirectoryThatEverybodyShares) {
  const Home home;
  fs::create_directory(home.path());
  fs::permissions(home.path(), fs::perms(01777));
  const auto created = home.open()->create_if_absent("a", record_bytes("a"), {});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::kDenied);
  EXPECT_EQ(mode_of(home.path()), 01777U);
}

TEST(FileStoreModes, StayAsTheyAreInADirectoryThatIsNoHome) {
  for (const char* name : {"notes.txt", "running", "sub/file"}) {  // "running": a plain file
    const Home home;
    home.dir().write(std::string("home/") + name, "x");
    fs::permissions(home.path(), fs::perms(0755));
    const auto created = home.open()->create_if_absent("a", record_bytes("a"), {});
    ASSERT_FALSE(created) << name;
    EXPECT_EQ(created.error().code, ErrorCode::kDenied);
    EXPECT_NE(created.error().message.find(home.path().string() + " as a home"), std::string::npos)
        << created.error().message;
    EXPECT_EQ(mode_of(home.path()), 0755U);
    EXPECT_EQ(names_in(home.path()).size(), 1U);
  }
}

TEST(FileStoreModes, AreTakenFromAnEmptyDirectoryAndFromAHomeWithoutRecords) {
  for (const char* name : {"", "config.json", "lock", "gone/", "pairs/"}) {
    const Home home;
    fs::create_directory(home.path());
    if (std::string_view(name).ends_with('/')) fs::create_directory(home.path() / name);
    if (std::string_view(name).find_first_of("cl") == 0) {
      home.dir().write(std::string("home/") + name, "{}");
    }
    fs::permissions(home.path(), fs::perms(0777));
    ASSERT_TRUE(home.open()->create_if_absent("a", record_bytes("a"), {})) << name;
    EXPECT_EQ(mode_of(home.path()), 0700U) << name;
  }
}

TEST(FileStoreModes, AreNotTakenWhereNoChangeCanBeMade) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  fs::permissions(home.path(), fs::perms(0755));
  fs::permissions(home.running(), fs::perms(0755));
  ASSERT_EQ(::mkfifo((home.path() / "lock").c_str(), 0600), 0);
  EXPECT_FALSE(home.open()->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(mode_of(home.path()), 0755U);
  EXPECT_EQ(mode_of(home.running()), 0755U);
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

TEST(FileStoreReadOnly, ChangesNoMode) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  fs::permissions(home.running(), fs::perms(0755));
  const auto store = home.open([](FileStore::Options& o) { o.read_only = true; });
  EXPECT_FALSE(store->create_if_absent("b", record_bytes("b"), {}));
  EXPECT_EQ(mode_of(home.running()), 0755U);
}

TEST(FileStoreReplace, KeepsTheNewestOfTwoForeignRecordsAndLosesNeither) {
  const Home home;
  const auto store = home.open([&](FileStore::Options& o) {
    o.before_step = [&](std::string_view step) {
      if (step == "swap") home.plant_over("a.json", record_bytes("a", "first"));
      if (step == "swap back") home.plant_over("a.json", record_bytes("a", "second"));
    };
  });
  home.plant("a.json", record_bytes("a"));
  const std::string version = store->read("a", {})->version;
  EXPECT_EQ(store->replace_if("a", version, record_bytes("a", "ours"), {}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "second"));
  const auto kept = names_in(home.path() / "quarantine");
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(slurp(home.path() / "quarantine" / kept[0]), record_bytes("a", "first"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
}

// With no room for another byte: errors, the earlier record whole, nothing left behind.
int check_full_disk(const Home& home, const std::string& version) {
  int failures = 0;
  const auto store = home.open();
  const std::string big = record_bytes("a", std::string(8'000, 'x'));
  const auto replaced = store->replace_if("a", version, big, {});
  CHILD_CHECK(failures, !replaced && replaced.error().code == ErrorCode::kIo);
  CHILD_CHECK(failures, !store->create_if_absent("b", big, {}));
  const auto judged = store->read("a", {});
  CHILD_CHECK(failures, judged && judged->bytes == record_bytes("a"));
  Record gone = sample_record("a");
  gone.metadata["filler"] = std::string(8'000, 'x');
  CHILD_CHECK(failures, judged && !store->archive_gone(*judged, gone, {}, {}));
  CHILD_CHECK(failures, slurp(home.record("a")) == record_bytes("a"));
  CHILD_CHECK(failures, names_in(home.running()) == std::vector<std::string>{"a.json"});
  return failures;
}

TEST(FileStoreFullDisk, KeepsTheEarlierRecordWhenFilesMayNotGrow) {
  const Home home;
  ASSERT_TRUE(home.open()->create_if_absent("a", record_bytes("a"), {}));
  const std::string version = home.open()->read("a", {})->version;
  auto child = Child::run([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    return check_full_disk(home, version);
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 0);
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

TEST(FileStoreLock, RefusesALockFileThatIsOdd) {
  const Home home;
  fs::create_directory(home.path());
  ASSERT_EQ(::mkfifo((home.path() / "lock").c_str(), 0600), 0);
  EXPECT_EQ(home.open()->create_if_absent("a", record_bytes("a"), {}).error().code,
            ErrorCode::kDenied);
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

TEST(FileStoreCreate, HasOneWinnerAmongFiftyProcesses) {
  const Home home;
  constexpr int kProcesses = 50;
  int gate[2];
  ASSERT_EQ(::pipe2(gate, O_CLOEXEC), 0);
  std::vector<Child> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(Child::run([&, i] {
      ::close(gate[1]);
      char byte = 0;
      static_cast<void>(::read(gate[0], &byte, 1));  // ends when all are there
      const auto store = home.open();
      const auto created =
          store->create_if_absent("one", record_bytes("one", "writer-" + std::to_string(i)), {});
      if (created) return 0;
      return created.error().code == ErrorCode::kExists ? 1 : 2;
    }));
  }
  ::close(gate[0]);
  ::close(gate[1]);
  std::vector<int> winners;
  for (int i = 0; i < kProcesses; ++i) {
    const auto status = children[static_cast<std::size_t>(i)].wait(60s);
    ASSERT_TRUE(status && WIFEXITED(*status));
    ASSERT_NE(WEXITSTATUS(*status), 2);
    if (WEXITSTATUS(*status) == 0) winners.push_back(i);
  }
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(slurp(home.record("one")), record_bytes("one", "writer-" + std::to_string(winners[0])));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"one.json"});
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
