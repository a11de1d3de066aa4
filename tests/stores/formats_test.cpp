// What other programs write, and what becomes of it.
#include <gtest/gtest.h>

#include "stores/formats.hpp"

namespace rollcall::stores {
namespace {

constexpr std::int64_t kWrittenNs = 1'790'000'000'123'000'000;
constexpr std::string_view kHex = "00ff17";

std::string receipt(std::string_view more = {}) {
  return R"({"schema":"supercode.live-runtime.v1","receipt_id":"00ff17",)"
         R"("runtime_session_id":"r1","source":{"harness":"h","session_id":"s1",)"
         R"("workspace":"/srv"},"base_url":"http://127.0.0.1:4100","token":"s3cr3t",)"
         R"("pid":4242,"created_at_ms":1790000000123,"metadata":{})" +
         std::string(more) + "}";
}

std::string jupyter(std::string_view rest) {
  return R"({"pid":4242,"port":8888,"version":"1.23.3","root_dir":"/srv","token":"t0ken",)" +
         std::string(rest) + "}";
}

TEST(ThreeLayerRecord, IsReadByItsWritersKeys) {
  const auto record = read_three_layer(
      R"({"session_id":"s1","url":"127.0.0.1:4100","pid":4242,"process_start":"77",)"
      R"("capsule_name":"agent","capsule_version":"1.2","workdir":"/srv",)"
      R"("outlives_launcher":true,"started_at":"2026-01-01T00:00:00Z","door_token":"t"})",
      {"s1", 0});
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->name, "agent");
  EXPECT_EQ(record->version, "1.2");
  EXPECT_EQ(record->process.start_token, "77");
  EXPECT_FALSE(record->process.boot_id);
  EXPECT_TRUE(record->outlives_launcher);
  EXPECT_EQ(record->door_token, "t");
}

TEST(ThreeLayerRecord, HoldsToTheRulesOfARecord) {
  const auto broken = read_three_layer(
      R"({"session_id":"s1","url":null,"pid":0,"process_start":"77","capsule_name":"a",)"
      R"("capsule_version":"1","workdir":"/","outlives_launcher":true,"started_at":""})",
      {"s1", 0});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("pid"), std::string::npos);
  EXPECT_FALSE(read_three_layer(R"({"session_id":"s1"})", {"s1", 0}));
  EXPECT_FALSE(read_three_layer("", {"s1", 0}));
}

TEST(ForeignReceipt, GivesNeitherItsAddressNorItsToken) {
  const auto record = read_receipt(receipt(), {kHex, 0});
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->session_id, kHex);
  EXPECT_EQ(record->process.pid, 4242);
  EXPECT_EQ(record->process.start_token, "");
  EXPECT_EQ(record->name, "h");
  EXPECT_EQ(record->workdir, "/srv");
  EXPECT_EQ(record->started_at, "2026-09-21T14:13:20.123Z");
  EXPECT_EQ(record->metadata.at("endpoint"), "supercode-live://00ff17");
  EXPECT_FALSE(record->url);
  EXPECT_FALSE(record->door_token);
  const auto bytes = serialize_record(*record);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->find("s3cr3t"), std::string::npos);
  EXPECT_EQ(bytes->find("4100"), std::string::npos);
}

TEST(ForeignReceipt, OfAnotherSchemaOrNameIsNone) {
  EXPECT_FALSE(read_receipt(receipt(), {"00ff18", 0}));
  std::string other = receipt();
  other.replace(other.find(".v1"), 3, ".v2");
  EXPECT_FALSE(read_receipt(other, {kHex, 0}));
  EXPECT_FALSE(read_receipt(receipt(R"(,"pid":1)"), {kHex, 0})) << "a key twice";
  EXPECT_FALSE(read_receipt("{}", {kHex, 0}));
}

TEST(ForeignRow, IsReadByKeysThatCanBeSet) {
  const auto usual = read_row(
      R"({"pid":4242,"sessionId":"6f1c","startedAt":1790000000123,"cwd":"/srv","more":[1]})", {});
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(usual->session_id, "6f1c");
  EXPECT_EQ(usual->started_at, "2026-09-21T14:13:20.123Z");
  EXPECT_EQ(usual->workdir, "/srv");
  const auto other = read_row(R"({"p":4242,"id":"6f1c","at":"2026-09-21T14:13:20Z","dir":"/srv"})",
                              {"p", "id", "at", "dir"});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->started_at, "2026-09-21T14:13:20Z");
}

TEST(ForeignRow, WithoutATimeHasNone) {
  const auto row = read_row(R"({"pid":4242,"sessionId":"6f1c"})", {});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->started_at, "");
}

TEST(ForeignRow, WhosePidIsNoneIsNone) {
  for (const std::string_view pid : {"0", "-1", "2147483648", "4242.0", "\"4242\"", "null", "true",
                                     "[5]", "1e3", "18446744073709551616"}) {
    const std::string row = R"({"sessionId":"6f1c","pid":)" + std::string(pid) + "}";
    EXPECT_FALSE(read_row(row, {})) << pid;
  }
  EXPECT_FALSE(read_row(R"({"pid":4242,"sessionId":7})", {}));
  EXPECT_FALSE(read_row(R"({"pid":4242,"sessionId":"a","startedAt":9223372036854775807})", {}));
  EXPECT_FALSE(read_row(R"({"pid":4242,"sessionId":"a","startedAt":-1})", {}));
}

TEST(JupyterFile, HasADoorOnLoopbackAndTheTimeOfItsFile) {
  const auto record =
      read_jupyter(jupyter(R"("hostname":"localhost","base_url":"/lab/","secure":false,"sock":"")"),
                   {"jpserver-4242", kWrittenNs});
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->session_id, "jpserver-4242");
  EXPECT_EQ(record->name, "jupyter-server");
  EXPECT_EQ(record->url, "localhost:8888");
  EXPECT_EQ(record->door_token, "t0ken");
  EXPECT_EQ(record->started_at, "2026-09-21T14:13:20.123Z");
  ASSERT_TRUE(record->door);
  EXPECT_EQ(record->door->kind, "jupyter");
  EXPECT_EQ(record->door->settings.at(0).second, "/lab/api/status");
}

TEST(JupyterFile, OfAServerThatListensEverywhereIsAskedOnLoopback) {
  for (const std::string_view host : {"0.0.0.0", "", "*", "::"}) {
    const auto record = read_jupyter(jupyter("\"hostname\":\"" + std::string(host) + "\""),
                                     {"jpserver-4242", kWrittenNs});
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->url, "localhost:8888") << host;
  }
  const auto six = read_jupyter(jupyter(R"("hostname":"::1")"), {"jpserver-4242", kWrittenNs});
  ASSERT_TRUE(six);
  EXPECT_EQ(six->url, "[::1]:8888");
  const auto far = read_jupyter(jupyter(R"("hostname":"10.0.0.7")"), {"jpserver-4242", kWrittenNs});
  ASSERT_TRUE(far);
  EXPECT_EQ(far->url, "10.0.0.7:8888") << "the host's rule on addresses is for the host";
}

TEST(JupyterFile, OfASecureServerIsNotSpokenToAndOfASocketIsHeldToIt) {
  const auto secure = read_jupyter(jupyter(R"("secure":true)"), {"jpserver-4242", kWrittenNs});
  ASSERT_TRUE(secure);
  EXPECT_EQ(secure->url, "https://localhost:8888");
  const auto sock = read_jupyter(jupyter(R"("sock":"/run/j.sock")"), {"jpserver-4242", kWrittenNs});
  ASSERT_TRUE(sock);
  EXPECT_FALSE(sock->url);
  EXPECT_EQ(sock->door->kind, "unix");
  EXPECT_FALSE(sock->door_token);
}

TEST(JupyterFile, WhosePidIsNotThatOfItsNameIsNone) {
  EXPECT_FALSE(read_jupyter(jupyter(R"("secure":false)"), {"jpserver-4243", kWrittenNs}));
  EXPECT_FALSE(read_jupyter(R"({"pid":4242,"port":"8888"})", {"jpserver-4242", kWrittenNs}));
  EXPECT_FALSE(read_jupyter(R"({"pid":4242,"port":0})", {"jpserver-4242", kWrittenNs}));
}

TEST(JupyterFile, WithATokenThatIsNoneHasNone) {
  for (const std::string_view token : {"\"\"", "\"a b\"", "\"a\\r\\nX: y\"", "null"}) {
    const auto record =
        read_jupyter(R"({"pid":4242,"port":8888,"token":)" + std::string(token) + "}",
                     {"nbserver-4242", kWrittenNs});
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_FALSE(record->door_token) << token;
    EXPECT_EQ(record->name, "jupyter-notebook");
  }
}

TEST(ForeignFiles, AreKnownByTheirNames) {
  EXPECT_TRUE(is_file_of(ForeignKind::kReceipts, "0f.json"));
  EXPECT_FALSE(is_file_of(ForeignKind::kReceipts, "0F.json"));
  EXPECT_FALSE(is_file_of(ForeignKind::kReceipts, "x.json"));
  EXPECT_TRUE(is_file_of(ForeignKind::kJupyter, "jpserver-7.json"));
  EXPECT_TRUE(is_file_of(ForeignKind::kJupyter, "nbserver-7.json"));
  EXPECT_FALSE(is_file_of(ForeignKind::kJupyter, "jpserver-7-open.html"));
  EXPECT_FALSE(is_file_of(ForeignKind::kJupyter, "kernel-7.json"));
  EXPECT_TRUE(is_file_of(ForeignKind::kRows, "4242.json"));
  EXPECT_FALSE(is_file_of(ForeignKind::kRows, ".json"));
  EXPECT_FALSE(is_file_of(ForeignKind::kRows, "4242.json.tmp"));
}

}  // namespace
}  // namespace rollcall::stores
