// Who answers on a socket, on a fake Windows.
#include <gtest/gtest.h>

#include "fake_system.hpp"

namespace rollcall::testing {
namespace {

using windows_backend::Endpoint;
using windows_backend::Family;
using windows_backend::Probe;
using windows_backend::SocketName;
using windows_backend::TcpRow;

constexpr std::uint16_t kPort = 8080;
constexpr std::int64_t kSocket = 100;
constexpr std::uint32_t kSession = 4240;
constexpr std::uint32_t kStranger = 5000;

Endpoint v4(std::uint8_t first, std::uint8_t last, std::uint16_t port) {
  const std::uint8_t bytes[] = {first, 0, 0, last};
  return windows_backend::v4_endpoint(bytes, port);
}

TcpRow listener(std::uint32_t pid, const Endpoint& at = v4(127, 1, kPort)) {
  return {.local = at, .listening = true, .pid = pid};
}

class PortOwner : public ::testing::Test {
 protected:
  void SetUp() override {
    windows.processes[kSession] = {.created = 200, .parent = 4000};
    windows.processes[kStranger] = {.created = 200, .parent = 4000};
    windows.processes[4000] = {.created = 100};
    windows.connections[kSocket] = {SocketName{Family::kV4, v4(127, 1, kPort)},
                                    SocketName{Family::kV4, v4(127, 1, 50000)}};
  }
  rollcall_socket_answer ask(std::int64_t socket = kSocket, std::int64_t pid = kSession) {
    const rollcall_socket_ask raw = {.socket = socket, .pid = pid, .owner_uid = -1};
    rollcall_socket_answer answer = {};
    const rollcall_socket_batch batch = {.struct_size = sizeof batch,
                                         .ask_stride = sizeof raw,
                                         .answer_stride = sizeof answer,
                                         .reserved = 0,
                                         .count = 1,
                                         .asks = &raw,
                                         .answers = &answer};
    EXPECT_TRUE(probe.port_owner(plugin::SocketBatch(batch), unbounded()).ok());
    return answer;
  }
  FakeWindows windows;
  Probe probe{windows.table()};
};

TEST_F(PortOwner, IsTheProcessThatListens) {
  windows.sockets = {listener(kSession)};
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS);
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_LOOPBACK, 0U);
  EXPECT_EQ(std::string(answer.peer, answer.peer_size), "127.0.0.1:8080");
}

TEST_F(PortOwner, IsForeignWhereAStrangerListens) {
  windows.sockets = {listener(kStranger)};
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(answer.holder_pid, kStranger);
}

TEST_F(PortOwner, IsForeignWhereAStrangerCouldHaveTakenIt) {
  std::uint8_t any[16] = {};
  for (const Endpoint& at :
       {v4(127, 1, kPort), v4(0, 0, kPort), windows_backend::v6_endpoint(any, kPort)}) {
    windows.sockets = {listener(kSession), listener(kStranger, at)};
    windows.sockets.back().v6 = at.address[10] == 0;
    EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
  }
}

TEST_F(PortOwner, DoesNotMindStrangersElsewhere) {
  windows.sockets = {listener(kSession), listener(kStranger, v4(127, 1, kPort + 1)),
                     listener(kStranger, v4(127, 2, kPort))};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

// A stranger who accepted and closed his listener.
TEST_F(PortOwner, IsForeignWhereAStrangerTookTheConnection) {
  windows.sockets = {listener(kSession),
                     {.local = v4(127, 1, kPort),
                      .remote = v4(127, 1, 50000),
                      .listening = false,
                      .pid = kStranger}};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_F(PortOwner, IsTheProcessWhereADescendantListens) {
  windows.processes[4300] = {.created = 300, .parent = kSession};
  windows.processes[4304] = {.created = 400, .parent = 4300};
  windows.sockets = {listener(4304)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

// Its parent's number is the session's, but the parent that had it is gone.
TEST_F(PortOwner, IsForeignWhereTheHoldersParentIsYounger) {
  windows.processes[4300] = {.created = 150, .parent = kSession};
  windows.sockets = {listener(4300)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_F(PortOwner, IsForeignWhereAnAncestorListens) {
  windows.sockets = {listener(4000)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_F(PortOwner, IsUnknownWhereADescendantMayListen) {
  windows.processes[4300] = {.parent = kSession, .open_error = windows_backend::kAccessDenied};
  windows.sockets = {listener(4300)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

// An unreadable ancestor that leads nowhere near the session changes nothing.
TEST_F(PortOwner, IsForeignWhereAnUncertainWayLeadsElsewhere) {
  windows.processes[4000].open_error = windows_backend::kAccessDenied;
  windows.sockets = {listener(kStranger)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_F(PortOwner, IsUnknownWhereTheSystemListensForSomebody) {
  windows.processes[4] = {.created = 1};
  windows.sockets = {listener(4, v4(0, 0, kPort))};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_F(PortOwner, IsUnknownWhereNobodyListensAnyMore) {
  windows.sockets = {};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

// Wine does not know whose a socket is that its process has not used yet.
TEST_F(PortOwner, IsUnknownWhereTheSystemDoesNotSayWhoseAListenerIs) {
  windows.sockets = {listener(kSession), listener(0)};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_F(PortOwner, IsForeignWhereOneListenerIsAStrangersAndAnothersNobodyKnows) {
  for (const bool stranger_first : {true, false}) {
    windows.sockets = {listener(stranger_first ? kStranger : 0),
                       listener(stranger_first ? 0 : kStranger)};
    EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
  }
}

TEST_F(PortOwner, DoesNotMindAConnectionThatIsNobodysAnyMore) {
  windows.sockets = {
      listener(kSession),
      {.local = v4(127, 1, kPort), .remote = v4(127, 1, 50000), .listening = false, .pid = 0}};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_F(PortOwner, IsUnknownWhereATableCannotBeRead) {
  windows.sockets = {listener(kSession)};
  for (const char* call : {"tcp_table", "processes"}) {
    windows.fails = {{call, 31U}};
    EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN) << call;
  }
}

TEST_F(PortOwner, ReadsAgainBeforeItCallsAnybodyForeign) {
  windows.sockets = {listener(kStranger)};
  ask();
  EXPECT_EQ(windows.counts["tcp_table"], 4);
  windows.counts.clear();
  windows.sockets = {listener(kSession)};
  ask();
  EXPECT_EQ(windows.counts["tcp_table"], 2);
}

TEST_F(PortOwner, SeesASocketThatIsConnectedToItself) {
  windows.connections[kSocket].second = windows.connections[kSocket].first;
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_SELF_CONNECT, 0U);
}

TEST_F(PortOwner, VouchesForNoBadSocketAndNoUnixPeer) {
  EXPECT_EQ(ask(-1).owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_EQ(ask(-1).flags, 0U);
  windows.connections[kSocket].first.family = Family::kUnix;
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_UNIX, 0U);
}

TEST_F(PortOwner, IsNotLoopbackElsewhere) {
  windows.connections[kSocket].first.endpoint = v4(10, 1, kPort);
  windows.sockets = {listener(kSession, v4(10, 1, kPort))};
  const auto answer = ask();
  EXPECT_EQ(answer.flags & ROLLCALL_SOCKET_LOOPBACK, 0U);
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS);
}

}  // namespace
}  // namespace rollcall::testing
