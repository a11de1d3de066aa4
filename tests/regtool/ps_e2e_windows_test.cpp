#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "regtool/regtool_windows_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Ps : public RegtoolTest {};

TEST_F(Ps, SaysThatNothingRunsAndCreatesNothing) {
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  EXPECT_EQ(ran.out, "no running sessions\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "home"));
}

TEST_F(Ps, ShowsALiveSessionWithEveryKey) {
  auto live = session("s-live", {"sleep"}, {"--name", "n", "--version", "1.2", "--label", "a=b"});
  const auto json = parse_json(run({"ps", "--json"}).out);
  ASSERT_EQ(at(json, "sessions").Size(), 1U);
  const auto& row = at(json, "sessions.0");
  EXPECT_EQ(string_at(row, "session_id"), "s-live");
  EXPECT_EQ(number_at(row, "pid"), live.child.pid());
  EXPECT_EQ(string_at(row, "url").rfind("http://127.0.0.1:", 0), 0U);
  EXPECT_GE(number_at(row, "uptime_s"), 0);
  EXPECT_EQ(string_at(row, "labels.a"), "b");
  EXPECT_EQ(string_at(row, "status"), "live");
  EXPECT_TRUE(at(row, "reason").IsNull());
}

TEST_F(Ps, NamesASessionByTheFileOfItsCommand) {
  auto live = session("s-live", {"sleep"});
  EXPECT_EQ(string_at(parse_json(run({"ps", "--json"}).out), "sessions.0.name"),
            "rollcall_actor.exe");
}

TEST_F(Ps, PrunesOnEvidenceAndSaysSo) {
  Child alive = Child::sleeper();
  put_record_of("s-alive", alive);
  put_record_of("s-reused", alive);
  forge_start("s-reused");
  {
    Child ended = Child::sleeper();
    put_record_of("s-ended", ended);
  }
  const Ran kept = run({"ps", "--no-prune", "--json"});
  EXPECT_TRUE(has_record("s-reused") && has_record("s-ended"));
  const Ran ran = run({"ps", "-q"});
  EXPECT_EQ(ran.code, 0U);
  EXPECT_EQ(ran.out, "s-alive\n");
  EXPECT_NE(ran.err.find("pruned: s-reused: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("another time"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("pruned: s-ended: "), std::string::npos) << ran.err;
  EXPECT_TRUE(has_record("s-alive"));
  EXPECT_FALSE(has_record("s-reused"));
  EXPECT_FALSE(has_record("s-ended"));
  EXPECT_NE(run({"ps", "--gone"}).out.find("s-reused"), std::string::npos);
}

TEST_F(Ps, KeepsARecordOfAnotherBootUnlessItIsProven) {
  Child alive = Child::sleeper();
  put_record_of("s-earlier", alive);
  put_record_of("s-odd", alive);
  const std::int64_t boot = std::atoll(string_at(read_record("s-odd"), "boot_id").c_str());
  ASSERT_GT(boot, 0);
  alter_record("s-earlier", "boot_id", std::to_string(boot - 86'400));
  alter_record("s-odd", "boot_id", std::string("no number"));
  (void)run({"ps"});
  EXPECT_FALSE(has_record("s-earlier"));
  EXPECT_TRUE(has_record("s-odd"));
}

TEST_F(Ps, ListsAThousandRecords) {
  Child alive = Child::sleeper();
  put_record_of("s-0000", alive);
  auto record = read_record("s-0000");
  for (int i = 1; i < 1000; ++i) {
    char id[16];
    std::snprintf(id, sizeof id, "s-%04d", i);
    record["session_id"].SetString(id, record.GetAllocator());
    put_record(id, record);
  }
  const Ran ran = run({"ps", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  ASSERT_EQ(at(json, "sessions").Size(), 1000U);
  EXPECT_EQ(string_at(json, "sessions.0.session_id"), "s-0999");
  EXPECT_EQ(string_at(json, "sessions.0.status"), "live");
  EXPECT_EQ(at(json, "unreadable").Size(), 0U);
}

TEST_F(Ps, WritesValidJsonAndCleanTextWhateverARecordHolds) {
  auto live = session(
      "s-live", {"sleep"},
      {"--name", "\x1b[31mred\x07 \xE2\x80\xAE \xF0\x9F\x98\x80", "--label", "k=\t\x01\"\\"});
  put_record("s-torn", rapidjson::Document(rapidjson::kObjectType));
  std::ofstream(record_path("s-bytes"), std::ios::binary) << "\xFF\xFE{\"a\":\"\x80\"}";
  const Ran json = run({"ps", "--json"});
  const auto document = parse_json(json.out);
  EXPECT_EQ(at(document, "unreadable").Size(), 2U) << json.out;
  EXPECT_EQ(string_at(document, "sessions.0.labels.k"), "\t\x01\"\\");
  const Ran text = run({"ps", "--wide"});
  expect_clean(text.out);
  expect_clean(text.err);
  expect_clean(run({"verify", "--explain", "s-live"}).out);
}

TEST_F(Ps, EndsQuietlyWhereNobodyReads) {
  auto started = start({"ps"});
  started.out = core::Handle();
  const Ran ran = finish(std::move(started));
  EXPECT_EQ(ran.code, 5U);
  EXPECT_EQ(ran.err, "");
}

TEST_F(Ps, EndsQuietlyWhereItsReaderHungUp) {
  const std::wstring name =
      L"\\\\.\\pipe\\rollcall-test-" + std::to_wstring(::GetCurrentProcessId());
  const core::Handle server(::CreateNamedPipeW(name.c_str(), PIPE_ACCESS_INBOUND,
                                               PIPE_TYPE_BYTE | PIPE_WAIT, 1, 0, 0, 0, nullptr));
  const core::Handle client(
      ::CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_NE(::DisconnectNamedPipe(server.get()), 0);
  Pipe err = Pipe::from_child();
  Started started;
  started.child = Child::exec(program(), {"regtool", "--trust-plugins", "ps"},
                              {nullptr, client.get(), err.theirs.get()});
  started.err = std::move(err.ours);
  const Ran ran = finish(std::move(started));
  EXPECT_EQ(ran.code, 5U);
  EXPECT_EQ(ran.err, "");
}

}  // namespace
}  // namespace rollcall::regtool
