// Which files may become code, and the sentence that each other one gets.
#include <windows.h>
// After windows.h:
#include <aclapi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/handle_windows.hpp"
#include "core/security_windows.hpp"
#include "core/text_windows.hpp"
#include "plugin/support.hpp"
#include "plugin/trust.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

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

core::Handle open_to_look(const std::string& path) {
  return core::Handle(::CreateFileW(core::widen(path)->c_str(), READ_CONTROL,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS, nullptr));
}

// Gives the user everything and everybody else `rights`. False: the file system did not keep it.
bool give_everyone(const std::string& path, DWORD rights) {
  auto user = core::current_user();
  std::array<BYTE, SECURITY_MAX_SID_SIZE> world{};
  DWORD size = world.size();
  ::CreateWellKnownSid(WinWorldSid, nullptr, world.data(), &size);
  std::array<BYTE, 512> list{};
  auto* const acl = reinterpret_cast<ACL*>(list.data());
  ::InitializeAcl(acl, list.size(), ACL_REVISION);
  ::AddAccessAllowedAce(acl, ACL_REVISION, FILE_ALL_ACCESS, user->get());
  ::AddAccessAllowedAce(acl, ACL_REVISION, rights, world.data());
  ::SetNamedSecurityInfoW(core::widen(path)->data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                          nullptr, nullptr, acl, nullptr);
  const auto access = core::read_access(open_to_look(path).get());
  return access && !core::other_with(*access, rights & core::kWriteRights).empty();
}

#define NEED_RIGHTS(path, rights) \
  if (!give_everyone(path, rights)) GTEST_SKIP() << "this file system keeps no such access list"

TEST_F(Trust, IsGivenToFilesThatOnlyWeCanWrite) {
  const PluginInfo info = only_plugin(folder_);
  EXPECT_EQ(info.state, PluginState::kLoaded) << info.reason;
  EXPECT_FALSE(info.builtin);
}

TEST_F(Trust, IsRefusedToALibraryThatOthersMayWrite) {
  NEED_RIGHTS(library(), FILE_ALL_ACCESS);
  expect_refused(library() + " is writable by Everyone");
  expect_refused("run: icacls \"" + library() + "\" /inheritance:d /remove:g *S-1-1-0");
}

TEST_F(Trust, IsRefusedToAManifestThatOthersMayWrite) {
  NEED_RIGHTS(manifest(), FILE_ALL_ACCESS);
  expect_refused(manifest() + " is writable by Everyone");
}

TEST_F(Trust, IsRefusedToAFolderThatOthersMayAddTo) {
  NEED_RIGHTS(folder_.path(), FILE_GENERIC_READ | FILE_GENERIC_EXECUTE | FILE_GENERIC_WRITE);
  expect_refused("the folder " + folder_.path() + " is writable by Everyone");
}

TEST_F(Trust, IsRefusedBelowAParentWhoseContentsOthersMayExchange) {
  const std::string parent = loader::folder_of(folder_.path());
  NEED_RIGHTS(parent, FILE_ALL_ACCESS);
  expect_refused("the folder " + parent + " is writable by Everyone");
}

TEST_F(Trust, IsNotGivenToARelativePath) {
  Host::Options options = quiet_options();
  options.plugin_dirs = {"plugins", "C:plugins", "\\plugins", "\\\\host\\share\\plugins"};
  options.plugin_files = {"fault_none.dll"};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 5U);
  for (const PluginInfo& info : infos) {
    EXPECT_EQ(info.state, PluginState::kRefused);
    EXPECT_THAT(info.reason, HasSubstr("relative path"));
  }
}

TEST_F(Trust, IsGivenThroughForwardSlashesAndAnotherCase) {
  std::string other = folder_.path();
  for (char& c : other) c = c == '\\' ? '/' : static_cast<char>(std::toupper(c));
  Host::Options options = quiet_options();
  options.plugin_dirs = {other, folder_.path()};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 1U) << "one folder is read once";
  EXPECT_EQ(infos.front().state, PluginState::kLoaded) << infos.front().reason;
  EXPECT_EQ(infos.front().file, library());
}

TEST_F(Trust, IsRefusedToAFolderThatWouldBeALibrary) {
  fs::remove(library());
  fs::create_directory(library());
  expect_refused(library() + " is a folder and no regular file");
}

TEST_F(Trust, IsRefusedToALibraryThatIsALink) {
  const std::wstring target = *core::widen(folder_.temp().path().string() + "\\real.dll");
  fs::rename(library(), fs::path(target));
  constexpr DWORD kAsAnyUser = 2;  // SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE
  if (::CreateSymbolicLinkW(core::widen(library())->c_str(), target.c_str(), kAsAnyUser) == 0) {
    GTEST_SKIP() << "no symbolic link can be made: " << core::error_text(::GetLastError());
  }
  const DWORD attributes = ::GetFileAttributesW(core::widen(library())->c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0) {
    GTEST_SKIP() << "this system says that it made a link, and made none";
  }
  expect_refused(library() + " is a symbolic link");
}

TEST_F(Trust, IsSettledBeforeTheLibraryIsLoaded) {
  // Its constructor would end this process.
  PluginFolder folder;
  folder.add("fault_static_exits");
  NEED_RIGHTS(folder.library("fault_static_exits"), FILE_ALL_ACCESS);
  EXPECT_EQ(only_plugin(folder).state, PluginState::kRefused);
}

TEST_F(Trust, IsSettledAnewWhenTheLibraryIsLoaded) {
  const auto host = open_host(folder_);
  ASSERT_EQ(host->plugins().front().state, PluginState::kAvailable);
  NEED_RIGHTS(library(), FILE_ALL_ACCESS);
  const auto probe = host->probe("com.example.fault.none");
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(probe.error().message, HasSubstr("is writable by Everyone"));
}

TEST_F(Trust, CanBeWaivedLoudly) {
  NEED_RIGHTS(library(), FILE_ALL_ACCESS);
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

TEST_F(Trust, HoldsAFileSoThatItCannotBeExchanged) {
  const auto folder = loader::TrustedFolder::open(folder_.path(), {});
  ASSERT_TRUE(folder) << folder.error().message;
  const auto file = folder->open_file("fault_none.dll");
  ASSERT_TRUE(file) << file.error().message;
  const auto from = core::widen(library());
  EXPECT_EQ(::MoveFileExW(from->c_str(), (*from + L".old").c_str(), 0), 0);
  EXPECT_EQ(::DeleteFileW(from->c_str()), 0);
  const core::Handle writer(::CreateFileW(from->c_str(), GENERIC_WRITE,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                          OPEN_EXISTING, 0, nullptr));
  EXPECT_FALSE(writer.valid());
  EXPECT_TRUE(file->still_there());
}

TEST_F(Trust, TakesNoNameThatLeadsElsewhere) {
  const auto folder = loader::TrustedFolder::open(folder_.path(), {});
  ASSERT_TRUE(folder) << folder.error().message;
  for (const char* name :
       {"", ".", "..", "..\\plugins\\fault_none.dll", "../fault_none.dll", "C:\\x.dll",
        "fault_none.dll:stream", "fault_none.dll.", "fault_none.dll ", "fault_*.dll"}) {
    const auto file = folder->open_file(name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalid) << name;
  }
  for (const char* device : {"NUL", "CON", "COM1.dll"}) {
    const auto file = folder->open_file(device);
    ASSERT_FALSE(file) << device;
    EXPECT_THAT(file.error().code, AnyOf(ErrorCode::kNotFound, ErrorCode::kDenied)) << device;
  }
}

}  // namespace
}  // namespace rollcall::testing
