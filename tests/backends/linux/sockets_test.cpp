// Who answers on a connected socket: real listeners of real processes.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

#include "backend_support.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::testing {
namespace {

using linux_backend::linux_system;
using linux_backend::System;

class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Socket() { close(); }
  [[nodiscard]] int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address address(const std::string& host, std::uint16_t port) {
  Address out;
  if (host.find(':') == std::string::npos) {
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
    std::memcpy(&out.storage, &v4, out.size = sizeof v4);
  } else {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr);
    std::memcpy(&out.storage, &v6, out.size = sizeof v6);
  }
  return out;
}

std::uint16_t port_of(const Socket& socket) {
  sockaddr_in6 bound = {};
  socklen_t size = sizeof bound;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.sin6_port);  // at the same place in sockaddr_in
}

// Listens, with SO_REUSEPORT, so that others may stand beside it. fd -1: the system refused.
Socket listen_on(const std::string& host, std::uint16_t port = 0, bool v6_only = false) {
  const Address where = address(host, port);
  Socket socket(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int only = v6_only ? 1 : 0;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (where.storage.ss_family == AF_INET6) {
    ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  }
  if (::bind(socket.fd(), where.get(), where.size) != 0 || ::listen(socket.fd(), 16) != 0) {
    return Socket();
  }
  return socket;
}

Socket connect_to(const std::string& host, std::uint16_t port) {
  const Address where = address(host, port);
  Socket socket(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.fd(), where.get(), where.size) != 0) return Socket();
  return socket;
}

// A process that holds a socket; ours is closed. Other sockets of ours are not passed on.
Child holder_of(Socket& socket) {
  Child child = Child::run([] {
    for (;;) ::pause();
    return 0;
  });
  socket.close();
  return child;
}

rollcall_socket_answer owner_of(linux_backend::Probe& probe, std::int64_t socket, pid_t pid,
                                std::int64_t uid = -1) {
  const rollcall_socket_ask ask = {.socket = socket, .pid = pid, .owner_uid = uid};
  rollcall_socket_answer answer = {};
  const rollcall_socket_batch batch = {.struct_size = sizeof batch,
                                       .ask_stride = sizeof ask,
                                       .answer_stride = sizeof answer,
                                       .reserved = 0,
                                       .count = 1,
                                       .asks = &ask,
                                       .answers = &answer};
  const auto status = probe.port_owner(plugin::SocketBatch(batch), unbounded());
  EXPECT_TRUE(status.ok()) << status.message();
  return answer;
}

rollcall_socket_answer owner_of(linux_backend::Probe& probe, const Socket& socket, pid_t pid,
                                std::int64_t uid = -1) {
  return owner_of(probe, std::int64_t{socket.fd()}, pid, uid);
}

std::string peer(const rollcall_socket_answer& answer) { return {answer.peer, answer.peer_size}; }
std::string why(const rollcall_socket_answer& answer) {
  return {answer.reason, answer.reason_size};
}

// Both sources: sock_diag, and the text tables where netlink is refused.
class PortOwner : public ::testing::TestWithParam<bool> {
 protected:
  PortOwner() : probe_("/proc", system_.table()) {
    if (GetParam()) system_.refuse["socket"] = EPERM;
  }
  ~PortOwner() noexcept override = default;  // a plugin's probe may throw there, a fixture not
  linux_backend::Probe& probe() { return *probe_; }

 private:
  FakeSystem system_;
  ProbeAt probe_;
};

std::string source_name(const ::testing::TestParamInfo<bool>& source) {
  return source.param ? "NetTcp" : "SockDiag";
}

INSTANTIATE_TEST_SUITE_P(Sources, PortOwner, ::testing::Bool(), &source_name);

TEST_P(PortOwner, IsTheProcessThatListens) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child child = holder_of(listener);
  Socket socket = connect_to("127.0.0.1", port);
  const auto answer = owner_of(probe(), socket, child.pid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << why(answer);
  EXPECT_EQ(answer.flags, ROLLCALL_SOCKET_LOOPBACK);
  EXPECT_EQ(peer(answer), "127.0.0.1:" + std::to_string(port));
}

TEST_P(PortOwner, IsTheProcessOnIpv6AndBehindAWildcardOfItsOwn) {
  for (const std::string bound : {"::1", "::"}) {
    Socket listener = listen_on(bound);
    if (listener.fd() < 0) GTEST_SKIP() << "no IPv6 here";
    const auto port = port_of(listener);
    Child child = holder_of(listener);
    Socket socket = connect_to("::1", port);
    const auto answer = owner_of(probe(), socket, child.pid());
    EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << why(answer);
    EXPECT_EQ(answer.flags, ROLLCALL_SOCKET_LOOPBACK);
    EXPECT_EQ(peer(answer), "[::1]:" + std::to_string(port));
  }
}

TEST_P(PortOwner, IsTheProcessBehindItsDualStackListener) {
  Socket listener = listen_on("::");
  if (listener.fd() < 0) GTEST_SKIP() << "no IPv6 here";
  const auto port = port_of(listener);
  Child child = holder_of(listener);
  Socket socket = connect_to("127.0.0.1", port);
  const auto answer = owner_of(probe(), socket, child.pid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << why(answer);
}

// A process whose child holds the socket; neither it nor we do.
Child parent_of_holder(Socket& listener) {
  int closed[2];
  if (::pipe2(closed, O_CLOEXEC) != 0) std::abort();
  Child child = Child::run([&]() -> int {
    Child grandchild = Child::run([]() -> int {
      for (;;) ::pause();
    });
    listener.close();
    if (::write(closed[1], "x", 1) != 1) return 1;
    for (;;) ::pause();
  });
  listener.close();
  char byte = 0;
  if (::read(closed[0], &byte, 1) != 1) std::abort();
  ::close(closed[0]);
  ::close(closed[1]);
  return child;
}

TEST_P(PortOwner, IsTheProcessWhereADescendantListens) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child child = parent_of_holder(listener);
  Socket socket = connect_to("127.0.0.1", port);
  EXPECT_EQ(owner_of(probe(), socket, child.pid()).owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(PortOwner, IsForeignWhereAnotherProcessListens) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child stranger = holder_of(listener);
  Child recorded = Child::sleeper();
  Socket socket = connect_to("127.0.0.1", port);
  const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(answer.holder_pid, stranger.pid());
}

TEST_P(PortOwner, IsForeignWhereAStrangerCouldHaveTakenIt) {
  for (const std::string bound : {"127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1"}) {
    Socket listener = listen_on("127.0.0.1");
    const auto port = port_of(listener);
    Child recorded = holder_of(listener);
    Socket beside = listen_on(bound, port);
    if (beside.fd() < 0 && bound.front() == ':') continue;  // no IPv6 here
    ASSERT_GE(beside.fd(), 0) << bound;
    Child stranger = holder_of(beside);
    Socket socket = connect_to("127.0.0.1", port);
    const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
    EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN) << bound;
    EXPECT_EQ(answer.holder_pid, stranger.pid()) << bound;
  }
}

TEST_P(PortOwner, IgnoresStrangersThatCouldNotHaveTakenIt) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child recorded = holder_of(listener);
  Socket beside = listen_on("127.0.0.2", port);
  ASSERT_GE(beside.fd(), 0);
  Child stranger = holder_of(beside);
  Socket socket = connect_to("127.0.0.1", port);
  EXPECT_EQ(owner_of(probe(), socket, recorded.pid()).owner, ROLLCALL_OWNER_PROCESS);
}

// The stranger took the connection and has closed his listener since.
TEST_P(PortOwner, IsForeignWhereAStrangerHasAcceptedIt) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Socket socket = connect_to("127.0.0.1", port);
  Socket taken(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  listener.close();
  Child stranger = holder_of(taken);
  Socket real = listen_on("127.0.0.1", port);
  ASSERT_GE(real.fd(), 0);
  Child recorded = Child::run([&]() -> int {
    socket.close();
    for (;;) ::pause();
  });
  real.close();
  const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN) << why(answer);
  EXPECT_EQ(answer.holder_pid, stranger.pid());
}

TEST_P(PortOwner, IsTheProcessThatAcceptedAndListensNoMore) {
  Socket listener = listen_on("127.0.0.1");
  Socket socket = connect_to("127.0.0.1", port_of(listener));
  Socket taken(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  listener.close();
  Child recorded = holder_of(taken);
  EXPECT_EQ(owner_of(probe(), socket, recorded.pid()).owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(PortOwner, IsUnknownOnceNobodyListensAndNobodyAccepted) {
  Socket listener = listen_on("127.0.0.1");
  Socket socket = connect_to("127.0.0.1", port_of(listener));
  listener.close();
  const auto answer = owner_of(probe(), socket, ::getpid());
  EXPECT_NE(answer.owner, ROLLCALL_OWNER_PROCESS);
}

TEST_P(PortOwner, FallsBackToTheUidWhereDescriptorsCannotBeRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  int ports[2];
  ASSERT_EQ(::pipe2(ports, O_CLOEXEC), 0);
  Child recorded = Child::run([&]() -> int {
    if (!become_nobody()) return 99;  // and no longer dumpable: its descriptors are hidden
    Socket listener = listen_on("127.0.0.1");
    const auto port = port_of(listener);
    if (::write(ports[1], &port, sizeof port) != sizeof port) return 98;
    for (;;) ::pause();
  });
  std::uint16_t port = 0;
  ASSERT_EQ(::read(ports[0], &port, sizeof port), ssize_t{sizeof port});
  ::close(ports[0]);
  ::close(ports[1]);
  Child reader = Child::run([&]() -> int {
    if (!become_nobody()) return 99;
    Socket socket = connect_to("127.0.0.1", port);
    const auto owner = [&](std::int64_t uid) {
      return owner_of(probe(), socket, recorded.pid(), uid).owner;
    };
    if (owner(65534) != ROLLCALL_OWNER_UID_ONLY) return 1;
    if (owner(0) != ROLLCALL_OWNER_UNKNOWN) return 2;
    return owner(-1) == ROLLCALL_OWNER_UNKNOWN ? 0 : 3;
  });
  EXPECT_EQ(reader.wait(), 0);
}

// What a test's child needs to hide its descriptors from the test: another user, where we are root.
bool leave_root() { return ::geteuid() != 0 || become_nobody(); }

// A process whose descriptors nobody of its user may read. It holds what we hold.
Child hidden_sleeper(uid_t uid = 65534) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) std::abort();
  Child child = Child::run([&]() -> int {
    if (::geteuid() == 0 && ::setresuid(uid, uid, uid) != 0) return 99;
    if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::write(ready[1], "x", 1) != 1) return 98;
    return pause_for_ever();
  });
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) std::abort();
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

// The exit code of `body`, run as an ordinary user whose descriptors may be read.
int as_ordinary_user(const std::function<int()>& body) {
  Child child = Child::run([&]() -> int {
    if (!leave_root() || ::prctl(PR_SET_DUMPABLE, 1) != 0) return 99;
    return body();
  });
  const auto status = child.wait();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

// The stranger is of the record owner's uid too, but its own descriptors give it away.
TEST_P(PortOwner, IsForeignWhereAReadableStrangerOfTheSameUidListens) {
  Child recorded = hidden_sleeper();
  const int code = as_ordinary_user([&]() -> int {
    Socket listener = listen_on("127.0.0.1");
    const auto port = port_of(listener);
    Child stranger = holder_of(listener);
    Socket socket = connect_to("127.0.0.1", port);
    const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
    if (answer.owner != ROLLCALL_OWNER_FOREIGN) return 1;
    return answer.holder_pid == stranger.pid() ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

// Its parent opened the listener and kept it: no proof for it, and none against it.
TEST_P(PortOwner, IsUnknownWhereAnAncestorOfAnUnreadableProcessHoldsTheListener) {
  const int code = as_ordinary_user([&]() -> int {
    Socket listener = listen_on("127.0.0.1");
    Child recorded = hidden_sleeper();
    Socket socket = connect_to("127.0.0.1", port_of(listener));
    const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
    return answer.owner == ROLLCALL_OWNER_UNKNOWN ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

// hidepid: whose child a hidden process is cannot be told, so that nobody is a stranger to it.
TEST(PortOwnerHidden, IsUnknownWhereTheAncestryOfAHiddenProcessCannotBeRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "hidepid wants root";
  const int code = in_pid_namespace([]() -> int {
    if (::mount("none", "/proc", nullptr, MS_REMOUNT, "hidepid=2") != 0) return 90;
    return as_ordinary_user([]() -> int {
      ProbeAt probe("/proc");
      Socket listener = listen_on("127.0.0.1");
      Child recorded = hidden_sleeper();
      Socket socket = connect_to("127.0.0.1", port_of(listener));
      const auto answer = owner_of(*probe, socket, recorded.pid(), ::getuid());
      if (answer.owner == ROLLCALL_OWNER_FOREIGN) return 1;
      return answer.owner == ROLLCALL_OWNER_UNKNOWN ? 0 : 2;
    });
  });
  if (code == -1) GTEST_SKIP() << "no pid namespace can be made here";
  EXPECT_EQ(code, 0);
}

TEST_P(PortOwner, AccusesNobodyWhereAnotherUsersServerHoldsItsDoor) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child recorded = holder_of(listener);  // root's
  const int code = as_ordinary_user([&]() -> int {
    Socket socket = connect_to("127.0.0.1", port);
    const auto answer = owner_of(probe(), socket, recorded.pid(), ::getuid());
    if (answer.owner != ROLLCALL_OWNER_UNKNOWN) return 1;
    return why(answer).find("cannot be read") != std::string::npos ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

// Neither process can be read, but a process of one user cannot have made another user's listener.
TEST_P(PortOwner, IsForeignWhereTheListenersUidCannotBeTheProcesss) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  int ports[2];
  ASSERT_EQ(::pipe2(ports, O_CLOEXEC), 0);
  Child stranger = Child::run([&]() -> int {
    if (::setresuid(65533, 65533, 65533) != 0) return 99;
    Socket listener = listen_on("127.0.0.1");
    const auto port = port_of(listener);
    if (::write(ports[1], &port, sizeof port) != sizeof port) return 98;
    return pause_for_ever();
  });
  std::uint16_t port = 0;
  ASSERT_EQ(::read(ports[0], &port, sizeof port), ssize_t{sizeof port});
  ::close(ports[0]);
  ::close(ports[1]);
  Child recorded = hidden_sleeper();
  const int code = as_ordinary_user([&]() -> int {
    Socket socket = connect_to("127.0.0.1", port);
    const auto owner = [&](std::int64_t uid) {
      return owner_of(probe(), socket, recorded.pid(), uid).owner;
    };
    if (owner(65534) != ROLLCALL_OWNER_FOREIGN) return 1;
    return owner(65533) == ROLLCALL_OWNER_FOREIGN ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

// Everything descends from pid 1.
TEST_P(PortOwner, IsForeignToPidOneWhereAnotherProcessListens) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child stranger = holder_of(listener);
  Socket socket = connect_to("127.0.0.1", port);
  const auto answer = owner_of(probe(), socket, 1, ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN) << why(answer);
  EXPECT_EQ(answer.holder_pid, stranger.pid());
}

TEST_P(PortOwner, LooksUpManyDoorsOfManyProcessesAtOnce) {
  constexpr std::size_t kDoors = 100;
  std::vector<Child> children;
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < kDoors; ++i) {
    Socket listener = listen_on("127.0.0.1");
    ports.push_back(port_of(listener));
    children.push_back(holder_of(listener));
  }
  std::vector<Socket> sockets;
  std::vector<rollcall_socket_ask> asks;
  for (std::size_t i = 0; i < kDoors; ++i) {
    sockets.push_back(connect_to("127.0.0.1", ports[i]));
    const auto& whose = children[i % 10 == 0 ? (i + 1) % kDoors : i];  // each tenth is a stranger's
    asks.push_back({.socket = sockets[i].fd(), .pid = whose.pid(), .owner_uid = -1});
  }
  std::vector<rollcall_socket_answer> answers(kDoors);
  const rollcall_socket_batch batch = {.struct_size = sizeof batch,
                                       .ask_stride = sizeof asks[0],
                                       .answer_stride = sizeof answers[0],
                                       .reserved = 0,
                                       .count = kDoors,
                                       .asks = asks.data(),
                                       .answers = answers.data()};
  const auto before = open_descriptors();
  ASSERT_TRUE(probe().port_owner(plugin::SocketBatch(batch), unbounded()).ok());
  EXPECT_EQ(open_descriptors(), before);
  for (std::size_t i = 0; i < kDoors; ++i) {
    EXPECT_EQ(answers[i].owner, i % 10 == 0 ? ROLLCALL_OWNER_FOREIGN : ROLLCALL_OWNER_PROCESS)
        << i << ": " << why(answers[i]);
  }
}

TEST(PortOwnerDiag, IgnoresAV6OnlyStrangerOnAnIpv4Door) {
  ProbeAt probe("/proc");
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child recorded = holder_of(listener);
  Socket beside = listen_on("::", port, true);
  if (beside.fd() < 0) GTEST_SKIP() << "no IPv6 here";
  Child stranger = holder_of(beside);
  Socket socket = connect_to("127.0.0.1", port);
  EXPECT_EQ(owner_of(*probe, socket, recorded.pid()).owner, ROLLCALL_OWNER_PROCESS);
}

TEST(PortOwnerDiag, IsUnknownWhereNoTableCanBeRead) {
  FakeSystem system;
  system.refuse["socket"] = EPERM;
  FakeProc proc;
  ProbeAt probe(proc.root(), system.table());
  Socket listener = listen_on("127.0.0.1");
  Socket socket = connect_to("127.0.0.1", port_of(listener));
  const auto answer = owner_of(*probe, socket, ::getpid(), ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_NE(why(answer).find("not permitted"), std::string::npos) << why(answer);
}

// The descendant that holds the door cannot be found to be one.
TEST(PortOwnerDiag, IsUnknownWhereTheProcessTreeOrTheDescriptorsFailToBeRead) {
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child child = parent_of_holder(listener);
  Socket socket = connect_to("127.0.0.1", port);
  for (const std::string call : {"read", "getdents64", "openat"}) {
    FakeSystem system;
    ProbeAt probe("/proc", system.table());
    system.refuse[call] = EIO;
    const auto answer = owner_of(*probe, socket, child.pid(), ::getuid());
    EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN) << call << ": " << why(answer);
    EXPECT_EQ(answer.holder_pid, 0) << call;
    EXPECT_NE(why(answer).find("failed"), std::string::npos) << why(answer);
  }
}

TEST(PortOwnerDiag, IsUnknownForASocketThatIsNotConnected) {
  ProbeAt probe("/proc");
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto answer = owner_of(*probe, socket, ::getpid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN);
  EXPECT_EQ(answer.flags, 0U);
  EXPECT_EQ(owner_of(*probe, Socket(), ::getpid()).owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST(PortOwnerDiag, TakesNoNumberForADescriptorThatCannotBeOne) {
  ProbeAt probe("/proc");
  Socket listener = listen_on("127.0.0.1");
  Socket socket = connect_to("127.0.0.1", port_of(listener));
  EXPECT_EQ(owner_of(*probe, socket, ::getpid()).owner, ROLLCALL_OWNER_PROCESS);
  const std::int64_t wrapped = (std::int64_t{1} << 32) + socket.fd();
  EXPECT_EQ(owner_of(*probe, wrapped, ::getpid()).owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST(PortOwnerDiag, SeesASocketThatIsConnectedToItself) {
  ProbeAt probe("/proc");
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address any = address("127.0.0.1", 0);
  ASSERT_EQ(::bind(socket.fd(), any.get(), any.size), 0);
  const Address itself = address("127.0.0.1", port_of(socket));
  ASSERT_EQ(::connect(socket.fd(), itself.get(), itself.size), 0);
  const auto answer = owner_of(*probe, socket, ::getpid(), ::getuid());
  EXPECT_NE(answer.flags & ROLLCALL_SOCKET_SELF_CONNECT, 0U);
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
}

TEST(PortOwnerDiag, DoesNotCountAMappedAddressAsLoopback) {
  ProbeAt probe("/proc");
  Socket listener = listen_on("127.0.0.1");
  const auto port = port_of(listener);
  Child child = holder_of(listener);
  Socket socket = connect_to("::ffff:127.0.0.1", port);
  if (socket.fd() < 0) GTEST_SKIP() << "no IPv6 here";
  const auto answer = owner_of(*probe, socket, child.pid());
  EXPECT_EQ(answer.flags & ROLLCALL_SOCKET_LOOPBACK, 0U);
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << why(answer);
}

// A process that listens on a path, as PATH.ready once it does.
Child unix_listener(const std::string& path) {
  Child child = Child::run([&]() -> int {
    sockaddr_un where = {};
    where.sun_family = AF_UNIX;
    path.copy(where.sun_path, sizeof where.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) return 1;
    if (::listen(fd, 4) != 0) return 2;
    if (::rename(path.c_str(), (path + ".ready").c_str()) != 0) return 3;
    for (;;) ::pause();
  });
  wait_until([&] { return std::filesystem::exists(path + ".ready"); });
  return child;
}

Socket connect_unix(const std::string& path) {
  sockaddr_un where = {};
  where.sun_family = AF_UNIX;
  (path + ".ready").copy(where.sun_path, sizeof where.sun_path - 1);
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.fd(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    return Socket();
  }
  return socket;
}

TEST(PortOwnerUnix, IsTheProcessThatListensOnThePath) {
  TempDir dir;
  ProbeAt probe("/proc");
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Socket socket = connect_unix(path);
  const auto answer = owner_of(*probe, socket, child.pid(), ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_PROCESS) << why(answer);
  EXPECT_EQ(answer.flags, ROLLCALL_SOCKET_UNIX | ROLLCALL_SOCKET_LOOPBACK);
  EXPECT_EQ(peer(answer), "unix");
  // Our child listens: we are its ancestor.
  EXPECT_EQ(owner_of(*probe, socket, ::getpid(), ::getuid()).owner, ROLLCALL_OWNER_PROCESS);
}

TEST(PortOwnerUnix, IsForeignForAnotherProcessOrAnotherUser) {
  TempDir dir;
  ProbeAt probe("/proc");
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Child recorded = Child::sleeper();
  Socket socket = connect_unix(path);
  const auto answer = owner_of(*probe, socket, recorded.pid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_FOREIGN);
  EXPECT_EQ(answer.holder_pid, child.pid());
  const std::int64_t other_uid = ::getuid() + 1;
  EXPECT_EQ(owner_of(*probe, socket, child.pid(), other_uid).owner, ROLLCALL_OWNER_FOREIGN);
}

TEST(PortOwnerUnix, IsForeignToPidOneWhereAnotherProcessListens) {
  TempDir dir;
  ProbeAt probe("/proc");
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Socket socket = connect_unix(path);
  EXPECT_EQ(owner_of(*probe, socket, 1).owner, ROLLCALL_OWNER_FOREIGN);
}

// The kernel names who called listen, not who holds the socket now: no proof, and no accusation.
TEST(PortOwnerUnix, IsUnknownWhereAnAncestorCalledListen) {
  TempDir dir;
  ProbeAt probe("/proc");
  const auto path = (dir / "s").string();
  sockaddr_un where = {};
  where.sun_family = AF_UNIX;
  (path + ".ready").copy(where.sun_path, sizeof where.sun_path - 1);
  Socket listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.fd(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  ASSERT_EQ(::listen(listener.fd(), 4), 0);
  Child recorded = holder_of(listener);
  Socket socket = connect_unix(path);
  const auto answer = owner_of(*probe, socket, recorded.pid(), ::getuid());
  EXPECT_EQ(answer.owner, ROLLCALL_OWNER_UNKNOWN) << why(answer);
  EXPECT_EQ(answer.holder_pid, 0);
}

TEST(PortOwnerUnix, IsUnknownWhereTheProcessTreeFailsToBeRead) {
  TempDir dir;
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Socket socket = connect_unix(path);
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  system.refuse["read"] = EIO;
  EXPECT_EQ(owner_of(*probe, socket, ::getpid(), ::getuid()).owner, ROLLCALL_OWNER_UNKNOWN);
}

TEST(PortOwnerUnix, IsForeignOnceTheProcessThatListenedHasExited) {
  TempDir dir;
  ProbeAt probe("/proc");
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Socket socket = connect_unix(path);
  int fd = -1;
  socklen_t size = sizeof fd;
  if (::getsockopt(socket.fd(), SOL_SOCKET, 77, &fd, &size) != 0) {
    GTEST_SKIP() << "this kernel has no SO_PEERPIDFD";
  }
  ::close(fd);
  child.signal(SIGKILL);
  ASSERT_TRUE(wait_until([&] { return is_zombie(child.pid()); }));
  EXPECT_NE(owner_of(*probe, socket, child.pid()).owner, ROLLCALL_OWNER_PROCESS);
}

TEST(PortOwnerUnix, GoesOnWithoutPeerPidfds) {
  TempDir dir;
  const auto path = (dir / "s").string();
  Child child = unix_listener(path);
  Socket socket = connect_unix(path);
  static int refused = 0;
  System table = linux_system();
  table.getsockopt = [](int fd, int level, int name, void* value, socklen_t* size) {
    if (name != 77) return ::getsockopt(fd, level, name, value, size);
    ++refused;
    errno = ENOPROTOOPT;
    return -1;
  };
  ProbeAt probe("/proc", table);
  EXPECT_EQ(owner_of(*probe, socket, child.pid()).owner, ROLLCALL_OWNER_PROCESS);
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace rollcall::testing
