#include "common/json_answer.hpp"

#include <gtest/gtest.h>

#include "common/a2a_conversation.hpp"

namespace rollcall::doors {
namespace {

const std::string kOwn = R"({"uri":"urn:rollcall:ext:session:1","params":{"sessionId":)";
const std::string kOther =
    R"({"uri":"https://docs.murmur.nexus/reference/agent-card/#murmur-capsule-v1","params":)"
    R"({"sessionId":)";

std::string card(const std::string& extensions) {
  return R"({"capabilities":{"extensions":[)" + extensions + "]}}";
}

std::string outcome_of(const CardReading& reading) {
  switch (reading.reading) {
    case Reading::kNamed:
      return "named " + reading.session;
    case Reading::kNotJson:
      return "not-json";
    case Reading::kNoSession:
      return "no-session";
    case Reading::kRpcError:
      return reading.has_code ? "rpc-error " + std::to_string(reading.code) : "rpc-error";
  }
  return "?";
}

std::string read(std::string_view body) {
  return outcome_of(read_card(body, default_extension_uris()));
}

struct Case {
  const char* name;
  std::string body;
  const char* outcome;
};

std::vector<Case> cases() {
  const std::string s = R"("s"}})";
  return {
      {"OwnExtension", card(kOwn + s), "named s"},
      {"MurmurExtension", card(kOther + s), "named s"},
      {"UnrelatedFirst", card(R"({"uri":"x","params":{"sessionId":"other"}},)" + kOwn + s),
       "named s"},
      {"TwoThatAgree", card(kOwn + s + "," + kOther + s), "named s"},
      {"TwoThatDisagree", card(kOwn + s + "," + kOther + R"("t"}})"), "no-session"},
      {"OneThatIsUnusable", card(kOwn + s + "," + kOther + "7}}"), "no-session"},
      {"OneThatSaysNothing", card(R"({"uri":"urn:rollcall:ext:session:1"},)" + kOther + s),
       "named s"},
      {"AfterAByteOrderMark", "\xEF\xBB\xBF" + card(kOwn + s), "named s"},
      {"OnlyUnrelated", card(R"({"uri":"x","params":{"sessionId":"s"}})"), "no-session"},
      {"UriIsAPrefix", card(R"({"uri":"urn:rollcall:ext:session:12","params":{"sessionId":"s"}})"),
       "no-session"},
      {"UriInOtherCase", card(R"({"uri":"URN:rollcall:ext:session:1","params":{"sessionId":"s"}})"),
       "no-session"},
      {"EmptySession", card(kOwn + R"(""}})"), "no-session"},
      {"NumberSession", card(kOwn + "7}}"), "no-session"},
      {"NullSession", card(kOwn + "null}}"), "no-session"},
      {"ControlInSession", card(kOwn + R"("s\u0000"}})"), "no-session"},
      {"NewlineInSession", card(kOwn + R"("s\n"}})"), "no-session"},
      {"C1InSession", card(kOwn + R"("s\u009b"}})"), "no-session"},
      {"LoneSurrogateInSession", card(kOwn + R"("s\udc00"}})"), "no-session"},
      {"SessionTwice", card(kOwn + R"("s","sessionId":"t"}})"), "no-session"},
      {"UriTwice",
       card(R"({"uri":"x","uri":"urn:rollcall:ext:session:1","params":{"sessionId":"s"}})"),
       "no-session"},
      {"CapabilitiesTwice",
       R"({"capabilities":{},"capabilities":{"extensions":[)" + kOwn + s + "]}}", "no-session"},
      {"ExtensionsAnObject", R"({"capabilities":{"extensions":{}}})", "no-session"},
      {"ExtensionsOfOddTypes", card(R"(null,7,"x",[],{"uri":7},{"uri":"x"})"), "no-session"},
      {"ParamsAnArray", card(R"({"uri":"urn:rollcall:ext:session:1","params":["sessionId"]})"),
       "no-session"},
      {"CapabilitiesAString", R"({"capabilities":"extensions"})", "no-session"},
      {"Null", "null", "no-session"},
      {"Array", "[]", "no-session"},
      {"String", "\"x\"", "no-session"},
      {"Number", "7", "no-session"},
      {"Object", "{}", "no-session"},
      {"Empty", "", "not-json"},
      {"OnlyAByteOrderMark", "\xEF\xBB\xBF", "not-json"},
      {"Html", "<!doctype html>hello", "not-json"},
      {"NaN", "NaN", "not-json"},
      {"TrailingText", card(kOwn + s) + "x", "not-json"},
      {"NulBehind", card(kOwn + s) + std::string("\0x", 2), "not-json"},
      {"NotUtf8", "{\"a\":\"\xff\"}", "not-json"},
      {"TooDeep", std::string(65, '[') + std::string(65, ']'), "not-json"},
      {"MuchTooDeep", std::string(500'000, '['), "not-json"},
      {"JustDeepEnough", std::string(64, '[') + std::string(64, ']'), "no-session"},
      {"BracketsInAString", "\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"",
       "no-session"},
  };
}

class CardCases : public testing::TestWithParam<Case> {};

TEST_P(CardCases, IsReadAsDocumented) { EXPECT_EQ(read(GetParam().body), GetParam().outcome); }

INSTANTIATE_TEST_SUITE_P(Bodies, CardCases, testing::ValuesIn(cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Card, NamesByAConfiguredExtensionToo) {
  const std::string body = card(R"({"uri":"urn:x","params":{"sessionId":"s"}})");
  EXPECT_EQ(outcome_of(read_card(body, {"urn:x"})), "named s");
}

TEST(Card, PromisesMoreInEitherGeneration) {
  EXPECT_TRUE(read_card(R"({"supportsAuthenticatedExtendedCard":true})", {}).promises_more);
  EXPECT_TRUE(read_card(R"({"capabilities":{"extendedAgentCard":true}})", {}).promises_more);
  EXPECT_FALSE(read_card(R"({"capabilities":{"extendedAgentCard":1}})", {}).promises_more);
}

std::string rpc(std::string_view body) {
  return outcome_of(read_rpc_card(body, "id1", default_extension_uris()));
}

TEST(RpcCard, IsTheResult) {
  EXPECT_EQ(rpc(R"({"jsonrpc":"2.0","id":"id1","result":)" + card(kOwn + R"("s"}})") + "}"),
            "named s");
}

TEST(RpcCard, HasToBearTheQuestionsId) {
  const std::string result = R"("result":)" + card(kOwn + R"("s"}})") + "}";
  EXPECT_EQ(rpc(R"({"id":"id2",)" + result), "rpc-error");
  EXPECT_EQ(rpc(R"({"id":1,)" + result), "rpc-error");
  EXPECT_EQ(rpc(R"({"id":null,)" + result), "rpc-error");
  EXPECT_EQ(rpc("{" + result), "rpc-error");
}

TEST(RpcCard, HasEitherResultOrError) {
  EXPECT_EQ(rpc(R"({"id":"id1"})"), "rpc-error");
  EXPECT_EQ(
      rpc(R"({"id":"id1","result":)" + card(kOwn + R"("s"}})") + R"(,"error":{"code":-32601}})"),
      "rpc-error");
}

TEST(RpcCard, ReportsTheCodeOfAnErrorOfOurQuestion) {
  EXPECT_EQ(rpc(R"({"id":"id1","error":{"code":-32601,"message":"no"}})"), "rpc-error -32601");
  EXPECT_EQ(rpc(R"({"id":"other","error":{"code":-32601}})"), "rpc-error");
  EXPECT_EQ(rpc(R"({"id":"id1","error":{"code":"-32601"}})"), "rpc-error");
  EXPECT_EQ(rpc(R"({"id":"id1","error":null})"), "rpc-error");
  EXPECT_EQ(rpc(R"({"id":"id1","error":[]})"), "rpc-error");
}

TEST(RpcCard, IsNoCardWhereItIsNoObject) {
  EXPECT_EQ(rpc("[]"), "rpc-error");
  EXPECT_EQ(rpc("null"), "rpc-error");
  EXPECT_EQ(rpc("nothing"), "not-json");
  EXPECT_EQ(rpc(R"({"id":"id1","result":null})"), "no-session");
}

std::string at(std::string_view pointer, std::string_view body) {
  return outcome_of(read_pointer(body, pointer));
}

TEST(JsonPointer, FollowsRfc6901) {
  const std::string body = R"({"a":{"b/c":["x",{"~":"s"}]},"":"e","0":"z"})";
  EXPECT_EQ(at("/a/b~1c/0", body), "named x");
  EXPECT_EQ(at("/a/b~1c/1/~0", body), "named s");
  EXPECT_EQ(at("/", body), "named e");
  EXPECT_EQ(at("/0", body), "named z");
  EXPECT_EQ(at("", "\"whole\""), "named whole");
}

TEST(JsonPointer, FindsNobodyWhereNothingStands) {
  const std::string body = R"({"a":["x"],"n":7,"d":"1","d":"2"})";
  for (const char* pointer : {"/b", "/a/1", "/a/-", "/a/00", "/a/x", "/a", "/n", "/n/x", "/d"}) {
    EXPECT_EQ(at(pointer, body), "no-session") << pointer;
  }
}

TEST(JsonPointer, HasASyntax) {
  for (const char* good : {"", "/", "/a", "/a~0b~1c", "//"}) EXPECT_TRUE(is_json_pointer(good));
  for (const char* bad : {"a", "/~", "/~2", "/a~", "#/a"}) EXPECT_FALSE(is_json_pointer(bad));
}

}  // namespace
}  // namespace rollcall::doors
