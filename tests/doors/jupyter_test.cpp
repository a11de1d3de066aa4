// A Jupyter server is proven by its token: it refuses another, takes its own, and started no
// earlier than its process.
#include <gtest/gtest.h>

#include <string>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"
#include "jupyter_door/jupyter_conversation.hpp"

namespace rollcall::test {
namespace {

constexpr const char* kStarted = "2026-11-29T19:00:00.250000Z";
constexpr std::int64_t kStartedNs = 1'795'978'800'250'000'000;
constexpr std::int64_t kS = 1'000'000'000;
const std::string kForbidden =
    "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

std::string status_naming(const std::string& started) {
  return ok_response(R"({"connections":0,"kernels":0,"last_activity":"2026-11-29T19:00:05Z",)"
                     R"("started":")" +
                     started + "\"}");
}

bool has_token(const std::string& request) {
  return request.find("\r\nAuthorization: token " + std::string(kToken) + "\r\n") !=
         std::string::npos;
}

// Answers the wrong token, and the right one.
DoorServer::Behaviour jupyter(std::string wrong, std::string right) {
  return [wrong = std::move(wrong), right = std::move(right)](DoorConnection& door) {
    const std::string request = door.read_request();
    if (!request.empty()) door.send(has_token(request) ? right : wrong);
  };
}

Record server_record(const DoorServer& server, std::optional<std::string> token = kToken) {
  return record_of(DoorSpec{"jupyter", {{"path", "/base/api/status"}}}, server.url(),
                   std::move(token));
}

Asking began(std::optional<std::int64_t> start_unix_ns) {
  Asking asking;
  asking.start_unix_ns = start_unix_ns;
  return asking;
}

std::string outcome(DoorServer& server, const Asking& asking = began(kStartedNs - kS)) {
  return outcome_of(ask_one(server_record(server), asking));
}

TEST(JupyterDoor, IsProvenByATokenThatItTakesAndOneThatItRefuses) {
  DoorServer server(jupyter(kForbidden, status_naming(kStarted)));
  EXPECT_EQ(outcome(server), "live");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  for (const std::string& request : requests) {
    EXPECT_EQ(request.find("GET /base/api/status HTTP/1.1\r\nHost: " + server.url() + "\r\n"), 0U);
    EXPECT_NE(request.find("\r\nAuthorization: token "), std::string::npos);
    EXPECT_EQ(request.find(kSession), std::string::npos) << "the session is nobody's business";
  }
  EXPECT_FALSE(has_token(requests[0])) << "the wrong one goes first";
  EXPECT_TRUE(has_token(requests[1]));
}

TEST(JupyterDoor, GetsNoTokenWhereItTakesAnyOther) {
  DoorServer server(jupyter(status_naming(kStarted), status_naming(kStarted)));
  EXPECT_EQ(outcome(server), "no-session");
  for (const std::string& request : server.requests()) EXPECT_FALSE(has_token(request));
}

TEST(JupyterDoor, IsAnotherServerWhereItRefusesTheToken) {
  DoorServer server(jupyter(kForbidden, kForbidden));
  EXPECT_EQ(outcome(server), "token-refused");
}

TEST(JupyterDoor, IsAnotherServerWhereItStartedBeforeItsProcess) {
  DoorServer server(jupyter(kForbidden, status_naming(kStarted)));
  EXPECT_EQ(outcome(server, began(kStartedNs + 5 * kS)), "live");
  EXPECT_EQ(outcome(server, began(kStartedNs + 5 * kS + 1)), "no-session");
  EXPECT_EQ(outcome(server, began(std::nullopt)), "no-session");
}

TEST(JupyterDoor, IsNotBelievedWithoutAStartThatMakesSense) {
  for (const char* started : {"", "now", "2026-11-29T19:00:00", "2026-11-29T19:00:00+02:00",
                              "2026-13-29T19:00:00Z", "2026-11-29 19:00:00Z"}) {
    DoorServer server(jupyter(kForbidden, status_naming(started)));
    EXPECT_EQ(outcome(server), "no-session") << started;
  }
  for (const char* body :
       {"{}", "[]", R"({"started":7})",
        R"({"started":"2026-11-29T19:00:00Z","started":"2026-11-29T19:00:00Z"})"}) {
    DoorServer server(jupyter(kForbidden, ok_response(body)));
    EXPECT_EQ(outcome(server), "no-session") << body;
  }
  DoorServer server(jupyter(kForbidden, ok_response("<html>")));
  EXPECT_EQ(outcome(server), "not-json");
}

TEST(JupyterDoor, WithoutATokenCannotBeProven) {
  DoorServer server(jupyter(kForbidden, status_naming(kStarted)));
  EXPECT_EQ(outcome_of(ask_one(server_record(server, std::nullopt), began(kStartedNs))),
            "token-missing");
  for (const std::string& request : server.requests()) EXPECT_EQ(request, "");
}

TEST(JupyterDoor, OfAStrangerIsSentNothing) {
  DoorServer server(jupyter(kForbidden, status_naming(kStarted)));
  PortProbe probe(Ownership::kForeign);
  EXPECT_EQ(outcome_of(ask_one(server_record(server), probe, began(kStartedNs))),
            "foreign-listener");
  for (const std::string& request : server.requests()) EXPECT_EQ(request, "");
}

TEST(JupyterDoor, TakesWhenItsProcessBeganFromTheHostAlone) {
  DoorServer server(jupyter(kForbidden, status_naming(kStarted)));
  auto record = server_record(server);
  record.door->settings.emplace_back("host.process_start_unix_ns", "1");
  EXPECT_EQ(outcome_of(ask_one(record, began(std::nullopt))), "no-session");
  record.door->settings.insert(record.door->settings.begin(),
                               {"host.process_start_unix_ns", "9000000000000000000"});
  EXPECT_EQ(outcome_of(ask_one(record, began(kStartedNs))), "live");
}

TEST(JupyterDoor, ThatAnswersOtherwiseIsUnreachable) {
  DoorServer busy(jupyter("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", ""));
  EXPECT_EQ(outcome(busy), "http-status");
  DoorServer moved(jupyter("HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", ""));
  EXPECT_EQ(outcome(moved), "http-status");
  for (const std::string& request : moved.requests()) EXPECT_FALSE(has_token(request));
}

TEST(JupyterTime, IsReadToTheNanosecondInUtcOnly) {
  EXPECT_EQ(doors::parse_utc(kStarted), kStartedNs);
  EXPECT_EQ(doors::parse_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(doors::parse_utc("2024-02-29T12:00:00.000000001+00:00"), 1'709'208'000'000'000'001);
  EXPECT_EQ(doors::parse_utc("2000-03-01T00:00:00Z"), 951'868'800'000'000'000);
  for (const char* text :
       {"", "2026-11-29T19:00:00.Z", "2026-11-29T19:00:00.1234567890Z", "2026-11-29T24:00:00Z",
        "2026-1-29T19:00:00Z", "2026-11-29T19:00:00Zx", "2026-11-29T19:00:00z"}) {
    EXPECT_FALSE(doors::parse_utc(text)) << text;
  }
}

}  // namespace
}  // namespace rollcall::test
