// Sockets of Linux and macOS; readiness is in net_linux.cpp and net_macos.cpp.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/net_address.hpp"

namespace rollcall::doors {
namespace {

using detail::is_self_connected;
using detail::raw;

int fd_of(const Socket& socket) { return static_cast<int>(socket.handle()); }

#if defined(__APPLE__)
// macOS marks a socket after it was made: a process that another thread starts in between inherits
// it.
int open_stream(int family) {
  const int fd = ::socket(family, SOCK_STREAM, 0);
  if (fd < 0) return fd;
  const int on = 1;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
  return fd;
}
#else
int open_stream(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
#endif

Connecting outcome_of(int code, Family family) {
  switch (code) {
    case EINPROGRESS:
    case EALREADY:
    case EINTR:  // connect(2): goes on asynchronously
      return Connecting::kPending;
    case EAGAIN:  // unix(7): the queue is full. TCP: no free local port
      return family == Family::kUnix ? Connecting::kBusy : Connecting::kNoResources;
    case EAFNOSUPPORT:
      return family == Family::kUnix ? Connecting::kUnsupported : Connecting::kRefused;
    case EADDRNOTAVAIL:  // IPv6 switched off; or no free local port
      return family == Family::kIpv6 ? Connecting::kRefused : Connecting::kNoResources;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return Connecting::kNoResources;
    case ETIMEDOUT:
      return Connecting::kTimedOut;
    default:
      return Connecting::kRefused;
  }
}

// Whether so few descriptors are left that the reserve begins. The lowest free number is what the
// kernel hands out, so a high one means that all below are taken.
bool in_reserve(int fd, std::uint32_t reserve) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t kept = std::min<rlim_t>(reserve, limit.rlim_cur / 4);
  return static_cast<rlim_t>(fd) >= limit.rlim_cur - kept;
}

}  // namespace

std::optional<Address> tcp_address(std::string_view host, std::uint16_t port) {
  return detail::numeric_address(host, port);
}

std::optional<Address> unix_address(std::string_view path) {
  if (path.empty() || path.front() != '/') return {};
  return detail::path_address(path);
}

void Socket::close() {
  if (handle_ >= 0) ::close(static_cast<int>(handle_));
  handle_ = -1;
}

ConnectStep start_connect(const Address& address, std::uint32_t reserve, Socket& out) {
  const int fd = open_stream(raw(address)->sa_family);
  if (fd < 0) return {outcome_of(errno, address.family), errno};
  Socket socket(fd);
  if (in_reserve(fd, reserve)) return {Connecting::kNoResources, EMFILE};
  if (::connect(fd, raw(address), address.size) != 0) {
    const int code = errno;
    const auto outcome = outcome_of(code, address.family);
    if (outcome == Connecting::kPending) out = std::move(socket);
    return {outcome, code};
  }
  if (is_self_connected(fd)) return {Connecting::kRefused, 0};
  out = std::move(socket);
  return {Connecting::kConnected, 0};
}

ConnectStep finish_connect(const Socket& socket) {
  int code = 0;
  socklen_t size = sizeof(code);
  if (getsockopt(fd_of(socket), SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  if (code != 0) return {outcome_of(code, Family::kIpv6), code};
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof(peer);
  if (getpeername(fd_of(socket), reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return {Connecting::kRefused, errno};  // it was reset already
  }
  if (is_self_connected(fd_of(socket))) return {Connecting::kRefused, 0};
  return {Connecting::kConnected, 0};
}

TransferStep receive(const Socket& socket, std::span<char> into) {
  const auto got = ::recv(fd_of(socket), into.data(), into.size(), 0);
  if (got > 0) return {Transfer::kBytes, static_cast<std::size_t>(got), 0};
  if (got == 0) return {Transfer::kClosed, 0, 0};
  const int code = errno;
  const bool again = code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
  return {again ? Transfer::kAgain : Transfer::kBroken, 0, code};
}

TransferStep transmit(const Socket& socket, std::string_view bytes) {
  const auto sent = ::send(fd_of(socket), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return {Transfer::kBytes, static_cast<std::size_t>(sent), 0};
  const int code = errno;
  const bool again = code == EAGAIN || code == EWOULDBLOCK || code == EINTR || code == ENOBUFS;
  return {again ? Transfer::kAgain : Transfer::kBroken, 0, code};
}

std::string system_text(std::int64_t os_code) {
  return std::generic_category().message(static_cast<int>(os_code));
}

}  // namespace rollcall::doors
