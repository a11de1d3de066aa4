#include <gtest/gtest.h>

#include <windows.h>
// After windows.h:
#include <aclapi.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/handle_windows.hpp"
#include "core/native_windows.hpp"
#include "core/private_files.hpp"
#include "core/security_windows.hpp"
#include "core/text_windows.hpp"
#include "support/links_windows.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::core {
namespace {

using testing::TempDir;
using testing::utf8;

PrivateDir make(const TempDir& temp, std::string_view name = "d") {
  return PrivateDir::make(utf8(temp / name), current_owner()).value();
}

Handle open_path(const std::filesystem::path& path, DWORD access, DWORD share) {
  return Handle(::CreateFileW(path.c_str(), access, share, nullptr, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
}

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

Access access_of(const std::filesystem::path& path) {
  const Handle file = open_path(path, READ_CONTROL, kShareAll);
  return read_access(file.get()).value();
}

std::vector<std::string> names_in(const PrivateDir& dir) {
  std::vector<std::string> names;
  EXPECT_TRUE(dir.each([&](const DirEntry& entry) {
    names.emplace_back(entry.name);
    return true;
  }));
  return names;
}

// Gives Everyone these rights over a file or folder, besides what there is.
bool let_everyone(const std::filesystem::path& path, ACCESS_MASK rights, DWORD inherit = 0) {
  std::byte sid[SECURITY_MAX_SID_SIZE];
  DWORD size = sizeof sid;
  if (::CreateWellKnownSid(WinWorldSid, nullptr, sid, &size) == 0) return false;
  const Handle file = open_path(path, READ_CONTROL | WRITE_DAC, kShareAll);
  const auto user = current_user();
  std::vector<std::byte> buffer(1024);
  auto* const acl = reinterpret_cast<ACL*>(buffer.data());
  if (!file.valid() || !user || ::InitializeAcl(acl, 1024, ACL_REVISION) == 0 ||
      ::AddAccessAllowedAceEx(acl, ACL_REVISION, inherit, FILE_ALL_ACCESS, user->get()) == 0 ||
      ::AddAccessAllowedAceEx(acl, ACL_REVISION, inherit, rights, sid) == 0) {
    return false;
  }
  return ::SetSecurityInfo(file.get(), SE_FILE_OBJECT,
                           DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, nullptr,
                           nullptr, acl, nullptr) == ERROR_SUCCESS;
}

TEST(OwnerOnly, LetsNobodyElseInFromTheCreationOn) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("f", "x", {}));
  ASSERT_TRUE(dir.make_child("child"));
  for (const auto& path : {temp / "d", temp / "d" / "f", temp / "d" / "child"}) {
    const Access access = access_of(path);
    EXPECT_EQ(access.owner, current_user().value()) << path;
    EXPECT_EQ(access.owned_by, OwnedBy::kUser);
    EXPECT_TRUE(access.others.empty()) << path << ": " << access.others.front().who;
  }
}

TEST(ReadAccess, CountsAMissingListAsEverybodysAll) {
  const TempDir temp;
  SECURITY_DESCRIPTOR open_to_all{};
  ASSERT_TRUE(::InitializeSecurityDescriptor(&open_to_all, SECURITY_DESCRIPTOR_REVISION));
  ASSERT_TRUE(::SetSecurityDescriptorDacl(&open_to_all, TRUE, nullptr, FALSE));
  SECURITY_ATTRIBUTES attributes = {sizeof attributes, &open_to_all, FALSE};
  const Handle event(::CreateEventW(&attributes, TRUE, FALSE, nullptr));
  ASSERT_TRUE(event.valid());
  const auto access = read_access(event.get(), SE_KERNEL_OBJECT);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(other_with(*access, kWriteRights), "Everyone");
}

TEST(ReadAccess, SeesWhoMayWrite) {
  const TempDir temp;
  const auto file = temp.write("f", "x");
  ASSERT_TRUE(let_everyone(file, FILE_ALL_ACCESS));
  EXPECT_EQ(other_with(access_of(file), kWriteRights), "Everyone");
}

TEST(Sid, HasANumberOfItsOwn) {
  std::byte world[SECURITY_MAX_SID_SIZE];
  DWORD size = sizeof world;
  ASSERT_TRUE(::CreateWellKnownSid(WinWorldSid, nullptr, world, &size));
  const Sid everyone(world);
  EXPECT_EQ(everyone.text(), "S-1-1-0");
  EXPECT_NE(everyone.number(), current_owner());
  EXPECT_LT(everyone.number(), std::uint64_t{1} << 63);
  EXPECT_EQ(Sid(current_user()->get()).number(), current_owner());
}

TEST(PrivateDir, KeepsBytesAndStampsOfAFile) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  const auto made = dir.create("f", "line\r\n\x1A\0end", {});
  ASSERT_TRUE(made) << made.error().message;
  const auto read = dir.read("f", 100);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bytes, "line\r\n\x1A\0end");
  EXPECT_EQ(read->stamp.inode, made->inode);
  EXPECT_EQ(read->stamp.changed_ns, made->changed_ns);
  EXPECT_EQ(read->stamp.owner, current_owner());
  EXPECT_EQ(read->stamp.size, read->bytes.size());
}

TEST(PrivateDir, SetsATimeThatIsReadBack) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  constexpr std::int64_t kThen = 1'600'000'000'123'456'700;
  const auto made = dir.create("f", "x", {.durable = false, .modified_ns = kThen});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->modified_ns, kThen);
}

TEST(PrivateDir, NeverCreatesOverAFile) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("f", "old", {}));
  const auto second = dir.create("f", "new", {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_EQ(dir.read("f", 10)->bytes, "old");
}

TEST(PrivateDir, RenamesOverAndNeverOver) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("a", "a", {}));
  ASSERT_TRUE(dir.create("b", "b", {}));
  const auto refused = dir.rename_new("a", dir, "b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(dir.read("b", 10)->bytes, "b");
  const auto done = dir.rename_over("a", dir, "b");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(dir.read("b", 10)->bytes, "a");
  EXPECT_EQ(names_in(dir), std::vector<std::string>{"b"});
}

TEST(PrivateDir, RenamesIntoAnotherFolder) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  const PrivateDir other = dir.make_child("other").value();
  ASSERT_TRUE(dir.create("a", "a", {}));
  const auto done = dir.rename_new("a", other, "b");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(other.read("b", 10)->bytes, "a");
  EXPECT_EQ(dir.rename_new("a", other, "c").error().code, ErrorCode::kNotFound);
}

// Readers share everything: they are in nobody's way, or for a moment only.
TEST(PrivateDir, RenamesOverAFileThatIsBeingRead) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("staged", "new", {}));
  ASSERT_TRUE(dir.create("f", "old", {}));
  Handle reader = open_path(temp / "d" / "f", GENERIC_READ, kShareAll);
  ASSERT_TRUE(reader.valid());
  const Handle begun(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  std::thread closer([&] {
    ::WaitForSingleObject(begun.get(), 20'000);
    ::Sleep(50);
    static_cast<void>(reader.close());
  });
  ::SetEvent(begun.get());
  const auto done = dir.rename_over("staged", dir, "f");
  closer.join();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(dir.read("f", 10)->bytes, "new");
}

TEST(PrivateDir, GivesUpOnAFileThatIsHeldForGood) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("staged", "new", {}));
  ASSERT_TRUE(dir.create("f", "old", {}));
  const Handle holder = open_path(temp / "d" / "f", GENERIC_READ, FILE_SHARE_READ);
  ASSERT_TRUE(holder.valid());
  const auto done = dir.rename_over("staged", dir, "f");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_EQ(dir.read("f", 10)->bytes, "old");
  EXPECT_EQ(dir.read("staged", 10)->bytes, "new");
}

TEST(PrivateDir, RemovesAFileThatIsBeingRead) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("f", "old", {}));
  Handle reader = open_path(temp / "d" / "f", GENERIC_READ, kShareAll);
  const auto done = dir.remove("f");
  ASSERT_TRUE(done) << done.error().message;
  // Its name is free at once where the file system can do that, else now.
  ASSERT_TRUE(reader.close());
  EXPECT_TRUE(names_in(dir).empty());
  EXPECT_TRUE(dir.create("f", "new", {}));
}

TEST(PrivateDir, RemovesNoFolder) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.make_child("child"));
  EXPECT_FALSE(dir.remove("child"));
  EXPECT_TRUE(std::filesystem::exists(temp / "d" / "child"));
  ASSERT_TRUE(dir.create("f", "x", {}));
  EXPECT_FALSE(dir.rename_over("f", dir, "child"));
}

TEST(PrivateDir, RemovesATreeWithAllInIt) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  temp.write("d/tree/a/b/c", "x");
  const auto read_only = temp.write("d/tree/a/f", "x");
  ASSERT_TRUE(::SetFileAttributesW(read_only.c_str(), FILE_ATTRIBUTE_READONLY));
  const auto stamp = dir.stat("tree");
  ASSERT_TRUE(stamp) << stamp.error().message;
  const auto done = dir.remove_tree("tree", *stamp);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(names_in(dir).empty());
}

TEST(PrivateDir, RemovesNoTreeButTheOneThatIsMeant) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  temp.write("d/tree/f", "x");
  temp.write("d/other/f", "x");
  const auto stamp = dir.stat("other");
  ASSERT_TRUE(stamp);
  EXPECT_EQ(dir.remove_tree("tree", *stamp).error().code, ErrorCode::kConflict);
  EXPECT_EQ(dir.remove_tree("none", *stamp).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(testing::slurp(temp / "d" / "tree" / "f"), "x");
}

TEST(PrivateDir, LeavesATreeInWhichSomethingIsJoined) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  temp.write("victim/f", "x");
  temp.write("d/tree/f", "x");
  const testing::FolderLink link(temp / "d" / "tree" / "link", temp / "victim");
  if (!link.made()) {
    GTEST_SKIP() << "no link to a folder can be made here";
  }
  EXPECT_EQ(dir.remove_tree("tree", *dir.stat("tree")).error().code, ErrorCode::kRefused);
  EXPECT_EQ(testing::slurp(temp / "d" / "tree" / "f"), "x");
  EXPECT_EQ(testing::slurp(temp / "victim" / "f"), "x");
}

TEST(PrivateDir, TakesDeviceNamesAndOddEndsToTheLetter) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  for (const char* name : {"CON", "nul.json", "com1", "a.", "a ", "\xC3\xA9\xF0\x9F\x98\x80"}) {
    const auto made = dir.create(name, name, {});
    ASSERT_TRUE(made) << name << ": " << made.error().message;
    const auto read = dir.read(name, 100);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->bytes, name);
  }
  EXPECT_EQ(names_in(dir).size(), 6U);
  for (const char* name : {"CON", "nul.json", "com1", "a.", "a "}) {
    EXPECT_TRUE(dir.remove(name)) << name;  // what Win32 calls could not
  }
}

TEST(PrivateDir, RefusesNamesThatLeadElsewhere) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("f", "x", {}));
  for (const char* name : {"", ".", "..", "f:stream", "a\\b", "..\\x", "a/b", "f*", "\xFF"}) {
    EXPECT_FALSE(dir.create(name, "y", {})) << name;
    EXPECT_FALSE(dir.read(name, 10)) << name;
    EXPECT_FALSE(dir.remove(name)) << name;
    EXPECT_FALSE(dir.rename_over("f", dir, name)) << name;
  }
  EXPECT_EQ(names_in(dir), std::vector<std::string>{"f"});
}

TEST(PrivateDir, ReadsNoFileByANameThatDiffersInCase) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  ASSERT_TRUE(dir.create("S1.json", "x", {}));
  EXPECT_EQ(dir.read("s1.json", 10).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(dir.stat("s1.json").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(dir.read("S1.json", 10));
  const auto second = dir.create("s1.json", "y", {});
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
}

TEST(PrivateDir, WorksBeyond260Units) {
  const TempDir temp;
  std::string path = utf8(temp / "d");
  for (int i = 0; i < 5; ++i) path += "\\" + std::string(100, static_cast<char>('a' + i));
  const auto dir = PrivateDir::make(path, current_owner());
  ASSERT_TRUE(dir) << dir.error().message;
  const std::string name(240, 'n');
  ASSERT_TRUE(dir->create(name, "x", {}));
  EXPECT_EQ(dir->read(name, 10)->bytes, "x");
  EXPECT_TRUE(PrivateDir::open(path, current_owner())->has_value());
}

TEST(PrivateDir, OpensNothingWhereThereIsNothing) {
  const TempDir temp;
  const auto none = PrivateDir::open(utf8(temp / "a" / "b"), current_owner());
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none);
  const auto file = temp.write("f", "x");
  EXPECT_FALSE(PrivateDir::open(utf8(file), current_owner()));
  EXPECT_FALSE(PrivateDir::make(utf8(file), current_owner()));
}

TEST(PrivateDir, RefusesADirectoryOfAnotherOwner) {
  const TempDir temp;
  std::filesystem::create_directory(temp / "d");
  const auto dir = PrivateDir::open(utf8(temp / "d"), current_owner() + 1);
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().code, ErrorCode::kDenied);
}

TEST(PrivateDir, ReadsNothingThatOthersMayWriteTo) {
  const TempDir temp;
  {
    const PrivateDir dir = make(temp);
    ASSERT_TRUE(dir.create("f", "x", {}));
    ASSERT_TRUE(let_everyone(temp / "d" / "f", FILE_ALL_ACCESS));
    const auto file = dir.read("f", 10);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::kUnreadable);
    EXPECT_NE(file.error().message.find("Everyone may write"), std::string::npos);
  }
  ASSERT_TRUE(let_everyone(temp / "d", FILE_ALL_ACCESS));
  const auto dir = PrivateDir::open(utf8(temp / "d"), current_owner());
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().code, ErrorCode::kDenied);
  EXPECT_NE(dir.error().message.find("Everyone may write"), std::string::npos);
}

TEST(PrivateDirOfAnyone, ReadsWhatOthersMayWriteTo) {
  const TempDir temp;
  const auto file = temp.write("f", "x");
  if (!let_everyone(file, FILE_ALL_ACCESS) || !let_everyone(temp.path(), FILE_ALL_ACCESS)) {
    GTEST_SKIP() << "the access list cannot be changed here";
  }
  const auto dir = PrivateDir::open_any(utf8(temp.path()), PrivateDir::Links::kRefuse);
  ASSERT_TRUE(dir && *dir) << (dir ? "it is not there" : dir.error().message);
  const auto content = (*dir)->read("f", 16);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->bytes, "x");
}

TEST(PrivateDirOfAnyone, OpensARelativePath) {
  const auto dir = PrivateDir::open_any(".", PrivateDir::Links::kFollow);
  ASSERT_TRUE(dir) << dir.error().message;
  EXPECT_TRUE(*dir);
}

// What GetFullPathNameW makes of CON and its like is below it.
TEST(PrivateDirOfAnyone, IsNoPlaceOfDevices) {
  for (const char* path : {"\\\\.\\", "//./", "\\\\?\\", "\\\\.\\pipe\\"}) {
    const auto dir = PrivateDir::open_any(path, PrivateDir::Links::kFollow);
    EXPECT_FALSE(dir) << path;
  }
}

TEST(PrivateDirOfAnyone, IsNoFileAndNothing) {
  const TempDir temp;
  const auto file = temp.write("f", "x");
  EXPECT_FALSE(PrivateDir::open_any(utf8(file), PrivateDir::Links::kFollow));
  const auto none = PrivateDir::open_any(utf8(temp / "none"), PrivateDir::Links::kFollow);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none);
}

// One such file must not keep the others of its folder from being read.
TEST(PrivateDirOfAnyone, CallsAFileUnreadableThatCannotEvenBeLookedAt) {
  const auto dir = PrivateDir::open_any("Z:\\dev", PrivateDir::Links::kFollow);
  if (!dir || !*dir) GTEST_SKIP() << "only Wine shows devices as files";
  ASSERT_FALSE((*dir)->stat("zero"));
  for (const FileKind hint : {FileKind::kUnknown, FileKind::kRegular}) {
    const auto content = (*dir)->read("zero", 16, hint);
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().code, ErrorCode::kUnreadable) << content.error().message;
  }
}

TEST(PrivateDirOfAnyone, FollowsALinkOnlyWhereItIsAskedTo) {
  const TempDir temp;
  std::filesystem::create_directories(temp / "d");
  std::filesystem::create_directory(temp / "victim");
  const testing::FolderLink link(temp / "d" / "link", temp / "victim");
  if (!link.made() || !link.shows_by_handle()) {
    GTEST_SKIP() << "no link to a folder can be made and told here";
  }
  const auto refused = PrivateDir::open_any(utf8(temp / "d" / "link"), PrivateDir::Links::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  const auto followed = PrivateDir::open_any(utf8(temp / "d" / "link"), PrivateDir::Links::kFollow);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_TRUE(*followed);
}

TEST(PrivateDir, ListsALinkAsOne) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  std::filesystem::create_directory(temp / "victim");
  const testing::FolderLink link(temp / "d" / "link", temp / "victim");
  if (!link.made()) {
    GTEST_SKIP() << "no link to a folder can be made here";
  }
  FileKind kind = FileKind::kUnknown;
  ASSERT_TRUE(dir.each([&](const DirEntry& entry) {
    kind = entry.kind;
    return true;
  }));
  EXPECT_EQ(kind, FileKind::kSymlink);
  EXPECT_EQ(dir.read("link", 10, kind).error().code, ErrorCode::kUnreadable);
}

TEST(PrivateDir, FollowsNoLinkToAFolder) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  std::filesystem::create_directory(temp / "victim");
  const testing::FolderLink link(temp / "d" / "link", temp / "victim");
  if (!link.made() || !link.shows_by_handle()) {
    GTEST_SKIP() << "no link to a folder can be made and told here";
  }
  EXPECT_EQ(dir.stat("link")->kind, FileKind::kSymlink);
  EXPECT_EQ(dir.open_child("link").error().code, ErrorCode::kDenied);
  EXPECT_EQ(dir.make_child("link").error().code, ErrorCode::kDenied);
  EXPECT_EQ(dir.read("link", 10).error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(PrivateDir::make(utf8(temp / "d" / "link"), current_owner()).error().code,
            ErrorCode::kDenied);
  const auto clock = system_clock();
  EXPECT_FALSE(dir.lock("link", *clock, kNoDeadline, {}));
}

TEST(PrivateDir, ReplacesALinkAndLeavesItsTarget) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  temp.write("victim/f", "x");
  const testing::FolderLink link(temp / "d" / "link", temp / "victim");
  if (!link.made() || !link.shows_by_handle()) {
    GTEST_SKIP() << "no link to a folder can be made and told here";
  }
  ASSERT_TRUE(dir.create("staged", "new", {}));
  const auto done = dir.rename_over("staged", dir, "link");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(dir.read("link", 10)->bytes, "new");
  EXPECT_EQ(testing::slurp(temp / "victim" / "f"), "x");
}

TEST(PrivateDir, TightensWhatIsOpenToOthers) {
  const TempDir temp;
  std::filesystem::create_directory(temp / "d");
  ASSERT_TRUE(let_everyone(temp / "d", FILE_ALL_ACCESS));
  const PrivateDir dir = make(temp);
  EXPECT_EQ(other_with(access_of(temp / "d"), kWriteRights), "Everyone");
  const auto tight = dir.tighten();
  ASSERT_TRUE(tight) << tight.error().message;
  EXPECT_EQ(other_with(access_of(temp / "d"), kWriteRights), "");
  EXPECT_TRUE(PrivateDir::open(utf8(temp / "d"), current_owner()));
}

TEST(PrivateDir, KeepsAnotherLockOutUntilTheFirstIsGone) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  const auto clock = system_clock();
  std::optional<FileLock> first(dir.lock("lock", *clock, kNoDeadline, {}).value());
  const auto second = dir.lock("lock", *clock, clock->monotonic_ns() + 20'000'000, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kTimeout);
  first.reset();
  EXPECT_TRUE(dir.lock("lock", *clock, clock->monotonic_ns() + 20'000'000'000, {}));
}

TEST(PrivateDir, HandsNoHandleToChildren) {
  const TempDir temp;
  const PrivateDir dir = make(temp);
  Handle file;
  ASSERT_TRUE(dir.create("f", "x", {}));
  const Handle folder = open_path(temp / "d", FILE_LIST_DIRECTORY, kShareAll);
  ASSERT_TRUE(native::succeeded(
      native::open_at({.dir = folder.get(), .name = L"f", .access = FILE_READ_DATA}, file)));
  DWORD flags = HANDLE_FLAG_INHERIT;
  ASSERT_TRUE(::GetHandleInformation(file.get(), &flags));
  EXPECT_EQ(flags & HANDLE_FLAG_INHERIT, 0U);
}

TEST(IsOnLocalFileSystem, KnowsTheDiskOfAPathThatIsNotThereYet) {
  const TempDir temp;
  EXPECT_TRUE(is_on_local_file_system(utf8(temp / "a" / "b")));
  EXPECT_FALSE(is_on_local_file_system("\\\\?\\Volume{0}\\x"));
}

}  // namespace
}  // namespace rollcall::core
