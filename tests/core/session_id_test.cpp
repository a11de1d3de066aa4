#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "rollcall/record.hpp"

namespace rollcall {
namespace {

TEST(CheckSessionId, TakesPlainFileNames) {
  for (const std::string_view id :
       {"a", "7", "ses_01926f3a5b7c7d8e9fa0b1c2d3e4f506", "A.b-C_d", "a..b", "console", "com10",
        "nul_", "lpt", "json", "a.json.x", "control", "tmp"}) {
    EXPECT_TRUE(check_session_id(id)) << id;
  }
  EXPECT_TRUE(check_session_id(std::string(128, 'a')));
}

TEST(CheckSessionId, RefusesWhatCouldLeaveItsFolderOrMeanSomethingElse) {
  for (const std::string_view id :
       {"",           ".",    "..",     "../x",   "/tmp/x",    "a/b",   "a\\b", "-rf",  "_a",
        ".hidden",    "a.",   "a ",     " a",     "a:b",       "a?b",   "a*b",  "a\nb", "a\x1b[2J",
        "a\xC4\xB1",  "\xFF", "x.json", "X.JSON", "x.control", "x.tmp", "CON",  "con",  "nul.txt",
        "NUL.tar.gz", "aux",  "PRN",    "com1",   "COM0",      "lpt9.x"}) {
    const auto checked = check_session_id(id);
    ASSERT_FALSE(checked) << id;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(checked.error().message.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(check_session_id(std::string("a\0b", 3)));
  EXPECT_FALSE(check_session_id(std::string(129, 'a')));
  EXPECT_FALSE(check_session_id(std::string(300, 'a')));
}

TEST(MakeSessionId, SortsByTimeAndIsAnId) {
  constexpr std::int64_t kNow = 1'789'509'297'123'456'789;
  std::string last;
  for (std::int64_t step = 0; step < 100; ++step) {
    const auto id = make_session_id(kNow + step * 1'000);
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_TRUE(check_session_id(*id));
    ASSERT_EQ(id->size(), 36U);
    EXPECT_EQ((*id)[16], '7') << *id;                                        // the version
    EXPECT_NE(std::string_view("89ab").find((*id)[20]), std::string::npos);  // the variant
    EXPECT_GT(*id, last);
    last = *id;
  }
}

TEST(MakeSessionId, NeverRepeats) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(*make_session_id(1'000'000)).second);
  EXPECT_FALSE(make_session_id(-1));
}

TEST(CheckToken, TakesVisibleAsciiOnly) {
  EXPECT_TRUE(check_token("abc-DEF_123~!"));
  EXPECT_TRUE(check_token(std::string(4096, 'x')));
  for (const std::string_view token : {"", " ", "q y", "q\r\nX: y", "q\x7F", "\xC3\xA9", "q\t"}) {
    const auto checked = check_token(token);
    ASSERT_FALSE(checked);
    if (token.size() > 1) {
      EXPECT_EQ(checked.error().message.find(token), std::string::npos);
    }
  }
  EXPECT_FALSE(check_token(std::string(4097, 'x')));
  EXPECT_FALSE(check_token(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace rollcall
