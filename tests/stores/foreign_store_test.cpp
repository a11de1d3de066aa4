// Foreign records on real files, through the store's interface.
#include "rollcall/foreign_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rollcall/record.hpp"
#include "support/temp_dir.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;

class ForeignStoreTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<RecordStore> store(ForeignKind kind) const {
    ForeignStoreOptions options;
    options.kind = kind;
    options.name = "others";
    options.dir = testing::utf8(dir.path());
    auto opened = open_foreign_store(std::move(options));
    EXPECT_TRUE(opened);
    return opened.value_or(nullptr);
  }
  static Record record_of(const StoredRecord& stored) {
    EXPECT_EQ(stored.problem, "");
    const auto record = parse_record(stored.bytes, stored.name);
    EXPECT_TRUE(record) << record.error().text;
    return record ? *record : Record{};
  }

  testing::TempDir dir;
};

constexpr std::string_view kRow = R"({"pid":4242,"sessionId":"6f1c","startedAt":1790000000000})";

TEST_F(ForeignStoreTest, ListsWhatItCanReadAndSaysWhatItCannot) {
  dir.write("4242.json", kRow);
  dir.write("4243.json", R"({"pid":4243,"sessionId":"7a00","startedAt":1790000000000})");
  dir.write("torn.json", "{");
  dir.write("notes.txt", "x");
  const std::size_t links = testing::make_link(dir / "4242.json", dir / "link.json") ? 1 : 0;
  fs::create_directory(dir / "folder.json");
  const auto list = store(ForeignKind::kRows)->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 4u + links);
  std::size_t problems = 0;
  for (const StoredRecord& stored : *list) problems += stored.problem.empty() ? 0 : 1;
  EXPECT_EQ(problems, 2u + links);
  EXPECT_EQ(
      record_of(*std::find_if(list->begin(), list->end(),
                              [](const StoredRecord& stored) { return stored.name == "6f1c"; }))
          .process.pid,
      4242);
  EXPECT_TRUE(std::is_sorted(list->rbegin(), list->rend(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_F(ForeignStoreTest, TellsTwoFilesOfOneSessionApart) {
  dir.write("4242.json", kRow);
  dir.write("4243.json", R"({"pid":4243,"sessionId":"6f1c","startedAt":1790000000000})");
  const auto others = store(ForeignKind::kRows);
  const auto list = others->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(list->at(0).name, "6f1c.4243");
  EXPECT_EQ(record_of(list->at(0)).process.pid, 4243);
  EXPECT_EQ(list->at(1).name, "6f1c.4242");
  EXPECT_FALSE(others->read("6f1c", {}));
  EXPECT_EQ(others->read("6f1c.4242", {})->name, "6f1c.4242");
}

TEST_F(ForeignStoreTest, GivesNoSessionTheNameOfAnother) {
  dir.write("4242.json", kRow);
  dir.write("4243.json", R"({"pid":4243,"sessionId":"6f1c","startedAt":1790000000000})");
  dir.write("4244.json", R"({"pid":4244,"sessionId":"6f1c.4242","startedAt":1790000000000})");
  const auto others = store(ForeignKind::kRows);
  const auto list = others->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 3u);
  for (const StoredRecord& stored : *list) {
    EXPECT_EQ(stored.problem.empty(), stored.name == "6f1c.4243") << stored.name;
  }
  // Neither may be acted on by a name that could mean the other.
  EXPECT_NE(others->read("6f1c.4242", {})->problem, "");
}

TEST_F(ForeignStoreTest, ReportsWhatCannotBeNamedByItsFile) {
  dir.write("4242.json", R"({"pid":4242,"sessionId":"../x","startedAt":1790000000000})");
  dir.write("4243.json", R"({"pid":4243,"sessionId":"","startedAt":1790000000000})");
  const auto list = store(ForeignKind::kRows)->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(list->at(0).name, "4243");
  EXPECT_EQ(list->at(1).name, "4242");
  for (const StoredRecord& stored : *list) EXPECT_NE(stored.problem, "");
}

TEST_F(ForeignStoreTest, ReadsOneByItsNameOrSaysThatThereIsNone) {
  dir.write("4242.json", kRow);
  const auto others = store(ForeignKind::kRows);
  const auto one = others->read("6f1c", {});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(record_of(*one).process.pid, 4242);
  EXPECT_EQ(others->read("4242", {}).error().code, ErrorCode::kNotFound);
}

TEST_F(ForeignStoreTest, ChangesNothing) {
  dir.write("4242.json", kRow);
  const auto others = store(ForeignKind::kRows);
  const auto one = others->read("6f1c", {});
  ASSERT_TRUE(one);
  EXPECT_EQ(others->create_if_absent("x", "{}", {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(others->replace_if("6f1c", one->version, "{}", {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(others->remove_if("6f1c", one->version, {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(testing::slurp(dir / "4242.json"), kRow);
}

TEST_F(ForeignStoreTest, IsEmptyWithoutItsFolderAndAnErrorWhereThatIsNone) {
  fs::remove_all(dir.path());
  auto list = store(ForeignKind::kRows)->list({});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_TRUE(list->empty());
  std::ofstream(dir.path()) << "a file";
  list = store(ForeignKind::kRows)->list({});
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find(dir.path().string()), std::string::npos);
  fs::remove(dir.path());
  fs::create_directory(dir.path());
}

TEST_F(ForeignStoreTest, WantsAnAbsoluteFolder) {
  const auto opened = open_foreign_store({ForeignKind::kRows, "others", "relative", {}, {}, {}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

TEST_F(ForeignStoreTest, OfPairsHoldsTheSidesThatWroteWhoTheyAre) {
  dir.write("pair.a.json", R"({"pair_id":"a","tab":"t","generation":2,"controller":"c"})");
  dir.write("pair.a.g1.tui-pid", "4240:boot-a:70");
  dir.write("pair.a.g2.tui-pid", "4242:boot-a:77");
  dir.write("pair.a.claude-pid", "4243:boot-a:88");
  dir.write("pair.b.claude-pid", "4244:boot-a:99");
  dir.write("pair.b.claude-exited", "0");
  dir.write("pair.c.claude-pid", "torn");
  const auto list = store(ForeignKind::kPairs)->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ(list->at(0).name, "c.controller");
  EXPECT_NE(list->at(0).problem, "");
  const Record terminal = record_of(list->at(1));
  EXPECT_EQ(terminal.session_id, "a.terminal");
  EXPECT_EQ(terminal.process.pid, 4242);
  EXPECT_EQ(terminal.process.boot_id, "boot-a");
  EXPECT_EQ(terminal.process.start_token, "77");
  EXPECT_EQ(terminal.version, "g2");
  const Record controller = record_of(list->at(2));
  EXPECT_EQ(controller.session_id, "a.controller");
  EXPECT_EQ(controller.process.pid, 4243);
}

TEST_F(ForeignStoreTest, OfPairsInSecondsNamesNoStartThatCouldDiffer) {
  dir.write("pair.a.claude-pid", "4243:1785713468:1785800000");
  const auto list = store(ForeignKind::kPairs)->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 1u);
  const Record controller = record_of(list->at(0));
  EXPECT_EQ(controller.process.start_token, "");
  EXPECT_FALSE(controller.process.boot_id);
}

}  // namespace
}  // namespace rollcall
