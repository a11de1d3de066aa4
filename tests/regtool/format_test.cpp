#include "regtool/format.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/shown_url.hpp"

namespace rollcall::regtool {
namespace {

TEST(FormatUptime, CountsDaysApart) {
  EXPECT_EQ(format_uptime(0), "00:00:00");
  EXPECT_EQ(format_uptime(65), "00:01:05");
  EXPECT_EQ(format_uptime(86'399), "23:59:59");
  EXPECT_EQ(format_uptime(86'400), "1d 00:00:00");
  EXPECT_EQ(format_uptime(200 * 86'400 + 3'661), "200d 01:01:01");
}

TEST(FormatUptime, IsADashWhereItIsUnknown) {
  EXPECT_EQ(format_uptime(std::nullopt), "-");
  EXPECT_EQ(format_uptime(-1), "-");
}

TEST(FormatName, JoinsNameAndVersion) {
  EXPECT_EQ(format_name("a", "1"), "a@1");
  EXPECT_EQ(format_name("a", ""), "a");
  EXPECT_EQ(format_name("", ""), "-");
}

TEST(ShownUrl, KeepsOnlySchemeHostAndPort) {
  EXPECT_EQ(shown_url("127.0.0.1:80"), "127.0.0.1:80");
  EXPECT_EQ(shown_url("http://127.0.0.1:80"), "http://127.0.0.1:80");
  EXPECT_EQ(shown_url("http://user:pass@127.0.0.1:80/p?token=x#f"), "http://127.0.0.1:80");
  EXPECT_EQ(shown_url("user:secret@127.0.0.1:80"), "127.0.0.1:80");
  EXPECT_EQ(shown_url("127.0.0.1:80?token=secret"), "127.0.0.1:80");
  EXPECT_EQ(shown_url("http://a@b@c:1"), "http://c:1");
  EXPECT_EQ(shown_url("secret@x://c:1"), "c:1");
  EXPECT_EQ(shown_url("http://a\\secret@b"), "http://a");
}

TEST(FormatDoor, NamesUrlKindOrNothing) {
  Record record;
  EXPECT_EQ(format_door(record), "-");
  record.door = DoorSpec{"unix", {{"path", "/run/x.sock"}}};
  EXPECT_EQ(format_door(record), "unix:/run/x.sock");
  record.door = DoorSpec{"org.example.ping", {}};
  EXPECT_EQ(format_door(record), "org.example.ping");
  record.url = "http://u:p@127.0.0.1:80";
  EXPECT_EQ(format_door(record), "http://127.0.0.1:80");
}

TEST(ParseInteger, TakesPlainDecimalOnly) {
  EXPECT_EQ(parse_integer("010", 0, 100), 10);
  EXPECT_EQ(parse_integer("2147483647", 1, kMaxPid), kMaxPid);
  for (const char* bad : {"", " 1", "1 ", "+1", "-1", "0x10", "1e3", "1.0", "2147483648",
                          "99999999999999999999", "\xd9\xa1"}) {
    EXPECT_FALSE(parse_integer(bad, 0, kMaxPid)) << bad;
  }
}

TEST(ParseDuration, TakesUnitsAndFractions) {
  EXPECT_EQ(parse_duration_ns("5"), 5'000'000'000);
  EXPECT_EQ(parse_duration_ns("1.5"), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("500ms"), 500'000'000);
  EXPECT_EQ(parse_duration_ns("0.25s"), 250'000'000);
  EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000);
  EXPECT_EQ(parse_duration_ns("1h"), 3'600'000'000'000);
}

TEST(ParseDuration, RefusesWhatIsNoTime) {
  for (const char* bad : {"",    "0",   "0ms",   "0.0",      "-1",
                          "NaN", "nan", "inf",   "1e300",    "1e3",
                          "5 s", " 5",  "5d",    "ms",       ".",
                          ".5",  "1.",  "1.5.2", "1000000h", "99999999999999999999"}) {
    EXPECT_FALSE(parse_duration_ns(bad)) << bad;
  }
}

TEST(ParseKeyValue, SplitsAtTheFirstEquals) {
  const auto pair = parse_key_value("team=a=b");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->key, "team");
  EXPECT_EQ(pair->value, "a=b");
  EXPECT_TRUE(parse_key_value("k="));
  for (const char* bad : {"", "=", "=v", "noequals", "a b=c", "k\n=v"}) {
    EXPECT_FALSE(parse_key_value(bad)) << bad;
  }
}

TEST(LooksSecret, KnowsTheUsualNames) {
  EXPECT_TRUE(looks_secret("API_KEY"));
  EXPECT_TRUE(looks_secret("door_token"));
  EXPECT_TRUE(looks_secret("DbPassword"));
  EXPECT_FALSE(looks_secret("path"));
  EXPECT_FALSE(looks_secret("team"));
}

}  // namespace
}  // namespace rollcall::regtool
