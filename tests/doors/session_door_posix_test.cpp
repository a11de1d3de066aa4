// The session's door and children.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <set>

#include "doors/asking.hpp"
#include "doors/session_door.hpp"
#include "doors/sockets.hpp"
#include "support/process.hpp"

namespace rollcall::test {
namespace {

std::set<int> open_descriptors() {
  const auto all = testing::descriptors();
  return {all.begin(), all.end()};
}

TEST(SessionDoor, LeavesNoDescriptorToChildren) {
  const auto before = open_descriptors();
  if (before.empty()) GTEST_SKIP() << "the system does not say what is open";
  const auto door = SessionDoor::open({.session_id = kSession});
  ASSERT_TRUE(door) << door.error().message;
  const RawSocket client = connect_to((*door)->port(), true);
  EXPECT_GT(send_some(client, "GET /"), 0);
  // An answer on a later connection: the earlier one has been accepted by then.
  EXPECT_EQ(outcome_of(ask_one(record_of((*door)->url()))), "live");
  int sockets = 0;
  for (const int fd : open_descriptors()) {
    if (before.count(fd) != 0) continue;
    sockaddr_storage any{};
    socklen_t size = sizeof(any);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size) != 0) continue;
    ++sockets;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
  }
  close_socket(client);
  EXPECT_GE(sockets, 3) << "listener, client and its accepted end";
}

}  // namespace
}  // namespace rollcall::test
