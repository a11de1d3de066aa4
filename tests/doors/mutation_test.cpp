// The readers of remote bytes on texts that are broken at random, from a fixed seed: nothing
// crashes, and how the bytes are split makes no difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "common/a2a_conversation.hpp"
#include "common/http_response.hpp"
#include "common/json_answer.hpp"

namespace rollcall::doors {
namespace {

constexpr int kRounds = 20'000;

class Mutator {
 public:
  std::string mutate(std::string text) {
    static constexpr char kOdd[] = "\r\n \t:;,0123456789abcdefxX-+\0\x1b\x7f\xff{}[]\"\\";
    for (auto left = 1 + random_() % 4; left > 0 && !text.empty(); --left) {
      const auto at = random_() % text.size();
      switch (random_() % 4) {
        case 0:
          text[at] = kOdd[random_() % sizeof(kOdd)];
          break;
        case 1:
          text.erase(at, 1 + random_() % 5);
          break;
        case 2:
          text.insert(at, 1, kOdd[random_() % sizeof(kOdd)]);
          break;
        default:
          text.insert(at, text.substr(random_() % text.size(), 1 + random_() % 20));
      }
    }
    return text;
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  std::mt19937 random_{20'260'101};
};

struct Outcome {
  HttpState state;
  HttpProblem problem;
  int status;
  std::string body;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

const HttpBounds kTight{.head_bytes = 300, .body_bytes = 64, .framing_bytes = 100};

Outcome read_whole(std::string_view text) {
  HttpResponse response(true, kTight);
  response.feed(text);
  response.finish(true);
  return {response.state(), response.problem(), response.status(), response.body()};
}

Outcome read_split(std::string_view text, Mutator& mutator) {
  HttpResponse response(true, kTight);
  while (!text.empty()) {
    const auto size = std::min<std::size_t>(1 + mutator.below(9), text.size());
    response.feed(text.substr(0, size));
    text.remove_prefix(size);
  }
  response.finish(true);
  return {response.state(), response.problem(), response.status(), response.body()};
}

TEST(MutatedHttp, IsReadTheSameHoweverItIsSplit) {
  const std::string texts[] = {
      "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
      "HTTP/1.0 200 OK\r\nServer: x\r\n\r\nuntil the close",
      "HTTP/1.1 400 Bad\r\nContent-Length: 2\r\nContent-Encoding: identity\r\n\r\n{}"};
  Mutator mutator;
  int complete = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.mutate(texts[mutator.below(std::size(texts))]);
    const Outcome whole = read_whole(text);
    const Outcome split = read_split(text, mutator);
    ASSERT_EQ(whole.state, split.state) << text;
    ASSERT_EQ(whole.problem, split.problem) << text;
    if (whole.state != HttpState::kComplete) continue;
    ++complete;
    ASSERT_TRUE(whole == split) << text;
    ASSERT_LE(whole.body.size(), kTight.body_bytes);
  }
  EXPECT_GT(complete, kRounds / 100) << "the mutations leave nothing to compare";
}

TEST(MutatedCards, NameTheSessionOrNobodyAndNeverAnUnprintableOne) {
  const std::string card =
      R"({"capabilities":{"extensions":[{"uri":"x","params":{"sessionId":"wrong"}},)"
      R"({"uri":"urn:rollcall:ext:session:1","params":{"sessionId":"ses_1"}}]}})";
  const std::string rpc = R"({"jsonrpc":"2.0","id":"i","result":)" + card + "}";
  Mutator mutator;
  int named = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.mutate(round % 2 == 0 ? card : rpc);
    const auto uris = default_extension_uris();
    const CardReading reading =
        round % 2 == 0 ? read_card(text, uris) : read_rpc_card(text, "i", uris);
    (void)read_pointer(text, "/capabilities/extensions/1/params/sessionId");
    if (reading.reading != Reading::kNamed) continue;
    ++named;
    ASSERT_FALSE(reading.session.empty());
    ASSERT_TRUE(std::all_of(reading.session.begin(), reading.session.end(), [](unsigned char c) {
      return c >= 0x20 && c != 0x7f;
    })) << text;
  }
  EXPECT_GT(named, kRounds / 100);
}

}  // namespace
}  // namespace rollcall::doors
