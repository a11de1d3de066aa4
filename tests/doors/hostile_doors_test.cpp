// Doors that answer in every odd way, over real sockets, asked by the a2a plugin.
#include <Poco/Environment.h>
#include <gtest/gtest.h>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::test {
namespace {

struct Mode {
  const char* name;
  const char* outcome;
  DoorServer::Behaviour behave;  // once the request has come
  DoorLimits limits = kPatient;
};

DoorServer::Behaviour say(std::string text) {
  return [text = std::move(text)](DoorConnection& door) { door.send(text); };
}
DoorServer::Behaviour say_and_hold(std::string text) {
  return [text = std::move(text)](DoorConnection& door) {
    door.send(text);
    door.hold();
  };
}

std::string good() { return card_naming(kSession); }
std::string head(std::string_view status, std::string_view fields = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" +
         std::string(fields) + "\r\n";
}
std::string replaced(std::string text, std::string_view what, std::string_view with) {
  return text.replace(text.find(what), what.size(), with);
}

std::string one_byte_chunks() {
  std::string text = head("200 OK", "Transfer-Encoding: chunked\r\n");
  for (const char c : good()) text += std::string("1;x=y\r\n") + c + "\r\n";
  return text + "0\r\nX-Trailer: 1\r\n\r\n";
}

void drip(DoorConnection& door, const std::string& text) {
  for (const char c : text) {
    if (!door.send({&c, 1}) || !door.pause(50)) return;
  }
  door.hold();
}

void flood(DoorConnection& door, const std::string& first, const std::string& piece) {
  std::string block;
  while (block.size() < 4096) block += piece;
  bool going = door.send(first);
  while (going) going = door.send(block);
}

std::vector<Mode> live_modes() {
  return {
      {"Plain", "live", say(ok_response(good()))},
      {"NeverCloses", "live", say_and_hold(ok_response(good()))},
      {"OneByteChunksWithTrailer", "live", say(one_byte_chunks())},
      {"ChunkedAndKeptOpen", "live", say_and_hold(one_byte_chunks())},
      {"CloseDelimited10", "live", say("HTTP/1.0 200 OK\r\n\r\n" + good())},
      {"LowerCaseNames", "live",
       say(replaced(ok_response(good()), "Content-Length", "content-length"))},
      {"ConnectionClose", "live",
       say(replaced(ok_response(good()), "Content-Type", "Connection: close\r\nContent-Type"))},
      {"KeepAlive", "live",
       say_and_hold(replaced(ok_response(good()), "Content-Type",
                             "Connection: keep-alive\r\nContent-Type"))},
      {"ByteOrderMark", "live", say(ok_response("\xEF\xBB\xBF" + good()))},
      {"TextPlain", "live", say(replaced(ok_response(good()), "application/json", "text/plain"))},
      {"NoContentType", "live",
       say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(good().size()) + "\r\n\r\n" +
           good())},
      {"InterimResponses", "live",
       say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" +
           ok_response(good()))},
      {"InPieces", "live",
       [](DoorConnection& door) {
         const std::string text = ok_response(good());
         for (std::size_t at = 0; at < text.size(); at += 40) {
           if (!door.send(std::string_view(text).substr(at, 40)) || !door.pause(2)) return;
         }
       }},
  };
}

std::vector<Mode> dead_modes() {
  const std::string gzip = head("200 OK", "Content-Encoding: gzip\r\nContent-Length: 3\r\n");
  return {
      {"OtherSession", "other-session", say(ok_response(card_naming("ses_somebody_else")))},
      {"EmptySession", "no-session", say(ok_response(card_naming("")))},
      {"NoExtension", "no-session", say(ok_response(R"({"capabilities":{}})"))},
      {"JsonNull", "no-session", say(ok_response("null"))},
      {"JsonArray", "no-session", say(ok_response("[]"))},
      {"Html", "not-json", say(ok_response("<!doctype html>hello"))},
      {"EmptyBody", "not-json", say(ok_response(""))},
      {"NoContent", "http-status", say(head("204 No Content"))},
      {"PartialContent", "http-status",
       say(replaced(ok_response(good()), "200 OK", "206 Partial Content"))},
      {"ErrorWithAPerfectCard", "http-status",
       say(replaced(ok_response(good()), "200 OK", "500 Oops"))},
      {"NotFound", "http-status", say(head("404 Not Found", "Content-Length: 0\r\n"))},
      {"Unauthorized", "token-missing", say(head("401 Unauthorized", "Content-Length: 0\r\n"))},
      {"Forbidden", "http-status", say(head("403 Forbidden", "Content-Length: 0\r\n"))},
      {"Redirect", "http-status",
       say(head("302 Found", "Location: http://127.0.0.1:1/\r\nContent-Length: 0\r\n"))},
      {"EscapeInStatus", "bad-http",
       say(head("500 \x1b[2J\x1b]0;owned\x07", "Content-Length: 0\r\n"))},
      {"Truncated", "closed-early", say(head("200 OK", "Content-Length: 9999\r\n") + good())},
      {"TruncatedByReset", "closed-early",
       [](DoorConnection& door) {
         door.send(head("200 OK", "Content-Length: 9999\r\n"));
         door.reset();
       }},
      {"HangUp", "closed-early", [](DoorConnection&) {}},
      {"Reset", "closed-early", [](DoorConnection& door) { door.reset(); }},
      {"BadLength", "bad-http", say(head("200 OK", "Content-Length: -1\r\n") + good())},
      {"HugeLength", "too-large",
       say_and_hold(head("200 OK", "Content-Length: 1000000000000000000\r\n"))},
      {"Gzip", "bad-http", say(gzip + "xyz")},
      {"LengthAndChunked", "bad-http",
       say(head("200 OK", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n")},
      {"SshBanner", "bad-http", say_and_hold("SSH-2.0-OpenSSH_9.9\r\n")},
      {"TlsAlert", "bad-http", say_and_hold(std::string("\x15\x03\x01\x00\x02\x02\x46", 7))},
      {"EndlessBody", "too-large",
       [](DoorConnection& door) { flood(door, head("200 OK"), std::string(65536, ' ')); }},
      {"EndlessChunks", "too-large",
       [](DoorConnection& door) {
         flood(door, head("200 OK", "Transfer-Encoding: chunked\r\n"),
               "8000\r\n" + std::string(0x8000, ' ') + "\r\n");
       }},
      {"EndlessHeaderLine", "too-large",
       [](DoorConnection& door) {
         flood(door, "HTTP/1.1 200 OK\r\nX: ", std::string(65536, 'x'));
       }},
      {"EndlessHeaderLines", "too-large",
       [](DoorConnection& door) { flood(door, "HTTP/1.1 200 OK\r\n", "X: y\r\n"); }},
      {"EndlessInterims", "bad-http",
       [](DoorConnection& door) { flood(door, "", "HTTP/1.1 100 Continue\r\n\r\n"); }},
      {"Silent", "read-timeout", [](DoorConnection& door) { door.hold(); }, kHasty},
      {"HeaderDrip", "read-timeout", [](DoorConnection& door) { drip(door, ok_response(good())); },
       kHasty},
      {"BodyDrip", "read-timeout",
       [](DoorConnection& door) {
         door.send(head("200 OK", "Content-Length: 9999\r\n"));
         drip(door, std::string(9999, ' '));
       },
       kHasty},
      {"OpenBodyNeverEnds", "read-timeout", say_and_hold(head("200 OK") + good()), kHasty},
  };
}

class HostileDoor : public ::testing::TestWithParam<Mode> {};

TEST_P(HostileDoor, GetsTheVerdictItDeserves) {
  DoorServer server([behave = GetParam().behave](DoorConnection& door) {
    door.read_request();
    behave(door);
  });
  const DoorReading reading = ask_one(record_of(server.url()), {.limits = GetParam().limits});
  EXPECT_EQ(outcome_of(reading), GetParam().outcome) << reading.detail;
  EXPECT_GT(reading.elapsed_ns, 0);
  EXPECT_LT(reading.elapsed_ns, GetParam().limits.total_timeout_ns + 10'000'000'000);
  EXPECT_EQ(server.connections(), 1U);
  // What a flood could push before it was cut off is the bound and what kernels buffer.
  EXPECT_LT(server.bytes_sent(), std::size_t{16} << 20);
}

INSTANTIATE_TEST_SUITE_P(Live, HostileDoor, ::testing::ValuesIn(live_modes()),
                         [](const auto& tested) { return std::string(tested.param.name); });
INSTANTIATE_TEST_SUITE_P(Dead, HostileDoor, ::testing::ValuesIn(dead_modes()),
                         [](const auto& tested) { return std::string(tested.param.name); });

DoorServer::Behaviour answering(std::string text) {
  return [text = std::move(text)](DoorConnection& door) {
    door.read_request();
    door.send(text);
  };
}

TEST(A2aDoor, AsksForTheCardAndNothingElse) {
  DoorServer server(answering(ok_response(good())));
  ASSERT_EQ(outcome_of(ask_one(record_of(server.url()))), "live");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0], "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: " + server.url() +
                             "\r\nAccept: application/json\r\nUser-Agent: rollcall\r\n"
                             "Connection: close\r\n\r\n");
}

TEST(A2aDoor, FollowsNoRedirect) {
  DoorServer second(answering(ok_response(good())));
  for (const char* status :
       {"301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"}) {
    for (const std::string& target : {"http://" + second.url() + "/", "//" + second.url() + "/",
                                      std::string("/"), std::string("file:///etc/passwd")}) {
      DoorServer first(
          answering(head(status, "Location: " + target + "\r\nContent-Length: 0\r\n")));
      for (const auto& record : {record_of(first.url()), record_of(first.url(), kToken)}) {
        EXPECT_EQ(outcome_of(ask_one(record)), "http-status") << status << " " << target;
      }
      EXPECT_EQ(first.connections(), 2U);
    }
  }
  EXPECT_EQ(second.connections(), 0U);
}

TEST(A2aDoor, UsesNoProxyOfTheEnvironment) {
  DoorServer proxy(answering("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    Poco::Environment::set(name, "http://" + proxy.url());
  }
  for (const char* name : {"no_proxy", "NO_PROXY"}) Poco::Environment::set(name, "");
  DoorServer server(answering(ok_response(good())));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url()))), "live");
  EXPECT_EQ(proxy.connections(), 0U);
}

TEST(A2aDoor, AsksTheLegacyPathOnlyWhereEnabledAndOnlyOnNotFound) {
  DoorServer server([](DoorConnection& door) {
    const bool legacy = door.read_request().find("GET /.well-known/agent.json ") == 0;
    door.send(legacy ? ok_response(good()) : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url()))), "http-status");
  EXPECT_EQ(server.connections(), 1U);
  const DoorSpec legacy{"a2a", {{"legacy_card_path", "1"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(legacy, server.url()))), "live");
  EXPECT_EQ(server.connections(), 3U);
}

TEST(A2aDoor, NamesByConfiguredExtensionsToo) {
  DoorServer server(answering(
      ok_response(R"({"capabilities":{"extensions":[{"uri":"urn:x","params":{"sessionId":")" +
                  std::string(kSession) + R"("}}]}})")));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url()))), "no-session");
  const DoorSpec door{"a2a", {{"extension_uris", " urn:y  urn:x"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(door, server.url()))), "live");
  Asking operators;
  operators.instance_settings.emplace_back("extension_uris", "urn:x");
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url()), operators)), "live");
  const DoorSpec other{"a2a", {{"extension_uris", "urn:y"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(other, server.url()), operators)), "live")
      << "a record's extensions come beside the operator's";
}

TEST(A2aDoor, SaysThatATokenIsMissingWhereTheCardPromisesMore) {
  DoorServer server(answering(ok_response(R"({"capabilities":{"extendedAgentCard":true}})")));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url()))), "token-missing");
}

TEST(A2aDoor, IsRefusedWhereNobodyListens) {
  EXPECT_EQ(outcome_of(ask_one(record_of("127.0.0.1:" + std::to_string(free_port())))), "refused");
}

TEST(A2aDoor, TimesOutConnectingWhereTheBacklogIsFull) {
  SilentListener full(0);
  full.fill();
  const DoorReading reading = ask_one(record_of(full.url()), {.limits = kHasty});
  EXPECT_EQ(outcome_of(reading), "connect-timeout");
  EXPECT_GE(reading.elapsed_ns, kHasty.connect_timeout_ns);
}

TEST(A2aDoor, MeansBothAddressesByLocalhost) {
  DoorServer v4(answering(ok_response(good())));
  EXPECT_EQ(outcome_of(ask_one(record_of("localhost:" + std::to_string(v4.port())))), "live");
  if (!has_ipv6_loopback()) GTEST_SKIP() << "this machine has no ::1";
  DoorServer v6(answering(ok_response(good())), Where::kIpv6);
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(outcome_of(ask_one(record_of("localhost:" + std::to_string(v6.port())))), "live");
  EXPECT_EQ(v6.requests().at(0).find("GET "), 0U);
}

TEST(A2aDoor, TriesTheOtherAddressOfLocalhostWhereAStrangerHoldsTheFirst) {
  if (!has_ipv6_loopback()) GTEST_SKIP() << "this machine has no ::1";
  DoorServer stranger(answering(ok_response(good())));
  DoorServer own(answering(ok_response(good())), Where::kIpv6, stranger.port());
  if (!own.ok()) GTEST_SKIP() << "the port is taken on ::1";
  PortProbe probe([](const SocketAsk&, SocketAnswer& answer) {
    answer.owner = answer.peer[0] == '[' ? Ownership::kProcess : Ownership::kForeign;
  });
  const auto record = record_of("localhost:" + std::to_string(own.port()), kToken);
  const DoorReading reading = ask_one(record, probe);
  EXPECT_EQ(reading.ownership, Ownership::kProcess);
  EXPECT_EQ(own.connections(), 1U);
  EXPECT_EQ(stranger.bytes_received(), 0U);
}

TEST(A2aDoor, NeedsAUrl) {
  EXPECT_EQ(outcome_of(ask_one(record_of(DoorSpec{"a2a", {}}))), "bad-url");
}

TEST(HttpDoor, ReadsTheIdAtAPointerOfAPath) {
  DoorServer server(
      answering(ok_response(R"({"session":{"ids":["x",")" + std::string(kSession) + R"("]}})")));
  const DoorSpec door{"http", {{"path", "/health?full=1"}, {"pointer", "/session/ids/1"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(door, server.url()))), "live");
  EXPECT_EQ(server.requests().at(0).find("GET /health?full=1 HTTP/1.1\r\n"), 0U);
}

TEST(HttpDoor, HasDefaults) {
  DoorServer server(answering(ok_response(R"({"session_id":")" + std::string(kSession) + "\"}")));
  EXPECT_EQ(outcome_of(ask_one(record_of(DoorSpec{"http", {}}, server.url()))), "live");
  EXPECT_EQ(server.requests().at(0).find("GET / HTTP/1.1\r\n"), 0U);
}

TEST(HttpDoor, SendsTheTokenAsBearer) {
  DoorServer server(answering(ok_response("{}")));
  EXPECT_EQ(outcome_of(ask_one(record_of(DoorSpec{"http", {}}, server.url(), kToken))),
            "no-session");
  EXPECT_NE(
      server.requests().at(0).find("\r\nAuthorization: Bearer " + std::string(kToken) + "\r\n"),
      std::string::npos);
}

TEST(HttpDoor, RefusesSettingsThatCouldForgeARequest) {
  DoorServer server(answering(ok_response("{}")));
  for (const char* path : {"health", "/a b", "/a\r\nX: y", "/a#b", "", "/\x80"}) {
    const DoorSpec door{"http", {{"path", path}}};
    EXPECT_EQ(outcome_of(ask_one(record_of(door, server.url()))), "bad-url") << path;
  }
  const DoorSpec door{"http", {{"pointer", "session_id"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(door, server.url()))), "bad-url");
  EXPECT_EQ(server.connections(), 0U);
}

TEST(TcpDoor, IsLiveByOwnershipAloneAndSendsNothing) {
  DoorServer server([](DoorConnection& door) { door.hold(); });
  const auto record = record_of(DoorSpec{"tcp", {}}, server.url(), kToken);
  EXPECT_EQ(outcome_of(ask_one(record)), "live");
  PortProbe by_user(Ownership::kUidOnly);
  EXPECT_EQ(outcome_of(ask_one(record, by_user)), "owner-unknown");
  EXPECT_EQ(server.bytes_received(), 0U);
}

TEST(TcpDoor, NeedsAUrl) {
  EXPECT_EQ(outcome_of(ask_one(record_of(DoorSpec{"tcp", {}}))), "bad-url");
}

TEST(UnixDoor, IsLiveWhereTheRecordedProcessListens) {
  if (!has_unix_sockets()) GTEST_SKIP() << "this system has no Unix sockets";
  const testing::TempDir folder;
  const std::string path = (folder / "door.sock").string();
  if (path.size() > longest_unix_path()) GTEST_SKIP() << "TMPDIR is too long for a Unix socket";
  DoorServer server([](DoorConnection& door) { door.hold(); }, Where::kUnix, 0, path);
  ASSERT_TRUE(server.ok());
  const DoorSpec door{"unix", {{"path", path}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(door))), "live");
  PortProbe stranger(Ownership::kForeign);
  EXPECT_EQ(outcome_of(ask_one(record_of(door), stranger)), "foreign-listener");
  EXPECT_EQ(server.bytes_received(), 0U);
}

TEST(UnixDoor, IsRefusedWhereNothingIsAtThePath) {
  const testing::TempDir folder;
  const DoorSpec door{"unix", {{"path", (folder / "none").string()}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(door))), has_unix_sockets() ? "refused" : "not-supported");
}

TEST(UnixDoor, NeedsAnAbsolutePathThatFits) {
  for (const std::string& path : {std::string("door.sock"), std::string(), std::string(108, '/')}) {
    const DoorSpec door{"unix", {{"path", path}}};
    EXPECT_EQ(outcome_of(ask_one(record_of(door))), "bad-url") << path;
  }
  EXPECT_EQ(outcome_of(ask_one(record_of(DoorSpec{"unix", {}}))), "bad-url");
}

}  // namespace
}  // namespace rollcall::test
