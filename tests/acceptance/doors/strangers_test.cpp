// Strangers at the door of a living process, by the kernel's own word: real plugins, the real
// backend, processes of their own.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "support/process.hpp"
#include "support/rig.hpp"

namespace rollcall {
namespace {

using test::Rig;
using testing::Child;

constexpr const char* kSession = "ses_0199c4e2f1b7712a9d3e4f5061728394";
constexpr const char* kToken = "mdt1.cGF5bG9hZA.bWFj";

enum class At { kLoopback, kWildcard, kDualStack };

// A listening socket, or -1. `port` 0: any. All share their port with whoever asks to.
int listen_at(At at, std::uint16_t port) {
  const int family = at == At::kDualStack ? AF_INET6 : AF_INET;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(at == At::kLoopback ? INADDR_LOOPBACK : INADDR_ANY);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  const auto* address = family == AF_INET ? reinterpret_cast<const sockaddr*>(&v4)
                                          : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
  if (::bind(fd, address, size) == 0 && ::listen(fd, 64) == 0) return fd;
  ::close(fd);
  return -1;
}

std::uint16_t port_of(int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof(address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin6_port);
}

int listen_at_path(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::listen(fd, 64) == 0) {
    return fd;
  }
  ::close(fd);
  return -1;
}

std::string answer_to(const std::string& request) {
  const std::string card = R"({"capabilities":{"extensions":[{"uri":"urn:rollcall:ext:session:1",)"
                           R"("params":{"sessionId":")" +
                           std::string(kSession) + R"("}}]}})";
  std::string body = card;
  const std::string key = R"("id":")";
  if (const auto at = request.find(key); at != std::string::npos) {
    const auto begin = at + key.size();
    body = R"({"jsonrpc":"2.0","id":")" + request.substr(begin, request.find('"', begin) - begin) +
           R"(","result":)" + card + "}";
  }
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answers every connection as the session would, and writes what it got to `log`.
int serve(int listener, const std::string& log) {
  while (true) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    std::string request(8192, '\0');
    const auto got = ::recv(fd, request.data(), request.size(), 0);
    request.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (!request.empty()) {
      std::ofstream(log, std::ios::app) << request;
      const std::string answer = answer_to(request);
      (void)!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    ::close(fd);
  }
}

class Strangers : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(rig.problem.empty()) << rig.problem; }

  // A process that serves on the listener, which is closed here.
  Child server(int listener, const std::string& name) {
    Child child = Child::run([&] { return serve(listener, log_of(name)); });
    ::close(listener);
    return child;
  }
  [[nodiscard]] std::string log_of(const std::string& name) const {
    return (logs.path() / name).string();
  }
  [[nodiscard]] std::string seen_by(const std::string& name) const {
    return testing::slurp(log_of(name));
  }

  // Records the process as the session behind the door; what verifying it gives.
  std::string verify(pid_t pid, std::optional<std::string> url, std::optional<DoorSpec> door = {}) {
    Record record;
    record.session_id = kSession;
    record.name = "test";
    record.version = "1";
    record.workdir = "/";
    record.url = std::move(url);
    record.door = std::move(door);
    if (!record.door) record.door_token = kToken;
    auto identity = rig.registry->identify(pid, {});
    if (!identity) return identity.error().message;
    record.process = *identity;
    RegisterOptions options;
    options.guarded = false;
    options.replace = true;
    auto written = rig.registry->register_session(record, options, {});
    if (!written) return written.error().message;
    return again();
  }
  std::string again() {
    auto view = rig.registry->verify(kSession, true, {});
    if (!view) return view.error().message;
    if (view->finding.verdict == Verdict::kLive) return "live";
    return std::string(to_text(view->finding.reason)) + " " +
           (view->door ? view->door->detail : std::string());
  }
  static std::string url_of(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }
  static bool is_foreign(const std::string& outcome) {
    return outcome.rfind("foreign-listener ", 0) == 0;
  }

  testing::TempDir logs;  // not the home: it holds records only
  Rig rig;
};

TEST_F(Strangers, AreToldFromTheRecordedProcessItself) {
  const int listener = listen_at(At::kLoopback, 0);
  const auto port = port_of(listener);
  Child own = server(listener, "own");
  EXPECT_EQ(verify(own.pid(), url_of(port)), "live");
  EXPECT_NE(seen_by("own").find(kToken), std::string::npos);
}

TEST_F(Strangers, AreNotTheDescendantsOfTheRecordedProcess) {
  const int listener = listen_at(At::kLoopback, 0);
  const auto port = port_of(listener);
  const std::string log = log_of("own");
  Child parent = Child::run([&] {
    Child worker = Child::run([&] { return serve(listener, log); });
    ::close(listener);
    ::pause();
    return 0;
  });
  ::close(listener);
  EXPECT_EQ(verify(parent.pid(), url_of(port)), "live");
}

TEST_F(Strangers, OnThePortOfALivingProcessGetNothing) {
  Child session = Child::sleeper();
  for (const At at : {At::kLoopback, At::kWildcard, At::kDualStack}) {
    const int listener = listen_at(at, 0);
    if (listener < 0) continue;  // no IPv6 here
    const auto port = port_of(listener);
    Child stranger = server(listener, "stranger");
    const auto outcome = verify(session.pid(), url_of(port));
    EXPECT_TRUE(is_foreign(outcome)) << outcome;
    EXPECT_EQ(seen_by("stranger"), "");
  }
}

TEST_F(Strangers, BesideTheRecordedProcessGetNothing) {
  for (const At at : {At::kLoopback, At::kWildcard, At::kDualStack}) {
    const int listener = listen_at(At::kLoopback, 0);
    const auto port = port_of(listener);
    Child own = server(listener, "own");
    ASSERT_EQ(verify(own.pid(), url_of(port)), "live");
    const int other = listen_at(at, port);
    if (other < 0) continue;
    Child stranger = server(other, "stranger");
    for (int round = 0; round < 10; ++round) {
      const auto outcome = again();
      EXPECT_TRUE(is_foreign(outcome)) << outcome;
    }
    EXPECT_EQ(seen_by("stranger"), "");
    stranger = Child();
    EXPECT_EQ(again(), "live");
  }
}

TEST_F(Strangers, AreTrueToTheTcpDoorToo) {
  const int listener = listen_at(At::kLoopback, 0);
  const auto port = port_of(listener);
  Child own = server(listener, "own");
  Child session = Child::sleeper();
  EXPECT_EQ(verify(own.pid(), url_of(port), DoorSpec{"tcp", {}}), "live");
  const auto outcome = verify(session.pid(), url_of(port), DoorSpec{"tcp", {}});
  EXPECT_TRUE(is_foreign(outcome)) << outcome;
}

TEST_F(Strangers, AreTrueToTheUnixDoorToo) {
  const testing::TempDir sockets;  // a home holds nothing of others
  const std::string path = (sockets / "door.sock").string();
  if (path.size() > 107) GTEST_SKIP() << "TMPDIR is too long for a Unix socket";
  const std::string log = log_of("own");
  Child own = Child::run([&] { return serve(listen_at_path(path), log); });
  ASSERT_TRUE(testing::wait_until([&] { return std::filesystem::exists(path); }));
  Child session = Child::sleeper();
  const DoorSpec door{"unix", {{"path", path}}};
  std::string outcome;
  ASSERT_TRUE(testing::wait_until([&] {
    outcome = verify(own.pid(), {}, door);
    return outcome == "live";
  })) << outcome;
  outcome = verify(session.pid(), {}, door);
  EXPECT_TRUE(is_foreign(outcome)) << outcome;
  EXPECT_EQ(seen_by("own"), "");
}

}  // namespace
}  // namespace rollcall
