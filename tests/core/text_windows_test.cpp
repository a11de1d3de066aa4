#include <gtest/gtest.h>

#include <windows.h>

#include <string>
#include <string_view>

#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

using namespace std::string_view_literals;

TEST(Widen, TakesEveryLengthOfUtf8) {
  const auto wide = widen("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xED\x9F\xBF");
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(*wide, L"a\u00E9\u20AC\xD83D\xDE00\uD7FF");
}

TEST(Widen, RefusesWhatIsNotUtf8AndNamesTheByte) {
  for (const std::string_view bad : {"ab\xFF"sv, "ab\xC3"sv, "ab\xC0\x80"sv, "ab\xED\xA0\x80"sv}) {
    const auto wide = widen(bad);
    ASSERT_FALSE(wide);
    EXPECT_EQ(wide.error().code, ErrorCode::kInvalid);
    EXPECT_NE(wide.error().message.find("byte 2"), std::string::npos) << wide.error().message;
  }
}

TEST(Narrow, IsTheReverseOfWiden) {
  const std::string_view text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF"sv;
  const auto back = narrow(*widen(text));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, text);
}

TEST(Narrow, KeepsZeroes) { EXPECT_EQ(*narrow(L"a\0b"sv), "a\0b"sv); }

TEST(Narrow, RefusesHalfOfAPair) {
  for (const std::wstring_view bad : {L"ab\xD83D"sv, L"ab\xDE00"sv, L"ab\xD83D\xD83D\xDE00"sv}) {
    const auto text = narrow(bad);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalid);
    EXPECT_NE(text.error().message.find("unit 2"), std::string::npos) << text.error().message;
  }
}

TEST(NarrowLossy, ShowsHalfOfAPairAsAReplacement) {
  EXPECT_EQ(narrow_lossy(L"a\xD83Dz\xDE00"sv), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
}

TEST(ErrorText, NamesTheNumberInOneLine) {
  const std::string text = error_text(ERROR_ACCESS_DENIED);
  EXPECT_TRUE(text.ends_with("(error 5)")) << text;
  EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << text;
}

TEST(ErrorText, StandsForANumberThatTheSystemDoesNotKnow) {
  EXPECT_EQ(error_text(0x2000'0001), "error 536870913");
}

}  // namespace
}  // namespace rollcall::core
