// What is written is read back as the same record.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/text.hpp"
#include "registry/record_samples.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace {

using testing::kSampleId;
using testing::sample_json;
using testing::sample_record;

Record round_trip(const Record& record) {
  const auto text = serialize_record(record);
  EXPECT_TRUE(text) << text.error().message;
  auto read = parse_record(*text, record.session_id);
  EXPECT_TRUE(read) << read.error().text << "\n" << *text;
  return *read;
}

TEST(SerializeRecord, WritesOneLineThatReadsBackTheSame) {
  Record record = sample_record();
  record.door_token = "t0ken";
  record.door = DoorSpec{.kind = "unix", .settings = {{"path", "/run/\"x\"\n"}}};
  record.metadata = {{"owner", "a\tb"}, {"empty", ""}};
  const auto text = serialize_record(record);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find('\n'), text->size() - 1);
  const Record read = round_trip(record);
  EXPECT_EQ(read.process, record.process);
  EXPECT_EQ(read.url, record.url);
  EXPECT_EQ(read.door, record.door);
  EXPECT_EQ(read.door_token, record.door_token);
  EXPECT_EQ(read.metadata, record.metadata);
  EXPECT_EQ(read.outlives_launcher, record.outlives_launcher);
  EXPECT_EQ(*serialize_record(read), *text);
}

TEST(SerializeRecord, LeavesOutWhatIsAbsentAndWritesNoDoorAsNull) {
  Record record = sample_record();
  record.url.reset();
  record.process = {.pid = 7, .start_token = "1"};
  const auto text = serialize_record(record);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(R"("url":null)"), std::string::npos);
  for (const std::string_view key :
       {"boot_id", "exact_id", "host_id", "namespace", "door", "metadata", "workdir_bytes_hex"}) {
    EXPECT_EQ(text->find(key), std::string::npos) << key;
  }
}

TEST(SerializeRecord, WritesUnknownKeysBack) {
  const std::string more = R"(,"x":{"deep":[1,2.50,null,{"y":"z"}]},"metadata":{"a":"b","n":5},)"
                           R"("door":{"kind":"http","port":8080},"later":true)";
  const auto record = parse_record(sample_json("4242", more), kSampleId);
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_EQ(record->metadata.size(), 1U);
  EXPECT_TRUE(record->door->settings.empty());
  const auto text = serialize_record(*record);
  ASSERT_TRUE(text);
  for (const std::string_view part :
       {R"("x":{"deep":[1,2.50,null,{"y":"z"}]})", R"("metadata":{"a":"b","n":5})",
        R"("door":{"kind":"http","port":8080})", R"("later":true)"}) {
    EXPECT_NE(text->find(part), std::string::npos) << part << " in " << *text;
  }
  EXPECT_EQ(*serialize_record(*parse_record(*text, kSampleId)), *text);
}

TEST(SerializeRecord, DoesNotLetUnknownKeysOverrideKnownOnes) {
  Record record = sample_record();
  record.metadata["a"] = "mine";
  record.unknown_json = R"({"pid":1,"session_id":"x","metadata":{"a":5}})";
  const Record read = round_trip(record);
  EXPECT_EQ(read.process.pid, 4242);
  EXPECT_EQ(read.metadata.at("a"), "mine");
}

TEST(SerializeRecord, KeepsTheBytesOfAWorkdirThatIsNotUtf8) {
  Record record = sample_record();
  record.workdir = "/tmp/\xFF\xFE/\xC3\xA9";
  const auto text = serialize_record(record);
  ASSERT_TRUE(text);
  EXPECT_TRUE(text::is_utf8(*text));
  EXPECT_EQ(round_trip(record).workdir, record.workdir);
}

TEST(SerializeRecord, TakesAnEditedWorkdirOverItsOldBytes) {
  const auto record =
      parse_record(sample_json("4242", R"(,"workdir_bytes_hex":"2f746d702fff")"), kSampleId);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->workdir, "/srv/work");
}

TEST(SerializeRecord, EscapesBadBytesInTextForPeople) {
  Record record = sample_record();
  record.name = "a\xFF";
  record.version = "\xFE";
  record.metadata["k"] = "\x80";
  const Record read = round_trip(record);
  EXPECT_EQ(read.name, "a\\xff");
  EXPECT_EQ(read.version, "\\xfe");
  EXPECT_EQ(read.metadata.at("k"), "\\x80");
}

TEST(SerializeRecord, RefusesWhatNoReaderWouldTake) {
  const auto refused = [](auto change) {
    Record record = sample_record();
    change(record);
    const auto text = serialize_record(record);
    return !text && text.error().code == ErrorCode::kInvalid;
  };
  EXPECT_TRUE(refused([](Record& r) { r.session_id = "../x"; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.pid = 0; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.pid = 2147483648; }));
  EXPECT_TRUE(refused([](Record& r) { r.process = {.pid = 1}; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.boot_id = ""; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.host_id = ""; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.exact_id = "12a"; }));
  EXPECT_TRUE(refused([](Record& r) { r.process.start_token = "\xFF"; }));
  EXPECT_TRUE(refused([](Record& r) { r.url = "\xFF"; }));
  EXPECT_TRUE(refused([](Record& r) { r.door_token = "a b"; }));
  EXPECT_TRUE(refused([](Record& r) { r.door = DoorSpec{}; }));
  EXPECT_TRUE(refused([](Record& r) { r.unknown_json = "[1]"; }));
  EXPECT_TRUE(refused([](Record& r) {
    r.door = DoorSpec{.kind = "k", .settings = {{"a", "1"}, {"a", "2"}}};
  }));
}

TEST(SerializeRecord, NeverPutsATokenIntoItsError) {
  Record record = sample_record();
  record.door_token = "s3cr3t s3cr3t";
  const auto text = serialize_record(record);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message.find("s3cr3t"), std::string::npos);
}

TEST(SerializeRecord, RefusesARecordThatNoReaderWouldOpen) {
  Record record = sample_record();
  record.metadata["k"] = std::string(kMaxRecordBytes, 'x');
  const auto text = serialize_record(record);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace rollcall
