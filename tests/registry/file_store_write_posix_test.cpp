// Writing a home on a POSIX system: modes from creation, odd files, full disks, many processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/close_on_exec_posix.hpp"
#include "registry/file_store_checks.hpp"
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

TEST(FileStoreModes, ArePrivateUnderAnyUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}, mode_t{0777}}) {
    const Home home;
    EXPECT_EQ(run_as_ordinary_user(home.dir(), [&] { return check_private_modes(home, mask); }), 0)
        << std::oct << mask;
  }
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

TEST(FileStoreLock, RefusesALockFileThatIsOdd) {
  const Home home;
  fs::create_directory(home.path());
  ASSERT_EQ(::mkfifo((home.path() / "lock").c_str(), 0600), 0);
  EXPECT_EQ(home.open()->create_if_absent("a", record_bytes("a"), {}).error().code,
            ErrorCode::kDenied);
}

TEST(FileStoreCreate, HasOneWinnerAmongFiftyProcesses) {
  const Home home;
  constexpr int kProcesses = 50;
  int gate[2];
  ASSERT_EQ(core::open_pipe(gate), 0);
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

}  // namespace
}  // namespace rollcall
