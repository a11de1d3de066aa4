// Reading a home: what is listed, what is reported, and that nothing is touched.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

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
  fs::resize_file(home.record("h"), std::uintmax_t{1} << 30);
  expect_reported(home, "h", "is larger than 65536 bytes");
}

TEST(FileStoreList, RefusesAnotherOwnersDirectory) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store =
      home.open([](FileStore::Options& o) { o.expect_owner = core::current_owner() + 1; });
  const auto listed = store->list({});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kDenied);
  EXPECT_NE(listed.error().message.find(utf8(home.path())), std::string::npos);
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
  EXPECT_EQ(store->read("a", {})->owner_uid, core::current_owner());
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

TEST(FileStoreHomeKind, AsksTheNearestParentThatExists) {
  const Home home;
  const auto deep =
      home.open([](FileStore::Options& o) { o.home += "/not/there/yet"; })->home_kind();
  fs::create_directories(home.running());
  EXPECT_EQ(home.open()->home_kind(), deep);
}

}  // namespace
}  // namespace rollcall
