#include "common/net.hpp"

#include <gtest/gtest.h>

#include "doors/sockets.hpp"

namespace rollcall::doors {
namespace {

TEST(TcpAddress, IsNumericOnly) {
  EXPECT_EQ(tcp_address("127.0.0.1", 80)->family, Family::kIpv4);
  EXPECT_EQ(tcp_address("::1", 80)->family, Family::kIpv6);
  for (const char* text : {"localhost", "", "127.1", "[::1]", "0x7f.1", "fe80::1%lo"}) {
    EXPECT_FALSE(tcp_address(text, 80)) << text;
  }
  EXPECT_FALSE(tcp_address(std::string_view("127.0.0.1\0x", 11), 80));
}

#if defined(_WIN32)
const std::string kTop = "C:\\";
#else
const std::string kTop = "/";
#endif

TEST(UnixAddress, IsAbsoluteAndFits) {
  EXPECT_TRUE(unix_address(kTop + "run"));
  const std::string longest = kTop + std::string(test::longest_unix_path() - kTop.size(), 'a');
  EXPECT_TRUE(unix_address(longest));
  EXPECT_FALSE(unix_address(longest + "a"));
  EXPECT_FALSE(unix_address("run/door.sock"));
  EXPECT_FALSE(unix_address(""));
  EXPECT_FALSE(unix_address(std::string_view("\0abstract", 9)));
  EXPECT_FALSE(unix_address(kTop + std::string("a\0b", 3)));
}

TEST(FinishConnect, TakesAConnectionWithItselfForNobody) {
  const test::RawSocket made = test::self_connected();
  if (made < 0) GTEST_SKIP() << "this system connects no bound socket with itself";
  const Socket socket(made);
  const auto step = finish_connect(socket);
  EXPECT_EQ(step.outcome, Connecting::kRefused);
  EXPECT_EQ(step.os_code, 0);
}

}  // namespace
}  // namespace rollcall::doors
