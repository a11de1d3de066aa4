// Reading a home: what is listed, what is reported, and that nothing is touched.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(FileStoreOpen, WantsAnAbsoluteHome) {
  for (const char* home : {"", "relative", "./x", "/", "//", "/."}) {
    EXPECT_FALSE(FileStore::open({.home = home, .clock = system_clock()})) << home;
  }
  EXPECT_FALSE(FileStore::open({.home = "/tmp/x"}));
}

TEST(FileStoreList, TakesAMissingHomeForAnEmptyOneAndMakesNothing) {
  const Home home;
  const auto store = home.open();
  const auto records = store->list({});
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_TRUE(records->empty());
  EXPECT_EQ(store->read("a", {}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store->list_gone({})->empty());
  EXPECT_TRUE(store->list_orphan_controls({})->empty());
  EXPECT_FALSE(store->read_control("a", {})->has_value());
  EXPECT_FALSE(fs::exists(home.path()));
}

TEST(FileStoreList, ChangesNoModeAndNoFile) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  fs::permissions(home.running(), fs::perms(0755));
  fs::permissions(home.path(), fs::perms(0755));
  ASSERT_EQ(home.open()->list({})->size(), 1U);
  EXPECT_EQ(mode_of(home.running()), 0755U);
  EXPECT_EQ(mode_of(home.path()), 0755U);
  EXPECT_EQ(names_in(home.path()), std::vector<std::string>{"running"});
}

TEST(FileStoreList, ListsNewestFirstInByteOrder) {
  const Home home;
  for (const char* id : {"b", "a10", "a2", "Z", "ses_2", "ses_10"}) {
    home.plant(std::string(id) + ".json", record_bytes(id));
  }
  EXPECT_EQ(names_of(*home.open()->list({})),
            (std::vector<std::string>{"ses_2", "ses_10", "b", "a2", "a10", "Z"}));
}

TEST(FileStoreList, IgnoresEveryOtherName) {
  const Home home;
  for (const char* name :
       {".s.1234.tmp", "s.json.tmp", "s.json~", "s.control", ".json", "a b.json", "x.json.json",
        "s.JSON", "-x.json", ".x.json", "con.json", "s.json.bak", ".w~0~1~2~~~~~.tmp"}) {
    home.plant(name, record_bytes("s"));
  }
  home.plant("good.json", record_bytes("good"));
  EXPECT_EQ(names_of(*home.open()->list({})), std::vector<std::string>{"good"});
}

TEST(FileStoreList, HandsOverTornFilesAndDeletesNone) {
  const Home home;
  home.plant("a.json", "");
  home.plant("b.json", std::string(4096, '\0'));
  home.plant("c.json", record_bytes("c").substr(0, 100));
  home.plant("d.json", record_bytes("d"));
  const auto records = home.open()->list({});
  ASSERT_TRUE(records);
  int good = 0;
  for (const auto& record : *records) {
    EXPECT_TRUE(record.problem.empty());
    const auto parsed = parse_record(record.bytes, record.name);
    good += parsed ? 1 : 0;
    if (!parsed) {
      EXPECT_EQ(parsed.error().problem, RecordProblem::kTorn);
    }
  }
  EXPECT_EQ(records->size(), 4U);
  EXPECT_EQ(good, 1);
  EXPECT_EQ(names_in(home.running()).size(), 4U);
}

// Asks for each odd entry in turn, by list() and by read().
void expect_reported(const Home& home, std::string_view id, std::string_view what) {
  const auto store = home.open();
  const auto records = store->list({});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(names_of(*records), (std::vector<std::string>{"zz-good", std::string(id)}));
  const auto alone = store->read(id, {});
  ASSERT_TRUE(alone) << alone.error().message;
  for (const auto& record : {records->at(1), *alone}) {
    EXPECT_NE(record.problem.find(what), std::string::npos) << record.problem;
    EXPECT_NE(record.problem.find(home.record(id).string()), std::string::npos);
    EXPECT_TRUE(record.bytes.empty());
    EXPECT_TRUE(record.version.empty());
  }
  EXPECT_TRUE(records->at(0).problem.empty());
  EXPECT_EQ(names_in(home.running()).size(), 2U);
}

TEST(FileStoreList, ReportsAFifoWithoutWaitingForIt) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  ASSERT_EQ(::mkfifo(home.record("f").c_str(), 0600), 0);
  expect_reported(home, "f", "is a FIFO");
}

TEST(FileStoreList, ReportsADirectory) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  fs::create_directory(home.record("d"));
  expect_reported(home, "d", "is a directory");
}

TEST(FileStoreList, ReportsAGiantFileWithoutReadingIt) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  home.plant("h.json", "");
  fs::resize_file(home.record("h"), std::uintmax_t{10} << 30);
  expect_reported(home, "h", "is larger than 65536 bytes");
}

TEST(FileStoreList, FollowsNoLink) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  const auto elsewhere = home.dir().write("elsewhere.json", record_bytes("s"));
  fs::create_symlink(elsewhere, home.record("s"));
  expect_reported(home, "s", "is a symbolic link");
  fs::remove(home.record("s"));
  fs::create_symlink("/dev/zero", home.record("s"));
  expect_reported(home, "s", "is a symbolic link");
  fs::remove(home.record("s"));
  fs::create_symlink("nowhere", home.record("s"));
  expect_reported(home, "s", "is a symbolic link");
}

TEST(FileStoreList, ReportsASocket) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = home.record("s").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_reported(home, "s", "is a socket");
  ::close(socket);
}

TEST(FileStoreList, ReportsADeviceWithoutOpeningIt) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  if (::mknod(home.record("z").c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0) {
    GTEST_SKIP() << "making a device needs root";
  }
  expect_reported(home, "z", "is a device");
}

TEST(FileStoreList, ReportsAFileThatItMayNotRead) {
  const Home home;
  EXPECT_EQ(run_as_ordinary_user(home.dir(),
                                 [&] {
                                   int failures = 0;
                                   home.plant("a.json", record_bytes("a"));
                                   ::chmod(home.record("a").c_str(), 0);
                                   const auto records = home.open()->list({});
                                   CHILD_CHECK(failures, records && records->size() == 1);
                                   if (failures > 0) return failures;
                                   const std::string& problem = records->at(0).problem;
                                   CHILD_CHECK(failures, problem.find("Permission denied") !=
                                                             std::string::npos);
                                   return failures;
                                 }),
            0);
}

TEST(FileStoreList, CallsADirectoryThatItMayNotReadAnError) {
  const Home home;
  EXPECT_EQ(
      run_as_ordinary_user(
          home.dir(),
          [&] {
            int failures = 0;
            home.plant("a.json", record_bytes("a"));
            ::chmod(home.running().c_str(), 0);
            const auto records = home.open()->list({});
            CHILD_CHECK(failures, !records);
            if (failures > 0) return failures;
            const Error& error = records.error();
            CHILD_CHECK(failures, error.code == ErrorCode::kIo && error.os_code == EACCES);
            CHILD_CHECK(failures, error.message.find(home.running().string()) != std::string::npos);
            CHILD_CHECK(failures, error.message.find("Permission denied") != std::string::npos);
            ::chmod(home.running().c_str(), 0700);
            return failures;
          }),
      0);
}

TEST(FileStoreList, CallsAPlainFileInTheDirectorysPlaceAnError) {
  const Home home;
  home.dir().write("home/running", "x");
  const auto records = home.open()->list({});
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().os_code, ENOTDIR);
  EXPECT_NE(records.error().message.find(home.running().string()), std::string::npos);
}

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

TEST(FileStoreList, RefusesADirectoryThatIsALink) {
  const Home home;
  const auto victim = home.dir() / "victim";
  fs::create_directory(victim);
  fs::permissions(victim, fs::perms(0755));
  fs::create_directory(home.path());
  fs::create_directory_symlink(victim, home.running());
  const auto store = home.open();
  const auto listed = store->list({});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kDenied);
  EXPECT_NE(listed.error().message.find(home.running().string()), std::string::npos);
  EXPECT_NE(listed.error().message.find("symbolic link"), std::string::npos);
  EXPECT_EQ(store->create_if_absent("a", record_bytes("a"), {}).error().code, ErrorCode::kDenied);
  EXPECT_EQ(mode_of(victim), 0755U);
  EXPECT_TRUE(names_in(victim).empty());
}

TEST(FileStoreList, RefusesAHomeThatIsALinkHoweverItIsSpelled) {
  const Home home;
  const auto victim = home.dir() / "victim";
  fs::create_directories(victim / "running");
  fs::create_directory_symlink(victim, home.path());
  for (const char* ending : {"", "/", "//", "/.", "/./"}) {
    const auto store = home.open([&](FileStore::Options& o) { o.home += ending; });
    EXPECT_EQ(store->list({}).error().code, ErrorCode::kDenied) << ending;
    EXPECT_EQ(store->create_if_absent("a", record_bytes("a"), {}).error().code, ErrorCode::kDenied)
        << ending;
  }
  EXPECT_TRUE(names_in(victim / "running").empty());
}

TEST(FileStoreList, RefusesAnotherOwnersDirectory) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store =
      home.open([](FileStore::Options& o) { o.expect_owner = std::uint64_t{::geteuid()} + 1; });
  const auto listed = store->list({});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kDenied);
  EXPECT_NE(listed.error().message.find(home.path().string()), std::string::npos);
  EXPECT_FALSE(store->create_if_absent("b", record_bytes("b"), {}));
}

TEST(FileStoreRead, RefusesIdsThatAreNoFileNamesBeforeAnyFileIsTouched) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto outside = home.dir().write("home/x.json", record_bytes("x"));
  const auto store = home.open();
  const std::string long_id(300, 'a');
  for (const std::string& id :
       {std::string("../x"), std::string("/tmp/x"), std::string("a/b"), std::string("a\\b"),
        std::string(), std::string("."), std::string(".."), std::string("-rf"), long_id,
        std::string("a.json"), std::string("a\0b", 3)}) {
    EXPECT_EQ(store->read(id, {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->create_if_absent(id, "{}", {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->replace_if(id, "v", "{}", {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->remove_if(id, "v", {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->control_path(id).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->read_control(id, {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->write_control(id, "t", true, {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->remove_control_if(id, "v", {}).error().code, ErrorCode::kInvalid) << id;
    EXPECT_EQ(store->undo_gone(id, {}).error().code, ErrorCode::kInvalid) << id;
  }
  EXPECT_TRUE(fs::exists(outside));
  EXPECT_EQ(names_in(home.path()), (std::vector<std::string>{"running", "x.json"}));
}

TEST(FileStoreRead, ChangesItsVersionWheneverTheFileChanges) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store = home.open();
  const std::string first = store->read("a", {})->version;
  EXPECT_EQ(store->read("a", {})->version, first);
  EXPECT_EQ(store->list({})->at(0).version, first);
  home.plant_over("a.json", record_bytes("a"));  // the same bytes in another file
  const std::string second = store->read("a", {})->version;
  EXPECT_NE(second, first);
  home.plant("a.json", record_bytes("a", "other1"));  // other bytes in the same file
  EXPECT_NE(store->read("a", {})->version, second);
  EXPECT_EQ(store->read("a", {})->owner_uid, ::geteuid());
}

TEST(FileStoreList, ObeysDeadlineAndCancellation) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  Call late;
  late.deadline_ns = 0;
  EXPECT_EQ(home.open()->list(late).error().code, ErrorCode::kTimeout);
  Call cancelled;
  cancelled.cancel.cancel();
  EXPECT_EQ(home.open()->list(cancelled).error().code, ErrorCode::kCancelled);
}

TEST(FileStoreList, KeepsNoDescriptorOpen) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store->list({}));
    ASSERT_TRUE(store->read("a", {}));
    ASSERT_FALSE(store->remove_if("a", "x", {}));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(FileStoreHomeKind, AsksTheNearestParentThatExists) {
  const Home home;
  const auto deep =
      home.open([](FileStore::Options& o) { o.home += "/not/there/yet"; })->home_kind();
  fs::create_directories(home.running());
  EXPECT_EQ(home.open()->home_kind(), deep);
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
