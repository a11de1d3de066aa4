#include "core/own_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.hpp"

namespace rollcall::core {
namespace {

constexpr uid_t kNobody = 65534;

class OwnSocket : public ::testing::Test {
 protected:
  // Binds a socket there; nobody needs to listen.
  [[nodiscard]] std::string bind(const std::string& name) const {
    const std::string path = (dir_ / name).string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
    return path;
  }
  std::string make(const std::string& name, mode_t mode) const {
    const std::string path = (dir_ / name).string();
    EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static void expect_refused(const std::string& path, const std::string& why) {
    const auto status = check_own_socket(path);
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().code, ErrorCode::kRefused) << status.error().message;
    EXPECT_NE(status.error().message.find(why), std::string::npos) << status.error().message;
  }

  testing::TempDir dir_;
};

TEST_F(OwnSocket, InAFolderOfOnesOwnIsGood) {
  make("own", 0700);
  const auto status = check_own_socket(bind("own/default"));
  EXPECT_TRUE(status) << status.error().message;
}

TEST_F(OwnSocket, InAStickyFolderOfAllIsGood) {
  make("all", 01777);
  const auto status = check_own_socket(bind("all/s"));
  EXPECT_TRUE(status) << status.error().message;
}

TEST_F(OwnSocket, InAFolderThatOthersWriteToIsRefused) {
  make("group", 0770);
  make("all", 0777);
  expect_refused(bind("group/s"), "writable by others (mode 0770)");
  expect_refused(bind("all/s"), "writable by others (mode 0777)");
  make("all/own", 0700);
  expect_refused(bind("all/own/s"), "writable by others");
}

TEST_F(OwnSocket, OfAnotherUserOrInAFolderOfTheirsIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const std::string theirs = bind("theirs");
  ASSERT_EQ(::chown(theirs.c_str(), kNobody, kNobody), 0);
  expect_refused(theirs, "a socket of uid 65534");
  for (const mode_t mode : {mode_t{0700}, mode_t{01777}}) {
    const std::string name = "d" + std::to_string(mode);
    const std::string folder = make(name, mode);
    const std::string own = bind(name + "/s");
    ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
    expect_refused(own, "belongs to uid 65534");
  }
}

TEST_F(OwnSocket, IsNoLinkToOne) {
  const std::string own = bind("s");
  const std::string link = (dir_ / "link").string();
  std::filesystem::create_symlink(own, link);
  expect_refused(link, "symbolic link");
}

TEST_F(OwnSocket, IsReachedThroughLinksThatNobodyElseCanExchange) {
  const std::string folder = make("own", 0700);
  (void)bind("own/s");
  std::filesystem::create_directory_symlink(folder, dir_ / "absolute");
  std::filesystem::create_directory_symlink("own", dir_ / "relative");
  std::filesystem::create_directory_symlink("round", dir_ / "round");
  for (const char* name : {"absolute/s", "relative/s", "relative/../own/s"}) {
    const auto status = check_own_socket((dir_ / name).string());
    EXPECT_TRUE(status) << status.error().message;
  }
  expect_refused((dir_ / "round/s").string(), "too many links");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown((dir_ / "relative").c_str(), kNobody, kNobody), 0);
  expect_refused((dir_ / "relative/s").string(), "a link of uid 65534");
}

TEST_F(OwnSocket, IsASocketWithAnAbsolutePath) {
  const std::string file = dir_.write("file", "");
  expect_refused(file, "is no socket");
  expect_refused(file + "/s", "is no directory");
  expect_refused(dir_.path().string() + "/", "is a directory");
  for (const char* path : {"", "s", "./s", "@abstract", "tcp:localhost:1"}) {
    expect_refused(path, "no absolute path");
  }
  const auto missing = check_own_socket((dir_ / "none").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rollcall::core
