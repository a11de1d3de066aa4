// Which files may become code, and the sentence that each other one gets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/support.hpp"
#include "plugin/trust.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kNoFault = std::string("fault_none") + kSuffix;

class Trust : public ::testing::Test {
 protected:
  Trust() { folder_.add("fault_none"); }

  void expect_refused(const std::string& says) {
    const PluginInfo info = only_plugin(folder_);
    EXPECT_EQ(info.state, PluginState::kRefused);
    EXPECT_THAT(info.reason, HasSubstr(says));
  }
  std::string library() const { return folder_.library("fault_none"); }
  std::string manifest() const { return folder_.manifest("fault_none"); }

  PluginFolder folder_;
};

TEST_F(Trust, IsGivenToFilesThatOnlyWeCanWrite) {
  const PluginInfo info = only_plugin(folder_);
  EXPECT_EQ(info.state, PluginState::kLoaded) << info.reason;
  EXPECT_FALSE(info.builtin);
}

TEST_F(Trust, IsRefusedToALibraryThatTheGroupMayWrite) {
  PluginFolder::set_mode(library(), 0775);
  expect_refused("is writable by the group (mode 0775); run: chmod g-w '" + library() + "'");
}

TEST_F(Trust, IsRefusedToALibraryThatOthersMayWrite) {
  PluginFolder::set_mode(library(), 0757);
  expect_refused("is writable by all others (mode 0757); run: chmod go-w");
}

TEST_F(Trust, IsRefusedToAManifestThatTheGroupMayWrite) {
  PluginFolder::set_mode(manifest(), 0664);
  expect_refused(manifest() + " is writable by the group (mode 0664)");
}

TEST_F(Trust, IsRefusedToAFolderThatTheGroupMayWrite) {
  PluginFolder::set_mode(folder_.path(), 0775);
  expect_refused("the folder " + folder_.path() + " is writable by the group (mode 0775)");
}

TEST_F(Trust, IsRefusedBelowAParentThatTheGroupMayWrite) {
  PluginFolder::set_mode(folder_.temp().path().string(), 0770);
  expect_refused("the folder " + fs::canonical(folder_.temp().path()).string() +
                 " is writable by the group");
}

TEST_F(Trust, IsRefusedBelowAStickyParentThatIsNotRoots) {
  PluginFolder::set_mode(folder_.temp().path().string(), 01777);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.temp().path().c_str(), 65534, 65534), 0);
    expect_refused("belongs to uid 65534, who is neither root nor the effective user");
    ASSERT_EQ(::chown(folder_.temp().path().c_str(), 0, 0), 0);
  } else {
    expect_refused("is writable by the group and all others (mode 1777)");
  }
}

TEST_F(Trust, IsGivenBelowAStickyParentOfRoots) {
  if (::geteuid() != 0) GTEST_SKIP() << "making a folder of root's needs root";
  PluginFolder::set_mode(folder_.temp().path().string(), 01777);
  EXPECT_EQ(only_plugin(folder_).state, PluginState::kLoaded);
}

TEST_F(Trust, IsRefusedToPluginsThatLieInAStickyFolderItself) {
  if (::geteuid() != 0) GTEST_SKIP() << "making a folder of root's needs root";
  PluginFolder::set_mode(folder_.path(), 01777);
  expect_refused("everybody may make files: put the plugin into a folder of its own");
}

TEST_F(Trust, IsRefusedToAnothersLibrary) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  ASSERT_EQ(::chown(library().c_str(), 65534, 65534), 0);
  expect_refused(library() + " belongs to uid 65534");
}

TEST_F(Trust, IsRefusedToAnothersManifest) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  ASSERT_EQ(::chown(manifest().c_str(), 65534, 65534), 0);
  expect_refused(manifest() + " belongs to uid 65534");
}

TEST_F(Trust, IsRefusedToALibraryThatIsALink) {
  const std::string real = folder_.temp().path().string() + "/real.so";
  fs::rename(library(), real);
  fs::create_symlink(real, library());
  expect_refused(library() + " is a symbolic link");
}

TEST_F(Trust, IsRefusedToAManifestThatIsALink) {
  const std::string real = folder_.temp().path().string() + "/real.json";
  fs::rename(manifest(), real);
  fs::create_symlink(real, manifest());
  expect_refused(manifest() + " is a symbolic link");
}

TEST_F(Trust, IsRefusedToAFifoWithoutWaitingForIt) {
  fs::remove(library());
  ASSERT_EQ(::mkfifo(library().c_str(), 0700), 0);
  expect_refused(library() + " is a FIFO and no regular file");
}

TEST_F(Trust, IsRefusedToAFifoThatWouldBeAManifest) {
  fs::remove(manifest());
  ASSERT_EQ(::mkfifo(manifest().c_str(), 0700), 0);
  expect_refused(manifest() + " is a FIFO and no regular file");
}

TEST_F(Trust, FollowsALinkedFolderToWhereItLeads) {
  const std::string link = folder_.temp().path().string() + "/link";
  fs::create_directory_symlink(folder_.path(), link);
  Host::Options options = quiet_options();
  options.plugin_dirs = {link};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos.front().state, PluginState::kLoaded) << infos.front().reason;
  EXPECT_EQ(infos.front().file, fs::canonical(library()).string());
}

TEST_F(Trust, IsNotGivenToARelativePath) {
  Host::Options options = quiet_options();
  options.plugin_dirs = {"plugins"};
  options.plugin_files = {kNoFault};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 2U);
  for (const PluginInfo& info : infos) {
    EXPECT_EQ(info.state, PluginState::kRefused);
    EXPECT_THAT(info.reason, HasSubstr("relative path"));
  }
}

TEST_F(Trust, IsSettledBeforeTheLibraryIsLoaded) {
  // Its constructor would end this process.
  PluginFolder folder;
  folder.add("fault_static_exits");
  PluginFolder::set_mode(folder.library("fault_static_exits"), 0775);
  EXPECT_EQ(only_plugin(folder).state, PluginState::kRefused);
}

TEST_F(Trust, IsSettledAnewWhenTheLibraryIsLoaded) {
  const auto host = open_host(folder_);
  ASSERT_EQ(host->plugins().front().state, PluginState::kAvailable);
  PluginFolder::set_mode(library(), 0775);
  const auto probe = host->probe("com.example.fault.none");
  ASSERT_FALSE(probe);
  EXPECT_THAT(probe.error().message, HasSubstr("writable by the group"));
}

TEST_F(Trust, CanBeWaivedLoudly) {
  PluginFolder::set_mode(library(), 0777);
  PluginFolder::set_mode(folder_.path(), 0777);
  std::string log;
  Host::Options options = quiet_options();
  options.plugin_dirs = {folder_.path()};
  options.accept_untrusted = true;
  options.log = [&](int, std::string_view line) { log += line; };
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos.front().state, PluginState::kLoaded) << infos.front().reason;
  EXPECT_THAT(log, HasSubstr("accepted whoever owns them"));
}

TEST_F(Trust, SeesThatAFileWasExchanged) {
  const auto folder = loader::TrustedFolder::open(folder_.path(), {});
  ASSERT_TRUE(folder) << folder.error().message;
  const auto file = folder->open_file(kNoFault);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->still_there());
  fs::copy_file(library(), library() + ".new");
  fs::rename(library() + ".new", library());
  const Status status = file->still_there();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("was exchanged while it was being loaded"));
}

TEST_F(Trust, TakesNoNameThatLeadsElsewhere) {
  const auto folder = loader::TrustedFolder::open(folder_.path(), {});
  ASSERT_TRUE(folder);
  const std::vector<std::string> names = {"", ".", "..", "../plugins/" + kNoFault, "/etc/passwd"};
  for (const std::string& name : names) {
    const auto file = folder->open_file(name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalid) << name;
  }
}

}  // namespace
}  // namespace rollcall::testing
