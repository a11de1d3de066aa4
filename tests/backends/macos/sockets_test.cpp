#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "macos_support.hpp"

namespace rollcall::testing {
namespace {

constexpr int kSocket = 30;
constexpr std::uint64_t kListener = 0xA1;
constexpr std::uint64_t kTaken = 0xA2;

class MacSockets : public MacTest {
 protected:
  MacSockets() {
    mac.add(77);
    mac.connections[kSocket] = {.door = "127.0.0.1:80", .own = "127.0.0.1:50000"};
  }
  void give(int pid, std::uint64_t handle, const std::string& local,
            const std::string& remote = {}) {
    auto& descriptors = mac.at(pid).descriptors;
    descriptors.push_back(
        tcp_descriptor(3 + static_cast<int>(descriptors.size()), handle, local, remote));
  }
  void taken_by(int pid) { give(pid, kTaken, "127.0.0.1:80", "127.0.0.1:50000"); }
  // A process of another user, whose descriptors may not be read.
  void hide(int pid) { mac.add(pid).refused = EPERM; }
  rollcall_socket_answer ask() { return owner(backend, kSocket, 77); }
};

TEST_P(MacSockets, TheProcessHoldsItsListener) {
  give(77, kListener, "127.0.0.1:80");
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << reason_of(answer);
  EXPECT_EQ(answer.flags, ROLLCALL_SOCKET_LOOPBACK);
  EXPECT_EQ(peer_of(answer), "127.0.0.1:80");
}

TEST_P(MacSockets, ADescendantHoldsTheListener) {
  mac.add(78, 1'700'000'200, 1, 77);
  mac.add(79, 1'700'000'201, 1, 78);
  give(79, kListener, "[::]:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AStrangersListenerIsForeign) {
  mac.add(90);
  give(90, kListener, "127.0.0.1:80");
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(answer.holder_pid, 90);
}

TEST_P(MacSockets, AStrangerBesideTheProcessIsForeign) {
  give(77, kListener, "*:80");
  mac.add(90);
  give(90, 0xB1, "127.0.0.1:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_P(MacSockets, AStrangerWhoTookTheConnectionIsForeign) {
  give(77, kListener, "127.0.0.1:80");
  mac.add(90);
  taken_by(90);
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
}

TEST_P(MacSockets, ASharedDescriptorIsTheProcesss) {
  give(77, kListener, "127.0.0.1:80");
  mac.add(90);
  give(90, kListener, "127.0.0.1:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AnotherPortOrAddressIsNoListenerOfTheDoor) {
  give(77, kListener, "127.0.0.1:80");
  mac.add(90);
  give(90, 0xB1, "127.0.0.1:81");
  give(90, 0xB2, "127.0.0.2:80");
  give(90, 0xB3, "[::1]:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AMoveWhileLookingIsReadOnceMore) {
  mac.add(90);
  give(90, kListener, "127.0.0.1:80");
  mac.before = [&](const std::string& call) {
    if (call != "proc_listallpids" || mac.counts[call] != 2) return;
    mac.at(90).descriptors.clear();
    give(77, kListener, "127.0.0.1:80");
  };
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AnAcceptedConnectionProvesAWildcardListener) {
  hide(500);
  give(77, kListener, "*:80");
  taken_by(77);
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AWildcardListenerWaitsToAcceptWhereNotAllCanBeSeen) {
  hide(500);
  give(77, kListener, "*:80");
  int waits = 0;
  mac.while_waiting = [&](std::int64_t) {
    if (++waits == 2) taken_by(77);
  };
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
  EXPECT_EQ(waits, 2);
}

TEST_P(MacSockets, AWildcardListenerThatNeverAcceptsIsUnknownWhereNotAllCanBeSeen) {
  hide(500);
  give(77, kListener, "*:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_LE(mac.monotonic_ns, 1'000'000'000 + 120'000'000);
}

TEST_P(MacSockets, AWildcardListenerIsEnoughWhereAllCanBeSeen) {
  give(77, kListener, "*:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, ADoorThatNobodyIsSeenToHoldIsUnknown) {
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_P(MacSockets, DescriptorsThatMayNotBeReadAreNoEvidence) {
  mac.at(77).refused = EPERM;
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_NE(reason_of(answer).find("cannot be read"), std::string::npos);
}

TEST_P(MacSockets, AnAncestorOfAHiddenProcessIsNoStranger) {
  mac.add(60);
  mac.add(77, 1'700'000'100, 42, 60);
  give(60, kListener, "127.0.0.1:80");
  mac.before = [&](const std::string& call) {  // only its descriptors are hidden
    mac.refuse.erase("proc_pidinfo");
    if (call == "proc_pidinfo" && mac.counts[call] > 3) mac.refuse["proc_pidinfo"] = EPERM;
  };
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_P(MacSockets, AHolderWhoseAncestorsCannotBeReadIsNoStranger) {
  hide(60);
  mac.add(90, 1'700'000'200, 1, 60);
  give(90, kListener, "127.0.0.1:80");
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_P(MacSockets, AShortSocketReadingIsNoEvidence) {
  give(77, kListener, "127.0.0.1:80");
  mac.cut["proc_pidfdinfo"] = 8;
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_P(MacSockets, MoreDescriptorsThanRoomAreReadAgain) {
  for (int i = 0; i < 300; ++i) {
    FakeDescriptor file;
    file.number = 100 + i;
    file.type = 1;
    mac.at(77).descriptors.push_back(file);
  }
  mac.at(77).descriptors.push_back(tcp_descriptor(900, kListener, "127.0.0.1:80"));
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, ASelfConnectIsNoAnswer) {
  mac.connections[kSocket].own = "127.0.0.1:80";
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_SELF_CONNECT, 0U);
}

TEST_P(MacSockets, OnlyLoopbackIsLoopback) {
  for (const char* door : {"10.0.0.1:80", "[::ffff:127.0.0.1]:80", "[fe80::1]:80"}) {
    mac.connections[kSocket] = {.door = door, .own = "[::1]:50000"};
    EXPECT_EQ(ask().flags & ROLLCALL_SOCKET_LOOPBACK, 0U) << door;
  }
  mac.connections[kSocket] = {.door = "[::1]:80", .own = "[::1]:50000"};
  const auto answer = ask();
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_LOOPBACK, 0U);
  EXPECT_EQ(peer_of(answer), "[::1]:80");
}

TEST_P(MacSockets, ASocketThatIsNoneIsUnknown) {
  EXPECT_EQ(owner(backend, 31, 77).owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_EQ(owner(backend, -1, 77).owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST_P(MacSockets, AUnixDoorIsThePeersByItsPid) {
  mac.connections[kSocket] = {.local = true, .peer_pid = 77};
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS);
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_UNIX, 0U);
  EXPECT_EQ(peer_of(answer), "unix");
}

TEST_P(MacSockets, AUnixDoorOfAStrangerIsForeign) {
  mac.add(90);
  mac.connections[kSocket] = {.local = true, .peer_pid = 90};
  const auto answer = ask();
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(answer.holder_pid, 90);
}

TEST_P(MacSockets, AUnixDoorOfAnAncestorIsUnknown) {
  mac.add(60);
  mac.add(77, 1'700'000'100, 42, 60);
  for (const int ancestor : {60, 1}) {
    mac.connections[kSocket] = {.local = true, .peer_pid = ancestor};
    EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN) << ancestor;
  }
}

TEST_P(MacSockets, AUnixDoorOfAnotherUidIsForeign) {
  mac.connections[kSocket] = {.local = true, .peer_pid = 77, .peer_uid = 502};
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(owner(backend, kSocket, 77, -1).owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(MacSockets, AUnixPeerThatCannotBeAskedIsUnknown) {
  mac.connections[kSocket] = {.local = true, .peer_pid = 77};
  mac.refuse["getsockopt"] = EINVAL;
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
  mac.refuse.clear();
  mac.connections[kSocket].peer_pid = 0;
  EXPECT_EQ(ask().owner, ROLLCALL_OWNER_UNKNOWN);
}

ROLLCALL_BOTH_BUILDS(MacSockets);

}  // namespace
}  // namespace rollcall::testing
