#include "common/http_response.hpp"

#include <gtest/gtest.h>

namespace rollcall::doors {
namespace {

std::string outcome_of(const HttpResponse& response) {
  if (response.state() == HttpState::kComplete) {
    return std::to_string(response.status()) + ":" + response.body();
  }
  if (response.state() == HttpState::kMore) return "more";
  switch (response.problem()) {
    case HttpProblem::kBadHttp:
      return "bad-http";
    case HttpProblem::kTooLarge:
      return "too-large";
    case HttpProblem::kClosedEarly:
      return "closed-early";
    case HttpProblem::kNone:
      break;
  }
  return "none";
}

// Feeds `text` and then the peer's close, in pieces of `size`.
std::string read(std::string_view text, std::size_t size = std::string_view::npos,
                 HttpBounds bounds = {}) {
  HttpResponse response(false, bounds);
  while (!text.empty()) {
    response.feed(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  response.finish(true);
  return outcome_of(response);
}

std::string with_head(std::string_view fields, std::string_view body) {
  return "HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

struct Case {
  const char* name;
  std::string text;
  const char* outcome;
};

std::vector<Case> cases() {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  return {
      {"Sized", with_head("Content-Length: 5\r\n", "hello"), "200:hello"},
      {"SizedWithMoreBehind", with_head("Content-Length: 5\r\n", "helloHTTP/1.1"), "200:hello"},
      {"SizedEmpty", with_head("Content-Length: 0\r\n", ""), "200:"},
      {"BlanksAroundAValue", with_head("content-LENGTH: \t5 \t\r\n", "hello"), "200:hello"},
      {"LeadingZeros", with_head("Content-Length: 005\r\n", "hello"), "200:hello"},
      {"NoReasonPhrase", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "200:x"},
      {"EmptyReasonPhrase", "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx", "200:x"},
      {"CloseDelimited", "HTTP/1.0 200 OK\r\n\r\nhello", "200:hello"},
      {"CloseDelimited11", with_head("", "hello"), "200:hello"},
      {"Chunked", with_head(chunked, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "200:abcde"},
      {"ChunkExtensions", with_head(chunked, "3;a=b\r\nabc\r\n0 ; c\r\n\r\n"), "200:abc"},
      {"Trailers", with_head(chunked, "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n"), "200:x"},
      {"UpperCaseHex", with_head(chunked, "A\r\n0123456789\r\n0\r\n\r\n"), "200:0123456789"},
      {"CodingInUpperCase", with_head("transfer-encoding: CHUNKED\r\n", "0\r\n\r\n"), "200:"},
      {"IdentityCoding", with_head("Content-Encoding: identity\r\nContent-Length: 1\r\n", "x"),
       "200:x"},
      {"InterimOnes",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
           with_head("Content-Length: 1\r\n", "x"),
       "200:x"},
      {"NoContent", "HTTP/1.1 204 No Content\r\n\r\n", "204:"},
      {"ErrorHeadSaysAll", "HTTP/1.1 500 Oops\r\nContent-Length: 9999\r\n\r\n", "500:"},
      {"RedirectHeadSaysAll", "HTTP/1.1 302 Found\r\nLocation: http://x/\r\n\r\n", "302:"},
      {"Nothing", "", "closed-early"},
      {"CutStatusLine", "HTTP/1.1 20", "closed-early"},
      {"CutHead", "HTTP/1.1 200 OK\r\nContent-Le", "closed-early"},
      {"CutBody", with_head("Content-Length: 9\r\n", "hello"), "closed-early"},
      {"CutChunk", with_head(chunked, "9\r\nhello"), "closed-early"},
      {"NoLastChunk", with_head(chunked, "5\r\nhello\r\n"), "closed-early"},
      {"NoEndOfTrailers", with_head(chunked, "0\r\n"), "closed-early"},
      {"NegativeLength", with_head("Content-Length: -1\r\n", "x"), "bad-http"},
      {"SignedLength", with_head("Content-Length: +1\r\n", "x"), "bad-http"},
      {"HexLength", with_head("Content-Length: 0x1\r\n", "x"), "bad-http"},
      {"EmptyLength", with_head("Content-Length:\r\n", "x"), "bad-http"},
      {"ListOfLengths", with_head("Content-Length: 1, 1\r\n", "x"), "bad-http"},
      {"TwoLengths", with_head("Content-Length: 1\r\nContent-Length: 2\r\n", "x"), "bad-http"},
      {"LengthAndCoding", with_head("Content-Length: 1\r\n" + chunked, "0\r\n\r\n"), "bad-http"},
      {"CodingAndLength", with_head(chunked + "Content-Length: 1\r\n", "0\r\n\r\n"), "bad-http"},
      {"ChunkedIn10", "HTTP/1.0 200 OK\r\n" + chunked + "\r\n0\r\n\r\n", "bad-http"},
      {"TwoCodings", with_head(chunked + chunked, "0\r\n\r\n"), "bad-http"},
      {"GzipTransfer", with_head("Transfer-Encoding: gzip, chunked\r\n", "x"), "bad-http"},
      {"Gzip", with_head("Content-Encoding: gzip\r\nContent-Length: 1\r\n", "x"), "bad-http"},
      {"ChunkTooLong", with_head(chunked, "3\r\nabcd\r\n0\r\n\r\n"), "bad-http"},
      {"ChunkSizeNotHex", with_head(chunked, "xyz\r\nabc\r\n0\r\n\r\n"), "bad-http"},
      {"ChunkSizeSigned", with_head(chunked, "+3\r\nabc\r\n0\r\n\r\n"), "bad-http"},
      {"ChunkSizePrefixed", with_head(chunked, "0x3\r\nabc\r\n0\r\n\r\n"), "bad-http"},
      {"ChunkSizeEmpty", with_head(chunked, "\r\nabc\r\n0\r\n\r\n"), "bad-http"},
      {"BadTrailer", with_head(chunked, "0\r\n folded\r\n\r\n"), "bad-http"},
      {"BareLineFeed", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "bad-http"},
      {"BareLineFeedInAField", with_head("A: b\nContent-Length: 1\r\n", "x"), "bad-http"},
      {"BareCarriageReturn", with_head("A: b\rc\r\nContent-Length: 1\r\n", "x"), "bad-http"},
      {"FoldedField", with_head("A: b\r\n c\r\nContent-Length: 1\r\n", "x"), "bad-http"},
      {"BlankBeforeColon", with_head("Content-Length : 1\r\n", "x"), "bad-http"},
      {"NoColon", with_head("Content-Length\r\n", "x"), "bad-http"},
      {"NoFieldName", with_head(": 1\r\n", "x"), "bad-http"},
      {"NulInAField", with_head(std::string("A: b\0c\r\n", 8), "x"), "bad-http"},
      {"EscapeInStatus", "HTTP/1.1 500 \x1b[2J\x1b]0;owned\x07\r\n\r\n", "bad-http"},
      {"OtherVersion", "HTTP/2.0 200 OK\r\n\r\n", "bad-http"},
      {"HttpOneTwo", "HTTP/1.2 200 OK\r\n\r\n", "bad-http"},
      {"ShortStatus", "HTTP/1.1 20 OK\r\n\r\n", "bad-http"},
      {"LongStatus", "HTTP/1.1 2000 OK\r\n\r\n", "bad-http"},
      {"LeadingZeroStatus", "HTTP/1.1 020 OK\r\n\r\n", "bad-http"},
      {"TwoBlanksBeforeStatus", "HTTP/1.1  200 OK\r\n\r\n", "bad-http"},
      {"LowerCaseHttp", "http/1.1 200 OK\r\n\r\n", "bad-http"},
      {"EmptyLineFirst", "\r\nHTTP/1.1 200 OK\r\n\r\n", "bad-http"},
      {"SwitchingProtocols", "HTTP/1.1 101 Switching\r\n\r\n", "bad-http"},
      {"SshBanner", "SSH-2.0-OpenSSH_9.9\r\n", "bad-http"},
      {"TlsAlert", std::string("\x15\x03\x01\x00\x02\x02\x46", 7), "bad-http"},
      {"HugeLength", with_head("Content-Length: 18446744073709551615\r\n", "x"), "too-large"},
      {"HugerLength", with_head("Content-Length: " + std::string(300, '9') + "\r\n", "x"),
       "too-large"},
      {"LengthOverTheBound", with_head("Content-Length: 1048577\r\n", "x"), "too-large"},
      {"HugeChunk", with_head(chunked, "ffffffffffffffffff\r\n"), "too-large"},
      {"ChunkOverTheBound", with_head(chunked, "100001\r\n"), "too-large"},
      {"LongField", with_head("A: " + std::string(70'000, 'b') + "\r\n", "x"), "too-large"},
      {"ManyInterimOnes",
       [] {
         std::string text;
         for (int i = 0; i < 17; ++i) text += "HTTP/1.1 100 Continue\r\n\r\n";
         return text + with_head("Content-Length: 1\r\n", "x");
       }(),
       "bad-http"},
  };
}

class HttpResponseCases : public testing::TestWithParam<Case> {};

TEST_P(HttpResponseCases, IsReadAsDocumented) {
  EXPECT_EQ(read(GetParam().text), GetParam().outcome);
}

TEST_P(HttpResponseCases, IsTheSameInSingleBytesAndAnyOddPieces) {
  for (const std::size_t size : {1U, 2U, 3U, 7U}) {
    EXPECT_EQ(read(GetParam().text, size), GetParam().outcome) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, HttpResponseCases, testing::ValuesIn(cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(HttpResponse, IsTheSameSplitAtEveryByte) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\n" +
      with_head("Transfer-Encoding: chunked\r\n", "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: r\r\n\r\n");
  for (std::size_t at = 0; at <= text.size(); ++at) {
    HttpResponse response;
    response.feed(std::string_view(text).substr(0, at));
    response.feed(std::string_view(text).substr(at));
    EXPECT_EQ(outcome_of(response), "200:abcde") << at;
  }
}

TEST(HttpResponse, EndsByItsFramingNotByTheClose) {
  HttpResponse sized;
  EXPECT_EQ(sized.feed(with_head("Content-Length: 1\r\n", "x")), HttpState::kComplete);
  HttpResponse chunked;
  EXPECT_EQ(chunked.feed(with_head("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n")),
            HttpState::kComplete);
}

TEST(HttpResponse, TakesABodyOfExactlyTheBoundAndNotOneByteMore) {
  const HttpBounds bounds{.body_bytes = 4};
  EXPECT_EQ(read(with_head("Content-Length: 4\r\n", "abcd"), 3, bounds), "200:abcd");
  EXPECT_EQ(read(with_head("Content-Length: 5\r\n", "abcde"), 3, bounds), "too-large");
  EXPECT_EQ(read(with_head("", "abcd"), 3, bounds), "200:abcd");
  EXPECT_EQ(read(with_head("", "abcde"), 3, bounds), "too-large");
  EXPECT_EQ(read(with_head("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"), 3,
                 bounds),
            "200:abcd");
  EXPECT_EQ(read(with_head("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"), 3,
                 bounds),
            "too-large");
}

TEST(HttpResponse, BoundsTheHeadOverInterimResponsesAndTrailers) {
  const HttpBounds bounds{.head_bytes = 100};
  const std::string interim = "HTTP/1.1 100 Continue\r\nA: " + std::string(60, 'b') + "\r\n\r\n";
  EXPECT_EQ(read(interim + with_head("Content-Length: 0\r\n", ""), 9, bounds), "too-large");
  const std::string trailer = "0\r\nA: " + std::string(60, 'b') + "\r\n\r\n";
  EXPECT_EQ(read(with_head("Transfer-Encoding: chunked\r\n", trailer), 9, bounds), "too-large");
}

TEST(HttpResponse, BoundsWhatTheFramingOfChunksTakes) {
  const HttpBounds bounds{.framing_bytes = 64};
  std::string body;
  for (int i = 0; i < 20; ++i) body += "1;extension\r\nx\r\n";
  EXPECT_EQ(read(with_head("Transfer-Encoding: chunked\r\n", body), 9, bounds), "too-large");
}

TEST(HttpResponse, ReadsTheBodyOfAnErrorOnlyWhereAsked) {
  const std::string text = "HTTP/1.1 400 Bad\r\nContent-Length: 1\r\n\r\nx";
  HttpResponse with_bodies(true);
  EXPECT_EQ(with_bodies.feed(text), HttpState::kComplete);
  EXPECT_EQ(with_bodies.body(), "x");
  HttpResponse without;
  EXPECT_EQ(without.feed(text), HttpState::kComplete);
  EXPECT_EQ(without.body(), "");
}

TEST(HttpResponse, NeverReadsTheBodyOfARefusal) {
  HttpResponse response(true);
  EXPECT_EQ(response.feed("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n\r\n"),
            HttpState::kComplete);
  EXPECT_TRUE(response.asks_credentials());
}

TEST(HttpResponse, IsClosedEarlyWhereTheConnectionBreaksInAnOpenBody) {
  HttpResponse response;
  response.feed(with_head("", "hello"));
  EXPECT_EQ(response.finish(false), HttpState::kFailed);
  EXPECT_EQ(response.problem(), HttpProblem::kClosedEarly);
}

TEST(HttpResponse, TakesNothingMoreOnceItFailed) {
  HttpResponse response;
  response.feed("SSH");
  EXPECT_EQ(response.feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), HttpState::kFailed);
}

}  // namespace
}  // namespace rollcall::doors
