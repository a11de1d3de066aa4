// The session's door: children, and others who want its port.
#include <winsock2.h>
// winsock2.h comes first.
#include <windows.h>

#include <gtest/gtest.h>

#include <set>

#include "doors/asking.hpp"
#include "doors/session_door.hpp"
#include "doors/sockets.hpp"

namespace rollcall::test {
namespace {

// Sockets of this process that children would get. Handles are small multiples of four.
std::set<std::uintptr_t> inheritable_sockets() {
  std::set<std::uintptr_t> all;
  for (std::uintptr_t value = 4; value < 0x4000; value += 4) {
    DWORD flags = 0;
    sockaddr_storage any{};
    int size = sizeof(any);
    if (::GetHandleInformation(reinterpret_cast<HANDLE>(value), &flags) == 0) continue;
    if ((flags & HANDLE_FLAG_INHERIT) == 0) continue;
    if (::getsockname(value, reinterpret_cast<sockaddr*>(&any), &size) == 0) all.insert(value);
  }
  return all;
}

TEST(SessionDoor, LeavesNoHandleToChildren) {
  const auto door = SessionDoor::open({.session_id = kSession});
  ASSERT_TRUE(door) << door.error().message;
  const RawSocket client = connect_to((*door)->port(), true);
  EXPECT_GT(send_some(client, "GET /"), 0);
  // An answer on a later connection: the earlier one has been accepted by then.
  EXPECT_EQ(outcome_of(ask_one(record_of((*door)->url()))), "live");
  EXPECT_TRUE(inheritable_sockets().empty());
  close_socket(client);
}

TEST(SessionDoor, SharesItsPortWithNobody) {
  const auto door = SessionDoor::open({.session_id = kSession});
  ASSERT_TRUE(door) << door.error().message;
  const SOCKET thief = ::socket(AF_INET, SOCK_STREAM, 0);
  const BOOL on = TRUE;
  ::setsockopt(thief, SOL_SOCKET, SO_REUSEADDR, reinterpret_cast<const char*>(&on), sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons((*door)->port());
  EXPECT_NE(::bind(thief, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::closesocket(thief);
}

}  // namespace
}  // namespace rollcall::test
