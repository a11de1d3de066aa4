#include "regtool/table.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace rollcall::regtool {
namespace {

TEST(RenderTable, AlignsColumnsByWhatIsShown) {
  const std::string shown =
      render_table({"A", "B"}, {{{"日本"}, {"x"}}, {{"abcdef"}, {"y"}}, {{"e\u0301"}, {"z"}}}, {});
  EXPECT_EQ(shown,
            "A       B\n"
            "日本    x\n"
            "abcdef  y\n"
            "e\u0301       z\n");
}

TEST(RenderTable, HoldsItsColumnsAgainstControlCodes) {
  const std::string shown = render_table(
      {"NAME", "PID"}, {{{"a\x1b[2J\r\n\u202e"}, {"1"}}, {{"plain"}, {"2"}}, {{"\xff\x9b"}, {"3"}}},
      {});
  std::istringstream lines(shown);
  std::size_t column = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::size_t last = text::display_width(line) - (count == 0 ? 3 : 1);
    if (count == 0) column = last;
    EXPECT_EQ(last, column) << line;
    for (const char byte : line) EXPECT_GE(static_cast<unsigned char>(byte), 0x20) << line;
    EXPECT_EQ(line.find("\u202e"), std::string::npos);
  }
  EXPECT_EQ(count, 4);
}

TEST(RenderTable, CutsAVeryWideCell) {
  TableStyle style;
  style.widest_cell = 10;
  const std::string shown = render_table({"A", "B"}, {{{std::string(5000, 'x')}, {"y"}}}, style);
  EXPECT_EQ(shown, "A           B\nxxxxxxx...  y\n");
}

TEST(RenderTable, LeavesNoBlanksAtTheEndOfALine) {
  EXPECT_EQ(render_table({"A", "B"}, {{{"x"}, {""}}}, {}), "A  B\nx\n");
}

TEST(RenderTable, ColoursOnlyWhenAsked) {
  TableStyle style;
  EXPECT_EQ(render_table({"A"}, {{{"x", Colour::kGood}}}, style), "A\nx\n");
  style.colour = true;
  EXPECT_EQ(render_table({"A"}, {{{"x", Colour::kGood}}}, style), "A\n\x1b[32mx\x1b[0m\n");
}

TEST(RenderTable, EscapesAllButAsciiInAnAsciiLocale) {
  TableStyle style;
  style.charset = text::Charset::kAscii;
  EXPECT_EQ(render_table({"A"}, {{{"é"}}}, style), "A\n\\u{00e9}\n");
}

}  // namespace
}  // namespace rollcall::regtool
