#include "core/command_line.hpp"

#include <gtest/gtest.h>

namespace rollcall::core {
namespace {

std::string line_of(const std::vector<std::string>& words) {
  const auto line = windows_command_line(words);
  return line ? *line : "error: " + line.error().message;
}

TEST(WindowsCommandLine, LeavesPlainWordsAsTheyAre) {
  EXPECT_EQ(line_of({"prog", "a", "--b=c", "C:\\dir\\", "'x'"}), R"(prog a --b=c C:\dir\ 'x')");
}

TEST(WindowsCommandLine, QuotesBlanksAndEmptyWords) {
  EXPECT_EQ(line_of({"C:\\Program Files\\x.exe", "", "a b", "a\tb", "a\nb"}),
            "\"C:\\Program Files\\x.exe\" \"\" \"a b\" \"a\tb\" \"a\nb\"");
}

TEST(WindowsCommandLine, DoublesBackslashesOnlyWhereAQuoteFollows) {
  EXPECT_EQ(line_of({"p", R"(a\\b c)"}), R"(p "a\\b c")");
  EXPECT_EQ(line_of({"p", R"(a b\)"}), R"(p "a b\\")");
  EXPECT_EQ(line_of({"p", R"(a b\\)"}), R"(p "a b\\\\")");
  EXPECT_EQ(line_of({"p", R"(a"b)"}), R"(p "a\"b")");
  EXPECT_EQ(line_of({"p", R"(a\"b)"}), R"(p "a\\\"b")");
  EXPECT_EQ(line_of({"p", R"(")"}), R"(p "\"")");
}

TEST(WindowsCommandLine, TakesBackslashesOfTheProgramsNameLiterally) {
  EXPECT_EQ(line_of({"C:\\a dir\\", "x"}), "\"C:\\a dir\\\" x");
  EXPECT_EQ(line_of({""}), "\"\"");
}

TEST(WindowsCommandLine, RefusesWhatNoLineCanCarry) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"a\"b"}, {"p", std::string("a\0b", 3)}, {std::string("p\0", 2)}}) {
    const auto line = windows_command_line(words);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, ErrorCode::kInvalid);
  }
  const auto line = windows_command_line({"p", std::string(32'765, 'x')});
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(windows_command_line({"p", std::string(32'764, 'x')}));
}

TEST(IsBatchFile, KnowsThemInEveryDisguise) {
  for (const char* path : {"a.bat", "C:\\x\\NPM.CMD", "a.cmd.", "a.bat . .", ".bat", "a.b.Cmd  "}) {
    EXPECT_TRUE(is_batch_file(path)) << path;
  }
  for (const char* path : {"", ".", "a.exe", "bat", "a.batx", "a.bat\\b", "a.cmd.exe", "cmd"}) {
    EXPECT_FALSE(is_batch_file(path)) << path;
  }
}

TEST(BatchCommandLine, QuotesEveryWord) {
  const auto line = batch_command_line("C:\\w\\cmd.exe", "C:\\a b\\x.cmd",
                                       {"x", "plain", "a & b", "c^d|e>f", "", "dir\\"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(*line,
            "\"C:\\w\\cmd.exe\" /d /e:on /v:off /s /c \"\"C:\\a b\\x.cmd\" \"plain\" \"a & b\" "
            "\"c^d|e>f\" \"\" \"dir\\\\\"\"");
}

TEST(BatchCommandLine, RefusesWordsThatCmdWouldTakeApart) {
  for (const char* word : {"%PATH%", "100%", "a\"&calc", "a\nb", "a\rb"}) {
    const auto line = batch_command_line("cmd.exe", "x.cmd", {"x", "fine", word});
    ASSERT_FALSE(line) << word;
    EXPECT_EQ(line.error().code, ErrorCode::kInvalid);
    EXPECT_NE(line.error().message.find("batch file"), std::string::npos);
  }
  EXPECT_FALSE(batch_command_line("cmd.exe", "100%.cmd", {"x"}));
  EXPECT_FALSE(batch_command_line("cmd.exe", "x.cmd", {"x", std::string(8'191, 'y')}));
}

}  // namespace
}  // namespace rollcall::core
