#include "backends/linux/decode.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <string>

#include "backend_support.hpp"

namespace rollcall::linux_backend {
namespace {

using rollcall::testing::stat_line;
using rollcall::testing::StatLine;

// Taken from a running Debian 12 system.
constexpr std::string_view kRealLine =
    "5982 (tmux: server) S 1 5982 5982 0 -1 4194624 540 0 0 0 12 9 0 0 20 0 1 0 120856 11104256 "
    "1102 "
    "18446744073709551615 94286 94823 140733 0 0 0 0 528386 134433281 0 0 0 17 1 0 0 0 0 0 94 94 "
    "94 "
    "140 140 140 140 0\n";

TEST(DecodeStat, ReadsEachFieldWhereTheManualHasIt) {
  const auto stat = decode_stat(kRealLine);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "tmux: server");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->flags, 4194624U);
  EXPECT_EQ(stat->threads, 1);
  EXPECT_EQ(stat->start, "120856");
  EXPECT_EQ(stat->start_ticks, 120856U);
  EXPECT_EQ(stat->exit_signal, 17);
}

TEST(DecodeStat, CountsFieldsFromTheLastParenthesis) {
  for (const std::string name : {"sleep (2) .sh", "a) Z 0 1 (b", ") ", "", "tmux: server",
                                 "a b) R 1 2", "x\n) Z 1", "\xff\xfe)", "((((", "))))"}) {
    const auto line = stat_line(7, {.name = name});
    const auto stat = decode_stat(line);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->start, "78475") << name;
    EXPECT_FALSE(has_exited(*stat)) << name;
  }
}

TEST(DecodeStat, RefusesEveryLineThatWasCut) {
  const auto line = stat_line(7);
  const auto last_needed = line.rfind(" 17 ") + 4;  // the blank behind field 38
  for (std::size_t size = 0; size < last_needed; ++size) {
    EXPECT_FALSE(decode_stat(std::string_view(line).substr(0, size))) << size;
  }
  EXPECT_TRUE(decode_stat(std::string_view(line).substr(0, last_needed)));
}

TEST(DecodeStat, RefusesWhatIsNoStat) {
  for (const std::string_view text : {"", "\n", "7", "7 (a", "7 a) S", ") (", "7 (a)", "7 (a) ",
                                      "7 (a) SS 1 1 1", "7 (a)S 1 1"}) {
    EXPECT_FALSE(decode_stat(text)) << text;
  }
  EXPECT_FALSE(decode_stat(std::string(5000, ' ')));
  EXPECT_FALSE(decode_stat(std::string(64, '\0')));
}

TEST(DecodeStat, GivesNoStartTimeForWhatIsNoDecimalU64) {
  for (const std::string start : {"-1", "12a", "1234567890123456789012345", "0", "000", "+5",
                                  "18446744073709551616", "0x10", "1.5"}) {
    const auto line = stat_line(7, {.start = start});
    const auto stat = decode_stat(line);
    ASSERT_TRUE(stat) << start;
    EXPECT_EQ(stat->start, "") << start;
  }
  const auto line = stat_line(7, {.start = "18446744073709551615"});
  EXPECT_EQ(decode_stat(line)->start, "18446744073709551615");
}

TEST(DecodeStat, CountsOnlyZombiesAndDeadAsExited) {
  for (const char state : std::string_view("RSDTtIPWKQ?")) {
    const auto line = stat_line(7, {.state = state});
    EXPECT_FALSE(has_exited(*decode_stat(line))) << state;
  }
  for (const char state : std::string_view("ZXx")) {
    const auto line = stat_line(7, {.state = state});
    EXPECT_TRUE(has_exited(*decode_stat(line))) << state;
  }
}

TEST(DecodeStat, KeepsAZombieLeaderWhoseThreadsRunOn) {
  const auto line = stat_line(7, {.state = 'Z', .threads = 3});
  EXPECT_FALSE(has_exited(*decode_stat(line)));
}

TEST(DecodeStat, TellsThreadsAndStoppedProcesses) {
  const auto thread = stat_line(7, {.exit_signal = -1});
  EXPECT_TRUE(is_thread(*decode_stat(thread)));
  const auto silent_child = stat_line(7, {.exit_signal = 0});  // clone(2) without a signal
  EXPECT_FALSE(is_thread(*decode_stat(silent_child)));
  for (const char state : std::string_view("Tt")) {
    const auto line = stat_line(7, {.state = state});
    EXPECT_TRUE(is_suspended(*decode_stat(line)));
  }
}

TEST(ParsePid, TakesPlainNumbersOfProcessesOnly) {
  EXPECT_EQ(parse_pid("1"), 1);
  EXPECT_EQ(parse_pid("2147483647"), 2147483647);
  for (const std::string_view text : {"", "0", "01", "-1", "+1", " 1", "1 ", "2147483648", "self",
                                      "1a", "99999999999999999999"}) {
    EXPECT_FALSE(parse_pid(text)) << text;
  }
}

TEST(Bracketed, TakesLinksOfItsKindOnly) {
  EXPECT_EQ(bracketed("socket:[123]", "socket"), "123");
  EXPECT_EQ(bracketed("pid:[4026531836]", "pid"), "4026531836");
  for (const std::string_view text : {"", "socket:[]", "socket:[12", "socket:[1a]", "pipe:[123]",
                                      "/tmp/socket:[123]", "socket:123"}) {
    EXPECT_FALSE(bracketed(text, "socket")) << text;
  }
}

TEST(AgeNs, IsTheTimeSinceTheStartTick) {
  EXPECT_EQ(age_ns(100, 100, 3'000'000'000), 2'000'000'000);
  EXPECT_EQ(age_ns(300, 100, 3'000'000'000), 0);
}

TEST(AgeNs, IsUnknownInTheFutureAndForNonsense) {
  EXPECT_FALSE(age_ns(301, 100, 3'000'000'000));
  EXPECT_FALSE(age_ns(UINT64_MAX, 100, INT64_MAX));
  EXPECT_FALSE(age_ns(1, 0, INT64_MAX));
  EXPECT_FALSE(age_ns(1, -1, INT64_MAX));
  EXPECT_FALSE(age_ns(1, 100, -1));
}

// Lines of a real /proc/net/tcp and tcp6 on a little-endian machine.
constexpr std::string_view kTcp =
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "35210 1 0000000000000000 100 0 0 10 0";
constexpr std::string_view kTcp6 =
    "   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 35211 1 0000000000000000 100 0 0 10 0";

Endpoint v4(std::uint8_t first, std::uint8_t last, std::uint16_t port) {
  return {.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, first, 0, 0, last}, .port = port};
}

TEST(DecodeNetTcp, ReadsAddressPortStateOwnerAndInode) {
  const auto socket = decode_net_tcp(kTcp);
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->local, v4(127, 1, 8080));
  EXPECT_TRUE(socket->listening);
  EXPECT_EQ(socket->uid, 1000);
  EXPECT_EQ(socket->inode, 35210U);
  const auto six = decode_net_tcp(kTcp6);
  ASSERT_TRUE(six);
  EXPECT_TRUE(is_wildcard(six->local));
  EXPECT_FALSE(is_v4(six->local));
}

TEST(DecodeNetTcp, RefusesHeadingsAndCutLines) {
  EXPECT_FALSE(decode_net_tcp("  sl  local_address rem_address   st tx_queue"));
  EXPECT_FALSE(decode_net_tcp(""));
  EXPECT_FALSE(decode_net_tcp(kTcp.substr(0, 80)));
  EXPECT_FALSE(decode_net_tcp("0: 0100007F 0:0 0A"));
}

TEST(CouldHaveTaken, SeesTheAddressTheWildcardAndTheDualStack) {
  const auto door = v4(127, 1, 8080);
  EXPECT_TRUE(could_have_taken(*decode_net_tcp(kTcp), door));
  EXPECT_TRUE(could_have_taken(*decode_net_tcp(kTcp6), door));
  TcpSocket wildcard = *decode_net_tcp(kTcp);
  wildcard.local = v4(0, 0, 8080);
  EXPECT_TRUE(could_have_taken(wildcard, door));
  TcpSocket six_only = *decode_net_tcp(kTcp6);
  six_only.takes_v4 = false;
  EXPECT_FALSE(could_have_taken(six_only, door));
}

TEST(CouldHaveTaken, IgnoresOtherAddressesPortsAndFamilies) {
  const auto listener = *decode_net_tcp(kTcp);
  EXPECT_FALSE(could_have_taken(listener, v4(127, 2, 8080)));
  EXPECT_FALSE(could_have_taken(listener, v4(127, 1, 8081)));
  Endpoint six_loopback;
  six_loopback.address[15] = 1;
  six_loopback.port = 8080;
  TcpSocket wildcard = listener;
  wildcard.local = v4(0, 0, 8080);
  EXPECT_FALSE(could_have_taken(wildcard, six_loopback));
  EXPECT_TRUE(could_have_taken(*decode_net_tcp(kTcp6), six_loopback));
}

TEST(DecodeUids, TakesAllFourOfAWholeLineOnly) {
  using Uids = std::array<std::uint64_t, 4>;
  EXPECT_EQ(decode_uids("Name:\ta\\nUid:\nUid:\t1\t2\t3\t4294967294\nGid:\t0\t0\t0\t0\n"),
            (Uids{1, 2, 3, 4294967294}));
  for (const char* odd :
       {"", "Name:\tx\n", "Name:\tx\nUid:\t1\t2\t3\n", "Name:\tx\nUid:\t1\t2\t3\t",
        "Name:\tx\nUid:\t1\t2\t3\t4", "Name:\tx\nUid:\t1\t-2\t3\t4\n"}) {
    EXPECT_FALSE(decode_uids(odd)) << odd;
  }
}

}  // namespace
}  // namespace rollcall::linux_backend
