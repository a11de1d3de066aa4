#include "doors/sockets.hpp"

#include <winsock2.h>
// winsock2.h comes first.
#include <afunix.h>
#include <iphlpapi.h>
#include <windows.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace rollcall::test {
namespace {

SOCKET socket_of(RawSocket socket) { return static_cast<SOCKET>(socket); }

RawSocket made(int family, int type = SOCK_STREAM) {
  return static_cast<RawSocket>(
      ::WSASocketW(family, type, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
}

void set_blocking(RawSocket socket, bool blocks) {
  u_long without = blocks ? 0 : 1;
  ::ioctlsocket(socket_of(socket), static_cast<long>(FIONBIO), &without);
}

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

std::uint16_t port_of(RawSocket socket) {
  sockaddr_in6 own{};
  int size = sizeof(own);
  ::getsockname(socket_of(socket), reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.sin6_port);  // at the same place in both families
}

}  // namespace

Bound bind_tcp(Where where, std::uint16_t port) {
  const bool v6 = where == Where::kIpv6;
  Bound bound{made(v6 ? AF_INET6 : AF_INET), 0};
  if (bound.socket < 0) return bound;
  sockaddr_in four = loopback(port);
  if (where == Where::kAnyIpv4) four.sin_addr.s_addr = htonl(INADDR_ANY);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  six.sin6_port = htons(port);
  const int size = v6 ? int{sizeof(six)} : int{sizeof(four)};
  if (::bind(socket_of(bound.socket), v6 ? raw(six) : raw(four), size) != 0) {
    close_socket(bound.socket);
    return {};
  }
  bound.port = port_of(bound.socket);
  return bound;
}

RawSocket bind_unix(const std::string& path) {
  const RawSocket socket = made(AF_UNIX);
  if (socket < 0) return -1;
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), std::min(path.size(), sizeof(local.sun_path) - 1));
  if (::bind(socket_of(socket), raw(local), sizeof(local)) == 0) return socket;
  close_socket(socket);
  return -1;
}

bool has_unix_sockets() {
  const RawSocket socket = made(AF_UNIX);
  close_socket(socket);
  return socket >= 0;
}

std::size_t longest_unix_path() { return sizeof(sockaddr_un::sun_path) - 1; }

void listen_on(RawSocket socket, int backlog) { ::listen(socket_of(socket), backlog); }

RawSocket accept_from(RawSocket listener) {
  return static_cast<RawSocket>(::accept(socket_of(listener), nullptr, nullptr));
}

RawSocket connect_to(std::uint16_t port, bool waits) {
  const RawSocket socket = made(AF_INET);
  if (socket < 0) return -1;
  const sockaddr_in address = loopback(port);
  set_blocking(socket, waits);
  if (::connect(socket_of(socket), raw(address), sizeof(address)) != 0 && waits) {
    close_socket(socket);
    return -1;
  }
  const DWORD patience_ms = 30'000;
  ::setsockopt(socket_of(socket), SOL_SOCKET, SO_RCVTIMEO,
               reinterpret_cast<const char*>(&patience_ms), sizeof(patience_ms));
  return socket;
}

RawSocket self_connected() {
  const Bound bound = bind_tcp(Where::kIpv4, 0);
  const sockaddr_in address = loopback(bound.port);
  if (::connect(socket_of(bound.socket), raw(address), sizeof(address)) == 0) return bound.socket;
  close_socket(bound.socket);
  return -1;
}

void close_socket(RawSocket socket) {
  if (socket >= 0) ::closesocket(socket_of(socket));
}

void shut_sending(RawSocket socket) { ::shutdown(socket_of(socket), SD_SEND); }

void reset_at_close(RawSocket socket) {
  const linger hard{1, 0};
  ::setsockopt(socket_of(socket), SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&hard),
               sizeof(hard));
}

std::int64_t receive_some(RawSocket socket, char* into, std::size_t size) {
  return ::recv(socket_of(socket), into, static_cast<int>(size), 0);
}

bool patience_is_over() { return ::WSAGetLastError() == WSAETIMEDOUT; }

std::int64_t send_some(RawSocket socket, std::string_view bytes) {
  set_blocking(socket, false);
  const int sent = ::send(socket_of(socket), bytes.data(), static_cast<int>(bytes.size()), 0);
  const int code = ::WSAGetLastError();
  set_blocking(socket, true);
  if (sent < 0 && code == WSAEWOULDBLOCK) return 0;
  return sent <= 0 ? -1 : sent;
}

Peer peer_of(RawSocket socket) {
  sockaddr_storage peer{};
  int size = sizeof(peer);
  if (::getpeername(socket_of(socket), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
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
  return {IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0, false,
          "[" + std::string(text) + "]:" + std::to_string(ntohs(six.sin6_port))};
}

// A datagram socket that sends to itself.
StopSignal::StopSignal() : waiter_(made(AF_INET, SOCK_DGRAM)) {
  const sockaddr_in any = loopback(0);
  ::bind(socket_of(waiter_), raw(any), sizeof(any));
  const sockaddr_in own = loopback(port_of(waiter_));
  ::connect(socket_of(waiter_), raw(own), sizeof(own));
}

StopSignal::~StopSignal() { close_socket(waiter_); }

void StopSignal::set() { ::send(socket_of(waiter_), "x", 1, 0); }

bool StopSignal::wait_for(RawSocket socket, bool writable) const {
  WSAPOLLFD ready[2] = {
      {socket_of(socket), static_cast<SHORT>(writable ? POLLWRNORM : POLLRDNORM), 0},
      {socket_of(waiter_), POLLRDNORM, 0}};
  return ::WSAPoll(ready, 2, -1) >= 0 && (ready[1].revents & POLLRDNORM) == 0;
}

bool StopSignal::pause(int ms) const {
  WSAPOLLFD stop{socket_of(waiter_), POLLRDNORM, 0};
  return ::WSAPoll(&stop, 1, ms) == 0;
}

std::string outside_address() {
  ULONG size = 64 * 1024;
  std::vector<std::uint64_t> room(size / sizeof(std::uint64_t));
  auto* first = reinterpret_cast<IP_ADAPTER_ADDRESSES*>(room.data());
  if (::GetAdaptersAddresses(AF_INET, 0, nullptr, first, &size) != NO_ERROR) return {};
  for (const auto* one = first; one != nullptr; one = one->Next) {
    if (one->IfType == IF_TYPE_SOFTWARE_LOOPBACK || one->OperStatus != IfOperStatusUp) continue;
    if (one->FirstUnicastAddress == nullptr) continue;
    const auto* address =
        reinterpret_cast<const sockaddr_in*>(one->FirstUnicastAddress->Address.lpSockaddr);
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
    return text;
  }
  return {};
}

bool may_hold_sockets(std::size_t /*count*/) { return true; }

}  // namespace rollcall::test
