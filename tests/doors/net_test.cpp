#include "common/net.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

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

TEST(UnixAddress, IsAbsoluteAndFits) {
  EXPECT_TRUE(unix_address("/run/door.sock"));
  EXPECT_TRUE(unix_address("/" + std::string(106, 'a')));
  EXPECT_FALSE(unix_address("/" + std::string(107, 'a')));
  EXPECT_FALSE(unix_address("run/door.sock"));
  EXPECT_FALSE(unix_address(""));
  EXPECT_FALSE(unix_address(std::string_view("\0abstract", 9)));
  EXPECT_FALSE(unix_address(std::string_view("/a\0b", 4)));
}

TEST(FinishConnect, TakesAConnectionWithItselfForNobody) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int fd = static_cast<int>(socket.handle());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), size), 0)
      << "TCP connects a bound socket with itself";
  const auto step = finish_connect(socket);
  EXPECT_EQ(step.outcome, Connecting::kRefused);
  EXPECT_EQ(step.os_code, 0);
}

}  // namespace
}  // namespace rollcall::doors
