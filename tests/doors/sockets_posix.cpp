#include "doors/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rollcall::test {
namespace {

int fd_of(RawSocket socket) { return static_cast<int>(socket); }

RawSocket private_one(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
#if defined(SO_NOSIGPIPE)
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
  return fd;
}

#if defined(MSG_NOSIGNAL)
constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
#else
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

template <class Raw>
const sockaddr* raw(const Raw& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Bound bind_tcp(Where where, std::uint16_t port) {
  const bool v6 = where == Where::kIpv6;
  const int fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  Bound bound{private_one(fd), 0};
  if (fd < 0) return bound;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in four = loopback(port);
  if (where == Where::kAnyIpv4) four.sin_addr.s_addr = htonl(INADDR_ANY);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  six.sin6_port = htons(port);
  if (v6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(fd, v6 ? raw(six) : raw(four), v6 ? sizeof(six) : sizeof(four)) != 0) {
    ::close(fd);
    return {};
  }
  sockaddr_in6 own{};
  socklen_t size = sizeof(own);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size);
  bound.port = ntohs(own.sin6_port);  // at the same place in both families
  return bound;
}

RawSocket bind_unix(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), std::min(path.size(), sizeof(local.sun_path) - 1));
  if (::bind(fd, raw(local), sizeof(local)) == 0) return private_one(fd);
  ::close(fd);
  return -1;
}

bool has_unix_sockets() { return true; }

std::size_t longest_unix_path() { return sizeof(sockaddr_un::sun_path) - 1; }

void listen_on(RawSocket socket, int backlog) { ::listen(fd_of(socket), backlog); }

RawSocket accept_from(RawSocket listener) {
  return private_one(::accept(fd_of(listener), nullptr, nullptr));
}

RawSocket connect_to(std::uint16_t port, bool waits) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (private_one(fd) < 0) return -1;
  const sockaddr_in address = loopback(port);
  if (!waits) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  if (::connect(fd, raw(address), sizeof(address)) != 0 && waits) {
    ::close(fd);
    return -1;
  }
  const timeval patience{30, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return fd;
}

RawSocket self_connected() {
  const Bound bound = bind_tcp(Where::kIpv4, 0);
  const sockaddr_in address = loopback(bound.port);
  if (::connect(fd_of(bound.socket), raw(address), sizeof(address)) == 0) return bound.socket;
  close_socket(bound.socket);
  return -1;
}

void close_socket(RawSocket socket) {
  if (socket >= 0) ::close(fd_of(socket));
}

void shut_sending(RawSocket socket) { ::shutdown(fd_of(socket), SHUT_WR); }

void reset_at_close(RawSocket socket) {
  const linger hard{1, 0};
  ::setsockopt(fd_of(socket), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

std::int64_t receive_some(RawSocket socket, char* into, std::size_t size) {
  return ::recv(fd_of(socket), into, size, 0);
}

bool patience_is_over() { return errno == EAGAIN; }

std::int64_t send_some(RawSocket socket, std::string_view bytes) {
  const auto sent = ::send(fd_of(socket), bytes.data(), bytes.size(), kSendFlags);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  return sent <= 0 ? -1 : sent;
}

Peer peer_of(RawSocket socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  if (::getpeername(fd_of(socket), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  if (peer.ss_family == AF_UNIX) return {true, true, "unix"};
  char text[INET6_ADDRSTRLEN] = {};
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    return {(ntohl(four.sin_addr.s_addr) >> 24U) == 127, false,
            std::string(text) + ":" + std::to_string(ntohs(four.sin_port))};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(peer);
  ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
  return {IN6_IS_ADDR_LOOPBACK(&six.sin6_addr), false,
          "[" + std::string(text) + "]:" + std::to_string(ntohs(six.sin6_port))};
}

StopSignal::StopSignal() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return;
  waiter_ = private_one(ends[0]);
  setter_ = private_one(ends[1]);
}

StopSignal::~StopSignal() {
  close_socket(waiter_);
  close_socket(setter_);
}

void StopSignal::set() { (void)!::write(fd_of(setter_), "x", 1); }

bool StopSignal::wait_for(RawSocket socket, bool writable) const {
  pollfd ready[2] = {{fd_of(socket), static_cast<short>(writable ? POLLOUT : POLLIN), 0},
                     {fd_of(waiter_), POLLIN, 0}};
  return ::poll(ready, 2, -1) >= 0 && (ready[1].revents & POLLIN) == 0;
}

bool StopSignal::pause(int ms) const {
  pollfd stop{fd_of(waiter_), POLLIN, 0};
  return ::poll(&stop, 1, ms) == 0;
}

std::string outside_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::string found;
  for (const ifaddrs* one = all; one != nullptr && found.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
    found = text;
  }
  ::freeifaddrs(all);
  return found;
}

bool may_hold_sockets(std::size_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(count, limit.rlim_cur);
  return limit.rlim_cur <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace rollcall::test
