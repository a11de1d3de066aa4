#include "doors/session_card.hpp"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "common/a2a_conversation.hpp"
#include "common/a2a_stop.hpp"
#include "common/json_answer.hpp"

namespace rollcall::doors {
namespace {

CardFacts facts(std::optional<std::string> token = {}) {
  return {"ses_1", "agent", "1.2.3", "http://127.0.0.1:4000/", "127.0.0.1:4000", std::move(token)};
}

DoorRequest get(std::string target = "/.well-known/agent-card.json") {
  DoorRequest request;
  request.method = "GET";
  request.target = std::move(target);
  request.hosts = {"127.0.0.1:4000"};
  return request;
}

DoorRequest post(std::string body, std::vector<std::string> authorizations = {}) {
  DoorRequest request;
  request.method = "POST";
  request.target = "/";
  request.hosts = {"127.0.0.1:4000"};
  request.content_type = "application/json";
  request.authorizations = std::move(authorizations);
  request.body = std::move(body);
  return request;
}

std::string call(std::string_view method, std::string_view id = "\"x\"") {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
         R"(","params":{}})";
}

std::string named_in(std::string_view body) {
  return read_card(body, default_extension_uris()).session;
}
std::string named_in_result(std::string_view body) {
  return read_rpc_card(body, "x", default_extension_uris()).session;
}
std::int64_t code_of(std::string_view body, std::string_view id = "x") {
  const auto reading = read_rpc_card(body, id, {});
  return reading.has_code ? reading.code : 0;
}

TEST(SessionCard, NamesTheSessionInBothGenerations) {
  for (const Generation generation : {Generation::kCurrent, Generation::kLegacy}) {
    EXPECT_EQ(named_in(agent_card(facts(), generation, false)), "ses_1");
  }
}

TEST(SessionCard, NamesNobodyInPublicWhereThereIsAToken) {
  for (const Generation generation : {Generation::kCurrent, Generation::kLegacy}) {
    const auto open = agent_card(facts("tok"), generation, false);
    EXPECT_EQ(open.find("ses_1"), std::string::npos);
    EXPECT_TRUE(read_card(open, {}).promises_more);
    EXPECT_EQ(named_in(agent_card(facts("tok"), generation, true)), "ses_1");
  }
}

TEST(SessionCard, NeverHoldsTheToken) {
  for (const bool extended : {false, true}) {
    const auto text = agent_card(facts("s3cret"), Generation::kLegacy, extended);
    EXPECT_EQ(text.find("s3cret"), std::string::npos);
  }
}

TEST(SessionCard, HasWhatEachGenerationRequires) {
  rapidjson::Document current;
  current.Parse(agent_card(facts("tok"), Generation::kCurrent, false).c_str());
  for (const char* key : {"name", "description", "version", "supportedInterfaces", "capabilities",
                          "defaultInputModes", "defaultOutputModes", "skills", "securitySchemes"}) {
    EXPECT_TRUE(current.HasMember(key)) << key;
  }
  EXPECT_FALSE(current.HasMember("url"));
  rapidjson::Document legacy;
  legacy.Parse(agent_card(facts("tok"), Generation::kLegacy, false).c_str());
  for (const char* key : {"name", "description", "version", "url", "protocolVersion",
                          "preferredTransport", "capabilities", "defaultInputModes",
                          "defaultOutputModes", "skills", "supportedInterfaces", "security"}) {
    EXPECT_TRUE(legacy.HasMember(key)) << key;
  }
}

TEST(SessionCard, IsJsonWhateverTheNameHolds) {
  auto odd = facts();
  odd.name = "a\xff\"\x1b[2J\n";
  EXPECT_EQ(named_in(agent_card(odd, Generation::kLegacy, false)), "ses_1");
}

TEST(SessionDoorRequest, GetsTheCardAtBothPaths) {
  for (const char* path : {"/.well-known/agent-card.json", "/.well-known/agent.json",
                           "/.well-known/agent-card.json?x=y"}) {
    const auto response = answer_request(facts(), get(path));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(named_in(response.body), "ses_1");
  }
}

TEST(SessionDoorRequest, GetsTheCardOfItsGeneration) {
  auto request = get();
  EXPECT_NE(answer_request(facts(), request).body.find("\"protocolVersion\":\"0.3.0\""),
            std::string::npos);
  request.a2a_version = "1.0";
  EXPECT_EQ(answer_request(facts(), request).body.find("\"protocolVersion\":\"0.3.0\""),
            std::string::npos);
}

TEST(SessionDoorRequest, GetsTheExtendedCardByBothMethods) {
  for (const char* method : {"GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"}) {
    const auto response = answer_request(facts(), post(call(method)));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(named_in_result(response.body), "ses_1");
  }
}

CardFacts stoppable(std::optional<std::string> token) {
  CardFacts with = facts(std::move(token));
  with.can_stop = true;
  return with;
}

std::string stop_call(const std::string& params) {
  return R"({"jsonrpc":"2.0","id":"x","method":"session/stop","params":)" + params + "}";
}

TEST(SessionStop, IsOfferedInTheExtendedCardOfADoorWithATokenOnly) {
  const auto offers = [](const CardFacts& of, bool extended) {
    return agent_card(of, Generation::kCurrent, extended).find("session/stop") != std::string::npos;
  };
  EXPECT_TRUE(offers(stoppable("tok"), true));
  EXPECT_FALSE(offers(stoppable("tok"), false));
  EXPECT_FALSE(offers(stoppable({}), true));
  EXPECT_FALSE(offers(stoppable({}), false));
  EXPECT_FALSE(offers(facts("tok"), true));
}

TEST(SessionStop, IsReadFromTheCard) {
  const auto body =
      answer_request(stoppable("tok"), post(call("GetExtendedAgentCard"), {"Bearer tok"}));
  const auto reading = read_rpc_card(body.body, "x", default_extension_uris());
  EXPECT_EQ(reading.session, "ses_1");
  EXPECT_TRUE(reading.can_be_stopped);
  const auto plain =
      answer_request(facts("tok"), post(call("GetExtendedAgentCard"), {"Bearer tok"}));
  EXPECT_FALSE(read_rpc_card(plain.body, "x", default_extension_uris()).can_be_stopped);
}

TEST(SessionStop, IsAcceptedForTheDoorsOwnSessionWithTheReason) {
  const auto response =
      answer_request(stoppable("tok"),
                     post(stop_call(R"({"sessionId":"ses_1","reason":"deploy"})"), {"Bearer tok"}));
  EXPECT_EQ(response.body, R"({"jsonrpc":"2.0","id":"x","result":{"accepted":true}})");
  ASSERT_TRUE(response.stop);
  EXPECT_EQ(*response.stop, "deploy");
  EXPECT_EQ(read_accepted(response.body, "x").reading, Reading::kNamed);
  EXPECT_NE(read_accepted(response.body, "y").reading, Reading::kNamed);
}

TEST(SessionStop, IsRefusedForAnotherSessionAndForNone) {
  for (const char* params : {R"({"sessionId":"ses_2"})", R"({"sessionId":7})", "{}", "[]", "7"}) {
    const auto response = answer_request(stoppable("tok"), post(stop_call(params), {"Bearer tok"}));
    EXPECT_EQ(code_of(response.body), -32602) << params;
    EXPECT_FALSE(response.stop) << params;
  }
}

TEST(SessionStop, IsNoMethodOfADoorWithoutATokenOrWithoutAnybodyToDoIt) {
  const std::string body = stop_call(R"({"sessionId":"ses_1"})");
  const auto open = answer_request(stoppable({}), post(body));
  EXPECT_EQ(code_of(open.body), -32601);
  EXPECT_FALSE(open.stop);
  const auto unable = answer_request(facts("tok"), post(body, {"Bearer tok"}));
  EXPECT_EQ(code_of(unable.body), -32601);
  EXPECT_FALSE(unable.stop);
}

TEST(SessionStop, WantsTheToken) {
  const std::string body = stop_call(R"({"sessionId":"ses_1"})");
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{}, {"Bearer wrong"}, {"Bearer tok", "Bearer tok"}}) {
    const auto response = answer_request(stoppable("tok"), post(body, given));
    EXPECT_EQ(response.status, 401);
    EXPECT_FALSE(response.stop);
  }
}

TEST(SessionStop, IsAskedForOnlyWithATokenAndNothingIsSentWithoutOne) {
  A2aStopConversation talk("127.0.0.1:4000", default_extension_uris(), "ses_1", "why", "x");
  const Step step = talk.on_admitted(std::nullopt);
  EXPECT_EQ(step.what, Step::Do::kAnswer);
  EXPECT_EQ(step.answer.reason, ROLLCALL_DOOR_TOKEN_MISSING);
}

// What the conversation does next, told `answer` by the door.
Step next(A2aStopConversation& talk, const DoorResponse& answer) {
  const std::string text = "HTTP/1.1 " + std::to_string(answer.status) +
                           " OK\r\nContent-Length: " + std::to_string(answer.body.size()) +
                           "\r\n\r\n" + answer.body;
  HttpResponse response(true);
  (void)response.feed(text);
  return talk.on_response(response);
}

TEST(SessionStop, IsAskedOfADoorThatNamesTheSessionAndOffersItAndOfNoOther) {
  const auto card = [](const CardFacts& of) {
    return answer_request(of, post(call("GetExtendedAgentCard"), {"Bearer tok"}));
  };
  A2aStopConversation offered("127.0.0.1:4000", default_extension_uris(), "ses_1", "why \"7\"",
                              "x");
  EXPECT_EQ(offered.on_admitted("tok").what, Step::Do::kSend);
  EXPECT_EQ(next(offered, card(stoppable("tok"))).what, Step::Do::kConnectAgain);
  const Step asked = offered.on_admitted("tok");
  ASSERT_EQ(asked.what, Step::Do::kSend);
  const std::string body = asked.bytes.substr(asked.bytes.find("\r\n\r\n") + 4);
  const auto accepted = answer_request(stoppable("tok"), post(body, {"Bearer tok"}));
  ASSERT_TRUE(accepted.stop);
  EXPECT_EQ(*accepted.stop, "why \"7\"");
  const Step done = next(offered, accepted);
  EXPECT_EQ(done.answer.outcome, ROLLCALL_DOOR_NAMED);
  EXPECT_EQ(done.answer.named, "ses_1");

  A2aStopConversation silent("127.0.0.1:4000", default_extension_uris(), "ses_1", "", "x");
  (void)silent.on_admitted("tok");
  EXPECT_EQ(next(silent, card(facts("tok"))).answer.reason, ROLLCALL_DOOR_NOT_SUPPORTED);
  A2aStopConversation another("127.0.0.1:4000", default_extension_uris(), "ses_2", "", "x");
  (void)another.on_admitted("tok");
  EXPECT_EQ(next(another, card(stoppable("tok"))).answer.reason, ROLLCALL_DOOR_NO_SESSION);
}

TEST(SessionDoorRequest, GetsItsIdBack) {
  for (const char* id : {"7", "null", "\"a\\u0022b\""}) {
    const auto body = answer_request(facts(), post(call("GetExtendedAgentCard", id))).body;
    rapidjson::Document answer;
    rapidjson::Document expected;
    answer.Parse(body.c_str());
    expected.Parse(id);
    EXPECT_TRUE(answer["id"] == expected) << body;
  }
}

TEST(SessionDoorRequest, IsRefusedWithoutTheTokenWhateverItAsks) {
  for (const auto& given : std::vector<std::vector<std::string>>{{},
                                                                 {""},
                                                                 {"tok"},
                                                                 {"Bearer"},
                                                                 {"Bearer "},
                                                                 {"Bearer to"},
                                                                 {"Bearer tok2"},
                                                                 {"Bearer toktok"},
                                                                 {"Bearer TOK"},
                                                                 {"Basic tok"},
                                                                 {"Bearer tok", "Bearer tok"}}) {
    for (const char* method : {"GetExtendedAgentCard", "message/send"}) {
      const auto response = answer_request(facts("tok"), post(call(method), given));
      EXPECT_EQ(response.status, 401);
      EXPECT_TRUE(response.challenge);
      EXPECT_EQ(response.invalid_token, !given.empty());
      EXPECT_EQ(response.body.find("ses_1"), std::string::npos);
      EXPECT_EQ(response.body.find("tok\""), std::string::npos);
    }
  }
}

TEST(SessionDoorRequest, IsAnsweredWithTheToken) {
  for (const char* given : {"Bearer tok", "bearer tok"}) {
    const auto response = answer_request(facts("tok"), post(call("GetExtendedAgentCard"), {given}));
    EXPECT_EQ(named_in_result(response.body), "ses_1");
  }
}

TEST(SessionDoorRequest, IsRefusedToBrowsers) {
  for (auto request : {get(), post(call("GetExtendedAgentCard"))}) {
    request.has_origin = true;
    EXPECT_EQ(answer_request(facts(), request).status, 403);
    request.has_origin = false;
    request.is_cross_site = true;
    EXPECT_EQ(answer_request(facts(), request).status, 403);
  }
}

TEST(SessionDoorRequest, IsRefusedUnderAnyHostButLiteralLoopbackWithThePort) {
  for (const auto& hosts :
       std::vector<std::vector<std::string>>{{},
                                             {""},
                                             {"127.0.0.1"},
                                             {"127.0.0.1:4001"},
                                             {"localhost:4000"},
                                             {"evil.example:4000"},
                                             {"127.0.0.1.evil.example:4000"},
                                             {"http://127.0.0.1:4000"},
                                             {"user@127.0.0.1:4000"},
                                             {"127.0.0.1:4000", "127.0.0.1:4000"},
                                             {"127.0.0.1:4000", "evil.example"}}) {
    auto request = get();
    request.hosts = hosts;
    const auto response = answer_request(facts(), request);
    EXPECT_EQ(response.status, 421) << (hosts.empty() ? "" : hosts[0]);
    EXPECT_EQ(response.body.find("ses_1"), std::string::npos);
  }
}

TEST(SessionDoorRequest, IsRefusedWhereAPostIsNotJson) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "application/json-patch", "text/plain; application/json"}) {
    auto request = post(call("GetExtendedAgentCard"));
    request.content_type = type;
    EXPECT_EQ(answer_request(facts(), request).status, 415) << type;
  }
  for (const char* type : {"application/json; charset=utf-8", "Application/JSON ;x"}) {
    auto request = post(call("GetExtendedAgentCard"));
    request.content_type = type;
    EXPECT_EQ(answer_request(facts(), request).status, 200) << type;
  }
}

TEST(SessionDoorRequest, HasNoOtherMethods) {
  for (const char* method : {"message/send", "SendMessage", "getextendedagentcard", ""}) {
    EXPECT_EQ(code_of(answer_request(facts(), post(call(method))).body), -32601) << method;
  }
}

TEST(SessionDoorRequest, HasAVersionThatIsSpoken) {
  auto request = post(call("GetExtendedAgentCard"));
  request.a2a_version = "2.0";
  EXPECT_EQ(code_of(answer_request(facts(), request).body), -32009);
}

TEST(SessionDoorRequest, IsAnErrorWhereItIsNoCall) {
  for (const auto& body :
       {std::string(), std::string("{"), std::string("\xff"), std::string(100, '['),
        std::string("{}\0", 3), std::string("[]"), std::string("7"), std::string("{}"),
        std::string(R"({"id":1})"), std::string(R"({"id":[],"method":"x"})"),
        std::string(R"({"id":1,"method":7})"), std::string(R"({"id":"\udc00","method":"x"})"),
        std::string("[") + call("GetExtendedAgentCard") + "]"}) {
    const auto response = answer_request(facts(), post(body));
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("\"id\":null,\"error\""), std::string::npos) << body;
  }
}

TEST(SessionDoorRequest, IsRefusedWhereItIsTooLarge) {
  auto request = post(call("GetExtendedAgentCard"));
  request.body_too_large = true;
  EXPECT_EQ(answer_request(facts(), request).status, 413);
}

TEST(SessionDoorRequest, FindsNothingElsewhereAndNoOtherVerbs) {
  EXPECT_EQ(answer_request(facts(), get("/other")).status, 404);
  EXPECT_EQ(answer_request(facts(), get("/")).status, 405);
  EXPECT_EQ(answer_request(facts(), get("http://127.0.0.1:4000/")).status, 404);
  auto request = get();
  request.method = "DELETE";
  EXPECT_EQ(answer_request(facts(), request).status, 405);
}

}  // namespace
}  // namespace rollcall::doors
