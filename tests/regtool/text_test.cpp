#include "core/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rollcall::text {
namespace {

TEST(ForTerminal, LeavesPlainTextAlone) {
  EXPECT_EQ(for_terminal("builder@1.2 /srv/a b"), "builder@1.2 /srv/a b");
  EXPECT_EQ(for_terminal("größe 日本 🙂"), "größe 日本 🙂");
}

TEST(ForTerminal, EscapesEveryControlCodeOfAscii) {
  for (int code = 0; code < 0x20; ++code) {
    const std::string shown = for_terminal(std::string(1, static_cast<char>(code)));
    EXPECT_EQ(shown.size(), 4U) << code;
    EXPECT_EQ(shown.substr(0, 2), "\\x");
  }
  EXPECT_EQ(for_terminal("\x7f"), "\\x7f");
  EXPECT_EQ(for_terminal("a\x1b]0;x\x07z\r\n"), "a\\x1b]0;x\\x07z\\x0d\\x0a");
  EXPECT_EQ(for_terminal(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(ForTerminal, EscapesC1CodesInBothForms) {
  EXPECT_EQ(for_terminal("\xc2\x9b"
                         "31m"),
            "\\u{009b}31m");
  EXPECT_EQ(for_terminal("\x9b"
                         "31m"),
            "\\x9b31m");
}

TEST(ForTerminal, EscapesWhatMovesOrHidesText) {
  EXPECT_EQ(for_terminal("\u202e"), "\\u{202e}");
  EXPECT_EQ(for_terminal("\u2066\u2069\u200f\u061c"), "\\u{2066}\\u{2069}\\u{200f}\\u{061c}");
  EXPECT_EQ(for_terminal("\u2028\u2029"), "\\u{2028}\\u{2029}");
  EXPECT_EQ(for_terminal("\u200b\ufeff\u00ad"), "\\u{200b}\\u{feff}\\u{00ad}");
  EXPECT_EQ(for_terminal("\U000e0041"), "\\u{e0041}");
}

TEST(ForTerminal, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(for_terminal("/tmp/\xff\xfe"), "/tmp/\\xff\\xfe");
  EXPECT_EQ(for_terminal("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(for_terminal("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(for_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(for_terminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(ForTerminal, EscapesAllButAsciiForOtherLocales) {
  EXPECT_EQ(for_terminal("é日", Charset::kAscii), "\\u{00e9}\\u{65e5}");
}

TEST(ToUtf8, KeepsValidTextAndShowsBadBytes) {
  EXPECT_EQ(to_utf8("é\n"), "é\n");
  EXPECT_EQ(to_utf8("a\xff\xe2\x82z"), "a\\xff\\xe2\\x82z");
  EXPECT_TRUE(is_utf8(to_utf8("\xf0\x9f\x99\xf0\x80\xbf\xed\xbf\xbf")));
}

TEST(IsUtf8, IsStrict) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
  EXPECT_FALSE(is_utf8("\xc1\xbf"));
  EXPECT_FALSE(is_utf8("\xe0\x9f\xbf"));
  EXPECT_FALSE(is_utf8("\x80"));
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("é"), 1U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("한"), 2U);
  EXPECT_EQ(display_width("🙂"), 2U);
  EXPECT_EQ(display_width("ｆ"), 2U);
}

TEST(CutToWidth, CutsBetweenCodePoints) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdefg", 6), "abc...");
  EXPECT_EQ(cut_to_width("日本日本", 6), "日...");
  EXPECT_EQ(display_width(cut_to_width("日本日本日本", 7)), 7U);
  EXPECT_EQ(cut_to_width("abcdef", 2), "ab");
}

TEST(PadToWidth, PadsByColumnsNotBytes) {
  EXPECT_EQ(pad_to_width("日", 4), "日  ");
  EXPECT_EQ(pad_to_width("abcdef", 4), "abcdef");
}

}  // namespace
}  // namespace rollcall::text
