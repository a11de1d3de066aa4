// Where tokens go, and where they never do.
#include <gtest/gtest.h>

#include <algorithm>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"

namespace rollcall::test {
namespace {

std::string id_of(const std::string& request) {
  const std::string key = R"("id":")";
  const auto at = request.find(key);
  if (at == std::string::npos) return {};
  const auto begin = at + key.size();
  return request.substr(begin, request.find('"', begin) - begin);
}

std::string rpc_result(const std::string& request, const std::string& card) {
  return ok_response(R"({"jsonrpc":"2.0","id":")" + id_of(request) + R"(","result":)" + card + "}");
}

std::string rpc_error(const std::string& request, int code) {
  return ok_response(R"({"jsonrpc":"2.0","id":")" + id_of(request) + R"(","error":{"code":)" +
                     std::to_string(code) + R"(,"message":"no"}})");
}

bool is_current(const std::string& request) {
  return request.find("\r\nA2A-Version: 1.0\r\n") != std::string::npos &&
         request.find(R"("method":"GetExtendedAgentCard")") != std::string::npos;
}

bool is_legacy(const std::string& request) {
  return request.find("A2A-Version") == std::string::npos &&
         request.find(R"("method":"agent/getAuthenticatedExtendedCard")") != std::string::npos;
}

bool has_token(const std::string& request) { return request.find(kToken) != std::string::npos; }

using Answering = std::function<std::string(const std::string& request)>;

DoorServer::Behaviour answering(Answering answer) {
  return [answer = std::move(answer)](DoorConnection& door) {
    const std::string request = door.read_request();
    if (!request.empty()) door.send(answer(request));
  };
}

TEST(A2aToken, GoesWithTheCurrentPairFirst) {
  DoorServer server(answering(
      [](const std::string& request) { return rpc_result(request, card_naming(kSession)); }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "live");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].find("POST / HTTP/1.1\r\nHost: " + server.url() + "\r\n"), 0U);
  EXPECT_TRUE(is_current(requests[0]));
  EXPECT_NE(requests[0].find("\r\nAuthorization: Bearer " + std::string(kToken) + "\r\n"),
            std::string::npos);
  EXPECT_NE(requests[0].find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(requests[0].find(R"("params":{})"), std::string::npos);
}

TEST(A2aToken, GoesWithTheOldPairOnlyAfterMethodOrVersionIsUnknown) {
  for (const int code : {-32601, -32009}) {
    DoorServer server(answering([code](const std::string& request) {
      return is_legacy(request) ? rpc_result(request, card_naming(kSession))
                                : rpc_error(request, code);
    }));
    PortProbe probe;
    EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken), probe)), "live");
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_TRUE(is_current(requests[0]));
    EXPECT_TRUE(is_legacy(requests[1]));
    EXPECT_EQ(probe.sockets(), server.connections()) << "each connection is admitted anew";
  }
}

TEST(A2aToken, GoesWithTheOldPairWhereTheErrorComesWithAnErrorStatus) {
  DoorServer server(answering([](const std::string& request) {
    if (is_legacy(request)) return rpc_result(request, card_naming(kSession));
    return "HTTP/1.1 400 Bad Request" + rpc_error(request, -32601).substr(15);
  }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "live");
}

TEST(A2aToken, GoesNowhereElseAfterAnyOtherError) {
  for (const int code : {-32600, -32602, -32603, -32700, -32001, -32007, 0}) {
    DoorServer server(
        answering([code](const std::string& request) { return rpc_error(request, code); }));
    EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "rpc-error") << code;
    EXPECT_EQ(server.connections(), 1U);
  }
}

TEST(A2aToken, AsksEachPairOnce) {
  DoorServer server(
      answering([](const std::string& request) { return rpc_error(request, -32601); }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "rpc-error");
  EXPECT_EQ(server.connections(), 2U);
}

TEST(A2aToken, IsNotSentAgainToAStrangerWhoTookThePortMeanwhile) {
  DoorServer server(
      answering([](const std::string& request) { return rpc_error(request, -32601); }));
  int asked = 0;
  PortProbe probe([&](const SocketAsk&, SocketAnswer& answer) {
    answer.owner = ++asked == 1 ? Ownership::kProcess : Ownership::kForeign;
  });
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken), probe)), "foreign-listener");
  const auto requests = server.requests();
  EXPECT_EQ(std::count_if(requests.begin(), requests.end(), has_token), 1);
}

TEST(A2aToken, IsNotProvenTakenByA200) {
  DoorServer server(answering([](const std::string& request) {
    return rpc_result(request, R"({"name":"public","capabilities":{"extensions":[]}})");
  }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "no-session");
}

TEST(A2aToken, IsRefusedBy401And403) {
  for (const char* status : {"401 Unauthorized", "403 Forbidden"}) {
    DoorServer server(answering([status](const std::string&) {
      return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n\r\n";
    }));
    EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "token-refused") << status;
    EXPECT_EQ(server.connections(), 1U);
  }
}

TEST(A2aToken, IsAnsweredOnlyUnderTheQuestionsId) {
  DoorServer server(answering([](const std::string&) {
    return ok_response(R"({"jsonrpc":"2.0","id":1,"result":)" + card_naming(kSession) + "}");
  }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken))), "rpc-error");
}

TEST(A2aToken, IsAskedForUnderAnotherIdEachTime) {
  DoorServer server(answering(
      [](const std::string& request) { return rpc_result(request, card_naming(kSession)); }));
  const auto record = record_of(server.url(), kToken);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(outcome_of(ask_one(record)), "live");
  std::vector<std::string> ids;
  for (const auto& request : server.requests()) ids.push_back(id_of(request));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(ids[0].size(), 32U);
}

TEST(A2aToken, IsNeverSeenByAForeignListener) {
  DoorServer server(answering(
      [](const std::string& request) { return rpc_result(request, card_naming(kSession)); }));
  PortProbe probe(Ownership::kForeign);
  const DoorReading reading = ask_one(record_of(server.url(), kToken), probe);
  EXPECT_EQ(outcome_of(reading), "foreign-listener");
  EXPECT_EQ(server.bytes_received(), 0U);
  EXPECT_EQ(reading.detail.find(kToken), std::string::npos);
}

TEST(A2aToken, IsNotSentWhereTheOwnerIsUnknown) {
  DoorServer server(answering(
      [](const std::string& request) { return rpc_result(request, card_naming(kSession)); }));
  PortProbe probe(Ownership::kUnknown);
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken), probe)), "owner-unknown");
  EXPECT_EQ(server.bytes_received(), 0U);
}

TEST(A2aToken, IsSentWhereTheListenersUserIsAllThatCanBeReadAndThatIsSaid) {
  DoorServer server(answering(
      [](const std::string& request) { return rpc_result(request, card_naming(kSession)); }));
  PortProbe probe(Ownership::kUidOnly);
  const DoorReading reading = ask_one(record_of(server.url(), kToken), probe);
  EXPECT_EQ(outcome_of(reading), "live");
  EXPECT_EQ(reading.ownership, Ownership::kUidOnly);
  EXPECT_NE(reading.detail.find("user"), std::string::npos);
}

TEST(A2aToken, IsNotHandedToAPluginThatMayNotHaveIt) {
  DoorServer server(answering([](const std::string&) { return ok_response("{}"); }));
  EXPECT_EQ(outcome_of(ask_one(record_of(server.url(), kToken), {.may_have_token = false})),
            "no-session");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_FALSE(has_token(requests[0]));
  EXPECT_EQ(requests[0].find("GET "), 0U);
}

TEST(A2aToken, ThatCouldForgeAHeaderIsNotSent) {
  DoorServer server(answering([](const std::string&) { return ok_response("{}"); }));
  const auto record = record_of(server.url(), "tok\r\nX-Evil: 1");
  EXPECT_EQ(outcome_of(ask_one(record)), "no-session");
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].find("Evil"), std::string::npos);
}

TEST(A2aToken, StandsInNoReading) {
  for (const char* body : {"{}", "not json", R"({"id":1,"result":{}})"}) {
    DoorServer server(answering([body](const std::string&) { return ok_response(body); }));
    const DoorReading reading = ask_one(record_of(server.url(), kToken));
    EXPECT_EQ((reading.detail + reading.session).find(kToken), std::string::npos);
  }
}

}  // namespace
}  // namespace rollcall::test
