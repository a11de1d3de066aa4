// Reading a home on a POSIX system: modes, links and odd files.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"

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

TEST(FileStoreList, ReportsAFifoWithoutWaitingForIt) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  ASSERT_EQ(::mkfifo(home.record("f").c_str(), 0600), 0);
  expect_reported(home, "f", "is a FIFO");
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
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_reported(home, "s", "is a socket");
  ::close(socket);
}

TEST(FileStoreList, ReportsADeviceWithoutOpeningIt) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  struct stat zero {};
  ASSERT_EQ(::stat("/dev/zero", &zero), 0);
  if (::mknod(home.record("z").c_str(), S_IFCHR | 0600, zero.st_rdev) != 0) {
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

}  // namespace
}  // namespace rollcall
