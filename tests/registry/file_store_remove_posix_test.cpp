// Removing on a POSIX system: what permissions forbid, and odd files.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(FileStoreRemove, NamesTheFullPathWhereItFails) {
  const Home home;
  const auto in_child = [&] {
    int failures = 0;
    const auto store = home.open();
    CHILD_CHECK(failures, store->create_if_absent("a", record_bytes("a"), {}));
    const std::string version = version_in(home, "a");
    CHILD_CHECK(failures, ::chmod(home.running().c_str(), 0500) == 0);
    const auto removed = store->remove_if("a", version, {});
    CHILD_CHECK(failures, !removed && removed.error().code == ErrorCode::kIo);
    CHILD_CHECK(failures,
                removed.error().message.find(home.running().string() + "/") != std::string::npos);
    CHILD_CHECK(failures, fs::exists(home.record("a")));
    CHILD_CHECK(failures, ::chmod(home.running().c_str(), 0700) == 0);
    return failures;
  };
  EXPECT_EQ(run_as_ordinary_user(home.dir(), in_child), 0);
}

TEST(FileStoreGone, SkipsFilesThatAreNone) {
  const Home home;
  home.dir().write("home/gone/a.json", "{}");
  home.dir().write("home/gone/b.json", "");
  home.dir().write("home/gone/c.json", record_bytes("c"));
  ASSERT_EQ(::mkfifo((home.path() / "gone/f.json").c_str(), 0600), 0);
  const auto store = home.open();
  EXPECT_TRUE(store->list_gone({})->empty());
  EXPECT_EQ(store->undo_gone("a", {}).error().code, ErrorCode::kCorrupt);
}

TEST(FileStoreQuarantine, IsPrivate) {
  const Home home;
  home.plant("a.json", "");
  home.clock->shift_ns = 2 * kMinute;
  const auto store = home.open();
  ASSERT_TRUE(
      store->quarantine(store->read("a", {}).value(), {RecordProblem::kTorn, "it is empty"}, {}));
  EXPECT_EQ(mode_of(home.path() / "quarantine"), 0700U);
}

TEST(FileStoreQuarantine, LeavesANewerSchemaAndAnUnreadableFile) {
  const Home home;
  home.plant("a.json", "{}");
  ASSERT_EQ(::mkfifo(home.record("f").c_str(), 0600), 0);
  home.clock->shift_ns = 10 * kMinute;
  const auto store = home.open();
  const auto newer =
      store->quarantine(store->read("a", {}).value(), {RecordProblem::kNewerSchema, "newer"}, {});
  const auto odd = store->quarantine(store->read("f", {}).value(), {}, {});
  ASSERT_TRUE(newer && odd);
  EXPECT_TRUE(newer->moved_to.empty());
  EXPECT_TRUE(odd->moved_to.empty());
  EXPECT_NE(odd->reason.find("FIFO"), std::string::npos);
  EXPECT_EQ(names_in(home.running()), (std::vector<std::string>{"a.json", "f.json"}));
}

TEST(FileStoreControl, GoesWithARecordProvenGoneFromAnyWorkingDirectory) {
  const Home home;
  auto child = Child::run([&] {
    int failures = 0;
    CHILD_CHECK(failures, ::chdir("/") == 0);
    const auto store = home.open();
    CHILD_CHECK(failures, store->write_control("a", "t0ken", false, {}));
    CHILD_CHECK(failures, store->create_if_absent("a", record_bytes("a"), {}));
    const auto judged = store->read("a", {});
    CHILD_CHECK(failures, judged && store->archive_gone(*judged, sample_record("a"), {}, {}));
    CHILD_CHECK(failures, names_in(home.running()).empty());
    return failures;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace rollcall
