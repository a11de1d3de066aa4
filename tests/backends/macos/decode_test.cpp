#include "backends/macos/decode.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fake_mac.hpp"

namespace rollcall::testing {
namespace {

using macos_backend::could_have_taken;
using macos_backend::decode_arguments;
using macos_backend::decode_socket;
using macos_backend::Endpoint;
using macos_backend::start_token;

std::string text(std::string_view view) { return std::string(view); }

TEST(StartToken, HasSixDigitsOfMicroseconds) {
  EXPECT_EQ(start_token(1'700'000'100, 42).view(), "1700000100.000042");
  EXPECT_EQ(start_token(1'700'000'100, 999'999).view(), "1700000100.999999");
  EXPECT_EQ(start_token(1'700'000'100, 0).view(), "1700000100.000000");
}

TEST(StartToken, IsNoneWhereTheTimeIsAllZeros) { EXPECT_TRUE(start_token(0, 0).empty()); }

TEST(StartToken, IsNoneWhereAMillionMicrosecondsStand) {
  EXPECT_TRUE(start_token(1, 1'000'000).empty());
}

TEST(StartToken, HoldsTheLargestSecond) {
  EXPECT_EQ(start_token(UINT64_MAX, 1).view(), "18446744073709551615.000001");
}

TEST(Text, CutsBetweenTwoCharacters) {
  macos_backend::Text<4> cut;
  cut << "abc"
      << "\xC3\xA9";
  EXPECT_EQ(cut.view(), "abc");
}

TEST(Text, WritesTheLowestNumber) {
  macos_backend::Text<32> number;
  number << std::int64_t{INT64_MIN};
  EXPECT_EQ(number.view(), "-9223372036854775808");
}

TEST(Uuid, IsWrittenUpperCaseInFiveGroups) {
  const unsigned char uuid[16] = {0x9f, 0x1c, 0x0a, 0x52, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xff};
  EXPECT_EQ(macos_backend::uuid_text(uuid).view(), "9F1C0A52-0001-0203-0405-060708090AFF");
}

TEST(Arguments, AreCountedByArgcAndNeverTakenForVariables) {
  const auto area = argument_area(3,
                                  {"HYOUI_SESSION_ID=evil", "a b",
                                   "h\xC3\xB6"
                                   "r"},
                                  {"HYOUI_SESSION_ID=good", "PATH=/bin"});
  const auto found = decode_arguments(area);
  ASSERT_TRUE(found);
  EXPECT_EQ(text(found->command), std::string("HYOUI_SESSION_ID=evil\0a b\0h\xC3\xB6"
                                              "r\0",
                                              31));
  EXPECT_EQ(text(found->environment), std::string("HYOUI_SESSION_ID=good\0PATH=/bin\0", 32));
  EXPECT_TRUE(found->has_environment);
}

TEST(Arguments, EndTheEnvironmentBeforeTheSystemsOwnStrings) {
  const auto area = argument_area(1, {"agent"}, {"A=1"});
  const auto found = decode_arguments(area);
  ASSERT_TRUE(found);
  EXPECT_EQ(text(found->environment), std::string("A=1\0", 4));
}

TEST(Arguments, AnEmptyEnvironmentIsNotAWithheldOne) {
  const auto empty = argument_area(1, {"agent"}, {});
  const auto found = decode_arguments(empty);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->environment.empty());
  EXPECT_TRUE(found->has_environment);

  auto withheld = empty.substr(0, empty.rfind("agent") + 6);
  const auto other = decode_arguments(withheld);
  ASSERT_TRUE(other);
  EXPECT_EQ(text(other->command), std::string("agent\0", 6));
  EXPECT_FALSE(other->has_environment);
}

TEST(Arguments, MoreOfThemThanStringsIsUnreadable) {
  const int argc = 9;
  std::string area(reinterpret_cast<const char*>(&argc), sizeof argc);
  area += std::string("/bin/agent\0\0agent\0A=1\0", 22);
  EXPECT_FALSE(decode_arguments(area));
}

TEST(Arguments, ANegativeOrHugeCountIsUnreadable) {
  EXPECT_FALSE(decode_arguments(argument_area(-1, {"agent"}, {})));
  EXPECT_FALSE(decode_arguments(argument_area(INT32_MAX, {"agent"}, {})));
}

TEST(Arguments, AnAreaThatIsCutAnywhereInTheArgumentsIsUnreadable) {
  const auto area = argument_area(2, {"agent", "--serve"}, {});
  const std::size_t end = area.find("--serve") + 8;
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_FALSE(decode_arguments(std::string_view(area).substr(0, size))) << size;
  }
}

TEST(Arguments, AVariableThatIsCutIsUnreadable) {
  auto area = argument_area(1, {"agent"}, {"A=1", "SECRET=abc"});
  area.resize(area.find("SECRET") + 8);
  EXPECT_FALSE(decode_arguments(area));
}

TEST(Arguments, NoneAtAllAreNoError) {
  const auto area = argument_area(0, {}, {"A=1"});
  const auto found = decode_arguments(area);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->command.empty());
  EXPECT_EQ(text(found->environment), std::string("A=1\0", 4));
}

// Every byte of a good area changed to each of some values: never a read outside of it (the
// sanitizers watch), and what is found lies within.
TEST(Arguments, ChangedBytesAreReadWithinTheArea) {
  const auto good = argument_area(2, {"agent", "x"}, {"A=1"});
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char value : {'\0', 'A', '\x7F', '\xFF'}) {
      const std::string area = std::string(good).replace(i, 1, 1, value);
      const auto found = decode_arguments(area);
      if (!found) continue;
      EXPECT_LE(found->command.size() + found->environment.size(), area.size());
    }
  }
}

TEST(ShortName, IsTheRegisteredOneElseTheCommands) {
  proc_bsdinfo info = {};
  for (char& c : info.pbi_comm) c = 'c';  // fills its field, without a NUL
  EXPECT_EQ(text(macos_backend::short_name(info)), std::string(16, 'c'));
  info.pbi_name[0] = 'n';
  EXPECT_EQ(text(macos_backend::short_name(info)), "n");
}

Endpoint v4(unsigned char last, std::uint16_t port) {
  Endpoint endpoint;
  endpoint.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, last};
  endpoint.port = port;
  return endpoint;
}

TEST(Socket, OfAnotherKindOrWithoutAHandleIsNone) {
  auto info = tcp_descriptor(3, 7, "127.0.0.1:80").socket;
  ASSERT_TRUE(decode_socket(info));
  info.soi_so = 0;
  EXPECT_FALSE(decode_socket(info));
  info.soi_so = 7;
  info.soi_kind = SOCKINFO_UN;
  EXPECT_FALSE(decode_socket(info));
}

TEST(Socket, GivesBothEnds) {
  const auto socket = decode_socket(tcp_descriptor(3, 7, "127.0.0.1:80", "127.0.0.1:50000").socket);
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->local, v4(1, 80));
  EXPECT_EQ(socket->remote, v4(1, 50000));
  EXPECT_FALSE(socket->listening);
  EXPECT_TRUE(macos_backend::has_taken(*socket, v4(1, 80), v4(1, 50000)));
  EXPECT_FALSE(macos_backend::has_taken(*socket, v4(1, 80), v4(1, 50001)));
}

struct ListenerCase {
  const char* listener;
  bool takes;
};

TEST(Socket, AListenerCouldHaveTakenAConnectionByAddressWildcardOrDualStack) {
  const ListenerCase cases[] = {{"127.0.0.1:80", true}, {"*:80", true},
                                {"[::]:80", true},      {"127.0.0.2:80", false},
                                {"[::1]:80", false},    {"127.0.0.1:81", false}};
  for (const auto& one : cases) {
    const auto socket = decode_socket(tcp_descriptor(3, 7, one.listener).socket);
    ASSERT_TRUE(socket) << one.listener;
    EXPECT_EQ(could_have_taken(*socket, v4(1, 80)), one.takes) << one.listener;
  }
}

TEST(Socket, AWildcardOfV6AloneTakesNoV4) {
  auto info = tcp_descriptor(3, 7, "[::]:80").socket;
  info.soi_proto.pri_tcp.tcpsi_ini.insi_vflag = INI_IPV6;
  const auto socket = decode_socket(info);
  ASSERT_TRUE(socket);
  EXPECT_FALSE(could_have_taken(*socket, v4(1, 80)));
}

}  // namespace
}  // namespace rollcall::testing
