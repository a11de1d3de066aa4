// What is a record and what is none.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "registry/record_samples.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace {

using testing::kSampleId;
using testing::sample_json;
using testing::sample_record;

tl::expected<Record, RecordError> parse(std::string_view text) {
  return parse_record(text, kSampleId);
}

void expect_problem(std::string_view text, RecordProblem problem) {
  const auto record = parse(text);
  ASSERT_FALSE(record) << text.substr(0, 300);
  EXPECT_EQ(static_cast<int>(record.error().problem), static_cast<int>(problem))
      << record.error().text << "\n"
      << text.substr(0, 300);
  EXPECT_FALSE(record.error().text.empty());
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseRecord, ReadsEveryField) {
  const auto record = parse(sample_json("4242", R"(,"boot_id":"b","exact_id":"17","host_id":"h",)"
                                                R"("pid_namespace":"1","time_namespace":"2",)"
                                                R"("door_token":"abc","metadata":{"k":"v"},)"
                                                R"("door":{"kind":"unix","path":"/run/x"},)"
                                                R"("schema":"rollcall.record/1")"));
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_EQ(record->session_id, kSampleId);
  EXPECT_EQ(record->url, "127.0.0.1:4242");
  EXPECT_EQ(record->process, (ProcessIdentity{.pid = 4242,
                                              .start_token = "78475",
                                              .boot_id = "b",
                                              .exact_id = "17",
                                              .host_id = "h",
                                              .pid_namespace = "1",
                                              .time_namespace = "2"}));
  EXPECT_EQ(record->name, "worker");
  EXPECT_EQ(record->version, "1.4.2");
  EXPECT_EQ(record->workdir, "/srv/work");
  EXPECT_FALSE(record->outlives_launcher);
  EXPECT_EQ(record->started_at, "2026-09-15T21:54:57Z");
  EXPECT_EQ(record->door_token, "abc");
  EXPECT_EQ(record->door, (DoorSpec{.kind = "unix", .settings = {{"path", "/run/x"}}}));
  EXPECT_EQ(record->metadata.at("k"), "v");
  EXPECT_TRUE(record->unknown_json.empty());
}

TEST(ParseRecord, TakesANullUrlAsNoDoor) {
  const auto record = parse(replaced(sample_json(), R"("127.0.0.1:4242")", "null"));
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_FALSE(record->has_door());
}

TEST(ParseRecord, SkipsAByteOrderMarkAndTakesCarriageReturns) {
  std::string text = "\xEF\xBB\xBF" + sample_json();
  for (std::size_t at = text.find(",\""); at != std::string::npos; at = text.find(",\"", at + 3)) {
    text.insert(at + 1, "\r\n");
  }
  EXPECT_TRUE(parse(text + "\r\n"));
}

TEST(ParseRecord, RefusesUtf16) {
  std::string little("\xFF\xFE");
  std::string bare;
  for (const char c : sample_json()) {
    little.append({c, '\0'});
    bare.append({c, '\0'});
  }
  expect_problem(little, RecordProblem::kInvalid);
  expect_problem(bare, RecordProblem::kInvalid);
}

TEST(ParseRecord, CallsEmptyAndZeroFilledFilesTorn) {
  expect_problem("", RecordProblem::kTorn);
  expect_problem(" \n", RecordProblem::kTorn);
  expect_problem(std::string(4096, '\0'), RecordProblem::kTorn);
  expect_problem(sample_json() + std::string(100, '\0'), RecordProblem::kTorn);
}

TEST(ParseRecord, CallsEveryProperPrefixTorn) {
  const std::string text = sample_json("4242", R"(,"metadata":{"a":[1,tru)"
                                               R"(e],"b":"\u00e9"})");
  ASSERT_TRUE(parse(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    expect_problem(text.substr(0, size), RecordProblem::kTorn);
  }
}

TEST(ParseRecord, RefusesAnythingBehindTheDocument) {
  for (const std::string_view tail : {"x", "{}", "null", "}", ",", "//", "\n{}"}) {
    expect_problem(sample_json() + std::string(tail), RecordProblem::kInvalid);
  }
  EXPECT_TRUE(parse(sample_json() + " \r\n\t"));
}

TEST(ParseRecord, RefusesWhatIsNoObject) {
  for (const std::string_view text : {"[]", "null", "5", "\"x\"", "true", "NaN", "'a'", "[{}]"}) {
    expect_problem(text, RecordProblem::kInvalid);
  }
}

TEST(ParseRecord, RefusesValuesThatAreNoPid) {
  for (const std::string_view pid : {"0",
                                     "-1",
                                     "-2",
                                     "-0",
                                     "2147483648",
                                     "4294967295",
                                     "18446744073709551616",
                                     "4242.0",
                                     "4.242e3",
                                     "4242e0",
                                     "\"4242\"",
                                     "\" 4242\"",
                                     "+5",
                                     "null",
                                     "true",
                                     "[5]",
                                     "{}",
                                     "007",
                                     "1e400",
                                     "0x10",
                                     "99999999999999999999999999999999999999"}) {
    expect_problem(sample_json(pid), RecordProblem::kInvalid);
  }
  EXPECT_EQ(parse(sample_json("2147483647"))->process.pid, 2147483647);
}

TEST(ParseRecord, RefusesPidOneWithoutAStartToken) {
  EXPECT_TRUE(parse(sample_json("1")));
  expect_problem(replaced(sample_json("1"), R"("78475")", R"("")"), RecordProblem::kInvalid);
}

TEST(ParseRecord, NeedsEveryRequiredKey) {
  for (const std::string_view key : {"session_id", "url", "pid", "process_start", "name", "version",
                                     "workdir", "outlives_launcher", "started_at"}) {
    const std::string quoted = "\"" + std::string(key) + "\"";
    const auto record = parse(replaced(sample_json(), quoted, "\"other\""));
    ASSERT_FALSE(record) << key;
    EXPECT_EQ(record.error().text, "`" + std::string(key) + "` is missing");
  }
}

TEST(ParseRecord, RefusesAnyKeyTwice) {
  for (const std::string_view more :
       {R"(,"pid":1)", R"(,"p\u0069d":1)", R"(,"url":null)", R"(,"x":1,"x":2)",
        R"(,"metadata":{"a":"1","a":"2"})", R"(,"metadata":{"a":"1","a":2})",
        R"(,"metadata":{},"metadata":{})", R"(,"door":{"kind":"a","kind":"b"})",
        R"(,"door":{"kind":"a","p":"1","p":"2"})",
        R"(,"schema":"rollcall.record/1",)"
        R"("schema":"rollcall.record/1")"}) {
    expect_problem(sample_json("4242", more), RecordProblem::kInvalid);
  }
}

TEST(ParseRecord, RefusesWrongTypes) {
  for (const std::string_view key :
       {"boot_id", "exact_id", "host_id", "pid_namespace", "time_namespace", "door_token", "door",
        "metadata", "schema", "workdir_bytes_hex"}) {
    for (const std::string_view value : {"null", "5", "true", "[]", "[{}]"}) {
      const std::string more = ",\"" + std::string(key) + "\":" + std::string(value);
      expect_problem(sample_json("4242", more), RecordProblem::kInvalid);
    }
  }
  for (const std::string_view value : {"null", "5", "{}", "[]", "true"}) {
    expect_problem(replaced(sample_json(), R"("worker")", value), RecordProblem::kInvalid);
    expect_problem(replaced(sample_json(), R"("78475")", value), RecordProblem::kInvalid);
  }
  expect_problem(replaced(sample_json(), "false", "\"false\""), RecordProblem::kInvalid);
  expect_problem(replaced(sample_json(), R"("127.0.0.1:4242")", "4242"), RecordProblem::kInvalid);
}

TEST(ParseRecord, RefusesADoorWithoutAKind) {
  for (const std::string_view door :
       {"{}", R"({"kind":""})", R"({"kind":5})", R"({"path":"/x"})", R"({"kind":{"a":1}})"}) {
    expect_problem(sample_json("4242", ",\"door\":" + std::string(door)), RecordProblem::kInvalid);
  }
}

TEST(ParseRecord, RefusesATokenThatCouldInjectAHeader) {
  for (const std::string_view token : {"", "a b", R"(a\r\nX: y)", R"(\u0000)", R"(\u00e9)"}) {
    const std::string more = ",\"door_token\":\"" + std::string(token) + "\"";
    expect_problem(sample_json("4242", more), RecordProblem::kInvalid);
  }
}

TEST(ParseRecord, NeverPutsTheFilesContentIntoItsError) {
  const std::string secret = "s3cr3t-s3cr3t";
  for (const std::string& text :
       {sample_json("4242", ",\"door_token\":\"" + secret + " x\""),
        sample_json("4242", ",\"door_token\":\"" + secret), sample_json("\"" + secret + "\""),
        sample_json("4242", ",\"door\":\"" + secret + "\""),
        sample_json("4242", ",\"" + secret + "\":1,\"" + secret + "\":1"),
        sample_json("4242", ",\"schema\":\"" + secret + "\"")}) {
    const auto record = parse(text);
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().text.find("s3cr3t"), std::string::npos) << record.error().text;
  }
}

TEST(ParseRecord, TellsANewerSchemaFromAForeignOne) {
  const auto with = [](std::string_view schema) {
    return sample_json("4242", ",\"schema\":\"" + std::string(schema) + "\"");
  };
  EXPECT_TRUE(parse(with("rollcall.record/1")));
  for (const std::string_view schema :
       {"rollcall.record/2", "rollcall.record/10", "rollcall.record/99999999999999999999999"}) {
    expect_problem(with(schema), RecordProblem::kNewerSchema);
  }
  for (const std::string_view schema :
       {"", "rollcall.record/", "rollcall.record/0", "rollcall.record/01", "rollcall.record/1.0",
        "rollcall.record/-2", "rollcall.receipt/1", "rollcall.record/2x"}) {
    expect_problem(with(schema), RecordProblem::kInvalid);
  }
}

TEST(ParseRecord, LetsANewerSchemaDifferInEverythingElse) {
  expect_problem(R"({"pid":"p-17","schema":"rollcall.record/2"})", RecordProblem::kNewerSchema);
  expect_problem(R"({"schema":"rollcall.record/2","url":[1],"pid":{}})",
                 RecordProblem::kNewerSchema);
}

TEST(ParseRecord, WantsTheNameOfTheFileInside) {
  const auto record = parse_record(sample_json(), "another");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().problem, RecordProblem::kNameMismatch);
}

TEST(ParseRecord, RefusesAnIdThatIsNoFileName) {
  const std::string text = replaced(sample_json(), kSampleId, "../x");
  const auto record = parse_record(text, "../x");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().problem, RecordProblem::kInvalid);
}

TEST(ParseRecord, TakesAnEmptyIdentityPartForAReadingThatFailed) {
  for (const std::string_view key :
       {"boot_id", "exact_id", "host_id", "pid_namespace", "time_namespace"}) {
    const auto record = parse(sample_json("4242", R"(,"x":1,")" + std::string(key) + R"(":"")"));
    ASSERT_TRUE(record) << record.error().text;
    EXPECT_TRUE(record->process.start_token.empty()) << key;
    EXPECT_FALSE(record->process.boot_id) << key;
    EXPECT_FALSE(record->process.exact_id) << key;
    EXPECT_FALSE(record->process.host_id) << key;
  }
}

TEST(ParseRecord, WantsAnExactIdInPlainDecimal) {
  for (const std::string_view id : {"0x1", "12a", "-1", "007", " 1", "18446744073709551616"}) {
    expect_problem(sample_json("4242", ",\"exact_id\":\"" + std::string(id) + "\""),
                   RecordProblem::kInvalid);
  }
  EXPECT_EQ(parse(sample_json("4242", R"(,"exact_id":"18446744073709551615")"))->process.exact_id,
            "18446744073709551615");
}

TEST(ParseRecord, TakesAnyTextAsTheTime) {
  for (const std::string_view time :
       {"", "1970-01-01T00:00:00Z", "2106-02-07T06:28:16Z", "2026-01-01T24:61:00Z",
        "2026-01-01T00:00:00+09:00", "yesterday"}) {
    const auto record = parse(replaced(sample_json(), "2026-09-15T21:54:57Z", time));
    ASSERT_TRUE(record) << time;
    EXPECT_EQ(record->started_at, time);
  }
  expect_problem(replaced(sample_json(), "\"2026-09-15T21:54:57Z\"", "9007199254740993"),
                 RecordProblem::kInvalid);
}

TEST(ParseRecord, KeepsUnknownNumbersOfAnySize) {
  const auto record = parse(sample_json("4242", R"(,"n":18446744073709551617,"f":1.50)"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->unknown_json, R"({"n":18446744073709551617,"f":1.50})");
}

TEST(ParseRecord, RefusesBytesThatAreNotUtf8) {
  for (const std::string_view bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80",
                                     "\xE2\x82", R"(\ud800)", R"(\udc00)", R"(\ud800\u0041)"}) {
    expect_problem(replaced(sample_json(), "worker", bad), RecordProblem::kInvalid);
    expect_problem(sample_json("4242", ",\"x\":[{\"" + std::string(bad) + "\":1}]"),
                   RecordProblem::kInvalid);
    expect_problem(sample_json("4242", ",\"x\":[\"" + std::string(bad) + "\"]"),
                   RecordProblem::kInvalid);
  }
  const auto record = parse(replaced(sample_json(), "worker", R"(\ud83d\ude00 \ud7ff)"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->name, "\xF0\x9F\x98\x80 \xED\x9F\xBF");
}

TEST(ParseRecord, BoundsSizeAndDepth) {
  std::string big = sample_json();
  big.append(kMaxRecordBytes - big.size(), ' ');
  EXPECT_TRUE(parse(big));
  expect_problem(big + " ", RecordProblem::kInvalid);
  for (const std::size_t depth : {100UL, 10'000UL, 60'000UL}) {
    expect_problem(sample_json("4242", ",\"x\":" + std::string(depth, '[')),
                   RecordProblem::kInvalid);
  }
  expect_problem(std::string(60'000, '['), RecordProblem::kInvalid);
  const std::string nested = std::string(31, '[') + std::string(31, ']');
  EXPECT_TRUE(parse(sample_json("4242", ",\"x\":" + nested)));
  expect_problem(sample_json("4242", ",\"x\":[" + nested + "]"), RecordProblem::kInvalid);
}

// Whatever happens to a file, it is read as a record that could be written again, or as none.
TEST(ParseRecord, SurvivesRandomMutations) {
  std::mt19937 random(20260915);  // NOLINT(cert-msc51-cpp): the same mutations each time
  Record full = sample_record();
  full.door_token = "abc";
  full.door = DoorSpec{.kind = "http", .settings = {{"path", "/x"}}};
  full.metadata = {{"a", "b"}, {"c", "\xC3\xA9"}};
  full.unknown_json = R"({"x":[1,{"y":null}],"metadata":{"n":5}})";
  const std::string good = *serialize_record(full);
  const std::string_view alphabet = "{}[]\",:\\u0d8ntfe+-.1\xFF\xED\xA0";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        case 2:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
      if (text.empty()) text = "{";
    }
    const auto record = parse(text);
    if (!record) continue;
    ASSERT_TRUE(is_possible_pid(record->process.pid)) << text;
    ASSERT_EQ(record->session_id, kSampleId) << text;
    const auto again = serialize_record(*record);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_TRUE(text::is_utf8(*again)) << text;
    ASSERT_TRUE(parse(*again)) << *again;
  }
}

}  // namespace
}  // namespace rollcall
