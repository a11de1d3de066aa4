#include "rollcall/door_url.hpp"

#include <gtest/gtest.h>

namespace rollcall {
namespace {

// The table of docs/doors.md, a row each.
struct Spelling {
  const char* url;
  const char* outcome;  // a reason, or the endpoints
};

std::string outcome_of(std::string_view url, const std::vector<std::string>& allowed = {}) {
  const auto address = parse_door_url(url, allowed);
  if (!address) return std::string(to_text(address.error().reason));
  std::string text;
  for (const Endpoint& endpoint : address->endpoints) {
    text += (text.empty() ? "" : " ") + endpoint.host + "/" + std::to_string(endpoint.port);
  }
  return text;
}

class DoorUrlTable : public testing::TestWithParam<Spelling> {};

TEST_P(DoorUrlTable, IsJudgedAsDocumented) {
  EXPECT_EQ(outcome_of(GetParam().url), GetParam().outcome) << GetParam().url;
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, DoorUrlTable,
    testing::Values(
        // taken
        Spelling{"127.0.0.1:80", "127.0.0.1/80"}, Spelling{"http://127.0.0.1:80", "127.0.0.1/80"},
        Spelling{"http://127.0.0.1:80/", "127.0.0.1/80"},
        Spelling{"127.0.0.53:65535", "127.0.0.53/65535"},
        Spelling{"127.255.255.254:1", "127.255.255.254/1"}, Spelling{"[::1]:80", "::1/80"},
        Spelling{"http://[::1]:80", "::1/80"}, Spelling{"localhost:80", "127.0.0.1/80 ::1/80"},
        // other spellings of loopback
        Spelling{"LOCALHOST:80", "bad-url"}, Spelling{"Localhost:80", "bad-url"},
        Spelling{"localhost.:80", "bad-url"}, Spelling{"[0:0:0:0:0:0:0:1]:80", "bad-url"},
        Spelling{"[::0001]:80", "bad-url"}, Spelling{"127.1:80", "bad-url"},
        Spelling{"127.0.1:80", "bad-url"}, Spelling{"2130706433:80", "bad-url"},
        Spelling{"0x7f.1:80", "bad-url"}, Spelling{"0x7f000001:80", "bad-url"},
        Spelling{"0177.0.0.1:80", "bad-url"}, Spelling{"127.0.0.01:80", "bad-url"},
        Spelling{"127.0.0.256:80", "bad-url"}, Spelling{"127.0.0.1.:80", "bad-url"},
        Spelling{"[::ffff:127.0.0.1]:80", "bad-url"},
        Spelling{"[::ffff:7f00:1]:80", "not-loopback"},
        // elsewhere
        Spelling{"0.0.0.0:80", "not-loopback"}, Spelling{"[::]:80", "not-loopback"},
        Spelling{"10.0.0.1:80", "not-loopback"}, Spelling{"128.0.0.1:80", "not-loopback"},
        Spelling{"[fe80::1]:80", "not-loopback"}, Spelling{"[fe80::1%lo]:80", "bad-url"},
        Spelling{"[2001:db8::1]:80", "not-loopback"}, Spelling{"example.com:80", "not-loopback"},
        Spelling{"localhost.evil.example:80", "not-loopback"},
        Spelling{"127.0.0.1.evil.example:80", "not-loopback"},
        Spelling{"localhostile:80", "not-loopback"},
        // userinfo, and what else stands where it should not
        Spelling{"http://localhost:80@evil.example/", "bad-url"},
        Spelling{"http://127.0.0.1@evil.example/", "bad-url"},
        Spelling{"http://user@127.0.0.1:80/", "bad-url"}, Spelling{"user@127.0.0.1:80", "bad-url"},
        Spelling{"127.0.0.1:80/path", "bad-url"}, Spelling{"http://127.0.0.1:80/path", "bad-url"},
        Spelling{"http://127.0.0.1:80//", "bad-url"}, Spelling{"127.0.0.1:80/", "bad-url"},
        Spelling{"http://127.0.0.1:80?x", "bad-url"}, Spelling{"http://127.0.0.1:80#x", "bad-url"},
        Spelling{"http://127.0.0.1:80\\x", "bad-url"}, Spelling{"HTTP://127.0.0.1:80", "bad-url"},
        Spelling{"//127.0.0.1:80", "bad-url"}, Spelling{"ftp://127.0.0.1:80", "bad-url"},
        Spelling{"http://http://127.0.0.1:80", "bad-url"}, Spelling{" 127.0.0.1:80", "bad-url"},
        Spelling{"127.0.0.1:80 ", "bad-url"}, Spelling{"127.0.0.1:80\n", "bad-url"},
        Spelling{"127.0.0.1:80\t", "bad-url"}, Spelling{"127.0.0.\xc2\xb9:80", "bad-url"},
        Spelling{"%31%32%37.0.0.1:80", "bad-url"}, Spelling{"", "bad-url"},
        Spelling{"http://", "bad-url"}, Spelling{":80", "bad-url"}, Spelling{"[]:80", "bad-url"},
        Spelling{"::1:80", "bad-url"}, Spelling{"[::1", "bad-url"}, Spelling{"[::1]", "bad-url"},
        Spelling{"[::1]x:80", "bad-url"}, Spelling{"[::1]80", "bad-url"},
        Spelling{"[127.0.0.1]:80", "bad-url"},
        // ports
        Spelling{"127.0.0.1", "bad-url"}, Spelling{"127.0.0.1:", "bad-url"},
        Spelling{"127.0.0.1:0", "bad-url"}, Spelling{"127.0.0.1:65536", "bad-url"},
        Spelling{"127.0.0.1:99999", "bad-url"}, Spelling{"127.0.0.1:080", "bad-url"},
        Spelling{"127.0.0.1:+80", "bad-url"}, Spelling{"127.0.0.1:-1", "bad-url"},
        Spelling{"127.0.0.1:8a", "bad-url"}, Spelling{"127.0.0.1:1,234", "bad-url"},
        Spelling{"127.0.0.1:80:80", "bad-url"},
        Spelling{"127.0.0.1:18446744073709551696", "bad-url"},
        // https
        Spelling{"https://127.0.0.1:443", "not-supported"},
        Spelling{"HTTPS://127.0.0.1:443", "not-supported"},
        Spelling{"https://user@evil.example/", "not-supported"}));

TEST(DoorUrl, KeepsTheAuthorityForTheHostHeader) {
  EXPECT_EQ(parse_door_url("http://127.0.0.1:8080/")->authority, "127.0.0.1:8080");
  EXPECT_EQ(parse_door_url("[::1]:80")->authority, "[::1]:80");
  EXPECT_EQ(parse_door_url("localhost:80")->authority, "localhost:80");
}

TEST(DoorUrl, TakesAListedNumericHostAndSaysItIsNotLoopback) {
  const auto address = parse_door_url("10.1.2.3:80", {"10.1.2.3"});
  ASSERT_TRUE(address);
  EXPECT_FALSE(address->loopback);
  EXPECT_EQ(outcome_of("[2001:db8::1]:80", {"[2001:db8::1]"}), "2001:db8::1/80");
  EXPECT_EQ(outcome_of("[2001:db8::1]:80", {"2001:db8::1"}), "2001:db8::1/80");
}

TEST(DoorUrl, ComparesListedHostsLetterForLetter) {
  EXPECT_EQ(outcome_of("10.1.2.4:80", {"10.1.2.3"}), "not-loopback");
  EXPECT_EQ(outcome_of("[2001:DB8::1]:80", {"2001:db8::1"}), "not-loopback");
  EXPECT_EQ(outcome_of("10.1.2.3:80", {""}), "not-loopback");
}

TEST(DoorUrl, NeverResolvesAListedName) {
  EXPECT_EQ(outcome_of("build.example:80", {"build.example"}), "not-loopback");
}

TEST(DoorUrl, RefusesTheUnspecifiedAddressEvenWhereListed) {
  EXPECT_EQ(outcome_of("0.0.0.0:80", {"0.0.0.0"}), "not-loopback");
  EXPECT_EQ(outcome_of("[::]:80", {"::"}), "not-loopback");
}

TEST(DoorUrl, StaysLoopbackWhereLoopbackIsListed) {
  EXPECT_TRUE(parse_door_url("127.0.0.1:80", {"127.0.0.1"})->loopback);
}

TEST(DoorUrl, SaysWhatIsWrong) {
  EXPECT_NE(parse_door_url("user@127.0.0.1:80").error().text.find("user name"), std::string::npos);
  EXPECT_NE(parse_door_url("LOCALHOST:80").error().text.find("lower case"), std::string::npos);
  EXPECT_NE(parse_door_url("127.0.0.1").error().text.find("port"), std::string::npos);
}

TEST(DoorUrl, RefusesALongTextUnread) {
  EXPECT_EQ(outcome_of(std::string(100'000, '1') + ":80"), "bad-url");
}

}  // namespace
}  // namespace rollcall
