// What Windows' numbers and texts mean; pure.
#include "backends/windows/decode.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace rollcall::testing {
namespace {

using namespace windows_backend;  // NOLINT: the unit under test
using namespace std::string_literals;

TEST(StartToken, IsTheCreationTimeInDecimal) {
  EXPECT_EQ(start_token(133'800'000'012'345'678), "133800000012345678");
  EXPECT_EQ(start_token(UINT64_MAX), "18446744073709551615");
}

TEST(StartToken, IsNoneWhereTheCreationTimeIsZero) { EXPECT_EQ(start_token(0), std::nullopt); }

TEST(UnixTime, CountsFrom1970) {
  EXPECT_EQ(unix_ns(116'444'736'000'000'000), 0);
  EXPECT_EQ(unix_ns(116'444'736'000'000'001), 100);
  EXPECT_EQ(unix_ns(116'444'735'999'999'999), std::nullopt);
  EXPECT_EQ(unix_ns(UINT64_MAX), std::nullopt);
}

TEST(BootId, IsInSecondsFlooredToTheMinute) {
  constexpr std::uint64_t kMinute = 600'000'000;
  const std::uint64_t boot = 116'444'736'000'000'000 + 28'000'000 * kMinute;
  EXPECT_EQ(boot_id(boot, 0), "1680000000");
  EXPECT_EQ(boot_id(boot + kMinute - 1, 0), "1680000000");
  EXPECT_EQ(boot_id(boot + kMinute, 0), "1680000060");
}

// Setting the clock moves the boot time, and the bias by as much.
TEST(BootId, IsTheSameAfterTheClockWasSet) {
  const std::uint64_t boot = 134'000'000'000'000'000;
  constexpr std::uint64_t kHour = 36'000'000'000;
  EXPECT_EQ(boot_id(boot + kHour, kHour), boot_id(boot, 0));
  EXPECT_EQ(boot_id(boot - kHour, std::uint64_t{0} - kHour), boot_id(boot, 0));
}

TEST(BootId, IsNoneWithoutABootTime) {
  EXPECT_EQ(boot_id(0, 0), std::nullopt);
  EXPECT_EQ(boot_id(0, 1), std::nullopt);
}

TEST(ToUtf8, EncodesEveryLength) {
  EXPECT_EQ(to_utf8(u"a\u00E9\u20AC\U0001F600"), "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(ToUtf8, KeepsASurrogateWithoutItsOtherHalf) {
  const char16_t high[] = {u'a', 0xD83D, u'b'};
  const char16_t low[] = {0xDE00, u'b'};
  const char16_t swapped[] = {0xDE00, 0xD83D};
  EXPECT_EQ(to_utf8({high, 3}),
            "a\xED\xA0\xBD"
            "b");
  EXPECT_EQ(to_utf8({low, 2}),
            "\xED\xB8\x80"
            "b");
  EXPECT_EQ(to_utf8({swapped, 2}), "\xED\xB8\x80\xED\xA0\xBD");
}

struct Split {
  std::u16string line;
  std::string arguments;
};

// The cases of "Parsing C command-line arguments" and of CommandLineToArgvW's documentation.
TEST(SplitCommandLine, SplitsAsCommandLineToArgvWDoes) {
  const Split cases[] = {
      {u"a.exe", "a.exe\0"s},
      {u"a.exe b  c\td", "a.exe\0b\0c\0d\0"s},
      {uR"("C:\a b\x.exe" "c d" e)", "C:\\a b\\x.exe\0c d\0e\0"s},
      {uR"(a.exe "abc" d e)", "a.exe\0abc\0d\0e\0"s},
      {uR"(a.exe a\\b d"e f"g h)", "a.exe\0a\\\\b\0de fg\0h\0"s},
      {uR"(a.exe a\\\"b c d)", "a.exe\0a\\\"b\0c\0d\0"s},
      {uR"(a.exe a\\\\"b c" d e)", "a.exe\0a\\\\b c\0d\0e\0"s},
      {uR"(a.exe "" x)", "a.exe\0\0x\0"s},
      {uR"(a.exe "a""b" c)", "a.exe\0a\"b c\0"s},
      {uR"(a.exe """a""" b)", "a.exe\0\"a\"\0b\0"s},
      {uR"(a.exe x\)", "a.exe\0x\\\0"s},
      {uR"(a.exe "open end)", "a.exe\0open end\0"s},
      {uR"(C:\a\"b.exe c)", "C:\\a\\\"b.exe\0c\0"s},
      {uR"("a.exe"b c)", "a.exe\0b\0c\0"s},
      {u" a.exe", "\0a.exe\0"s},
      {u"a.exe  ", "a.exe\0"s},
  };
  for (const Split& one : cases) {
    EXPECT_EQ(split_command_line(one.line), one.arguments) << to_utf8(one.line);
  }
}

TEST(SplitCommandLine, HasNoArgumentsWhereThereIsNoLine) {
  EXPECT_EQ(split_command_line(u""), "");
  EXPECT_EQ(split_command_line({u"\0x", 2}), "");
}

TEST(SplitCommandLine, EndsAtANul) { EXPECT_EQ(split_command_line({u"a b\0c", 5}), "a\0b\0"s); }

TEST(DecodeEnvironment, EndsAtTheEmptyEntry) {
  const std::u16string block(u"A=1\0=C:=C:\\x\0B=\u00E9\0\0junk", 22);
  EXPECT_EQ(decode_environment(block), "A=1\0=C:=C:\\x\0B=\xC3\xA9\0"s);
}

TEST(DecodeEnvironment, OfNothingIsEmpty) {
  EXPECT_EQ(decode_environment({u"\0", 1}), "");
  EXPECT_EQ(decode_environment({u"\0\0", 2}), "");
}

TEST(DecodeEnvironment, ThatIsCutIsNone) {
  EXPECT_EQ(decode_environment(u""), std::nullopt);
  EXPECT_EQ(decode_environment(u"A=1"), std::nullopt);
  EXPECT_EQ(decode_environment({u"A=1\0B=2", 7}), std::nullopt);
  EXPECT_EQ(decode_environment({u"A=1\0", 4}), std::nullopt);
}

TEST(TrimDirectory, DropsTheBackslashOfAllButARoot) {
  EXPECT_EQ(trim_directory(u"C:\\a\\"), u"C:\\a");
  EXPECT_EQ(trim_directory(u"C:\\"), u"C:\\");
  EXPECT_EQ(trim_directory(u"\\\\host\\share\\"), u"\\\\host\\share");
  EXPECT_EQ(trim_directory(u"\\"), u"\\");
  EXPECT_EQ(trim_directory(u""), u"");
}

Endpoint v4(std::uint8_t a, std::uint8_t d, std::uint16_t port) {
  const std::uint8_t bytes[] = {a, 0, 0, d};
  return v4_endpoint(bytes, port);
}

Endpoint v6(std::uint8_t last, std::uint16_t port) {
  std::uint8_t bytes[16] = {};
  bytes[15] = last;
  return v6_endpoint(bytes, port);
}

TEST(Loopback, IsTheNet127OfAnIpv4SocketAndOne) {
  EXPECT_TRUE(is_loopback({Family::kV4, v4(127, 9, 1)}));
  EXPECT_FALSE(is_loopback({Family::kV4, v4(10, 1, 1)}));
  EXPECT_TRUE(is_loopback({Family::kV6, v6(1, 1)}));
  EXPECT_FALSE(is_loopback({Family::kV6, v6(2, 1)}));
  EXPECT_FALSE(is_loopback({Family::kV6, v4(127, 1, 1)}));  // ::ffff:127.0.0.1
}

TEST(Show, WritesAddressAndPort) {
  EXPECT_EQ(show({Family::kV4, v4(127, 1, 8080)}), "127.0.0.1:8080");
  EXPECT_EQ(show({Family::kV6, v6(1, 80)}), "[::1]:80");
  EXPECT_EQ(show({Family::kV6, v6(2, 80)}), "[0000:0000:0000:0000:0000:0000:0000:0002]:80");
}

TEST(CouldHaveTaken, IsTheAddressOrAWildcardOfThePort) {
  const Endpoint door = v4(127, 1, 80);
  const auto listener = [](const Endpoint& at, bool v6_table) {
    return TcpRow{.local = at, .listening = true, .v6 = v6_table, .pid = 1};
  };
  EXPECT_TRUE(could_have_taken(listener(door, false), door));
  EXPECT_TRUE(could_have_taken(listener(v4(0, 0, 80), false), door));
  EXPECT_TRUE(could_have_taken(listener(v6(0, 80), true), door));
  EXPECT_TRUE(could_have_taken(listener(v6(0, 80), true), v6(1, 80)));
  EXPECT_FALSE(could_have_taken(listener(v4(127, 1, 81), false), door));
  EXPECT_FALSE(could_have_taken(listener(v4(127, 2, 80), false), door));
  EXPECT_FALSE(could_have_taken(listener(v6(1, 80), true), door));
  EXPECT_FALSE(could_have_taken(listener(v4(0, 0, 80), false), v6(1, 80)));
  TcpRow connected = listener(door, false);
  connected.listening = false;
  EXPECT_FALSE(could_have_taken(connected, door));
}

TEST(ErrorText, NamesTheNumber) {
  EXPECT_EQ(error_text(5), "access is denied (error 5)");
  EXPECT_EQ(error_text(31), "error 31");
}

}  // namespace
}  // namespace rollcall::testing
