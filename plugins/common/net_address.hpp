// What every net_*.cpp does the same way. To be included behind the system's socket headers.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "common/net.hpp"

namespace rollcall::doors::detail {

inline const sockaddr* raw(const Address& address) {
  return reinterpret_cast<const sockaddr*>(address.bytes.data());
}

template <class Raw>
Address wrapped(Family family, const Raw& address, std::size_t size) {
  Address out;
  static_assert(sizeof(Raw) <= sizeof(out.bytes));
  out.family = family;
  out.size = static_cast<std::uint32_t>(size);
  std::memcpy(out.bytes.data(), &address, size);
  return out;
}

inline std::optional<Address> numeric_address(std::string_view host, std::uint16_t port) {
  const std::string text(host);
  if (text.find('\0') != std::string::npos) return {};
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    return wrapped(Family::kIpv4, v4, sizeof(v4));
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    return wrapped(Family::kIpv6, v6, sizeof(v6));
  }
  return {};
}

// `path` must be absolute already. nullopt: it holds a NUL or is longer than the system takes.
inline std::optional<Address> path_address(std::string_view path) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  if (path.size() >= sizeof(local.sun_path) || path.find('\0') != path.npos) return {};
  std::memcpy(local.sun_path, path.data(), path.size());
  return wrapped(Family::kUnix, local, offsetof(sockaddr_un, sun_path) + path.size() + 1);
}

// A TCP simultaneous open with itself: the port that was asked for was free and became our own.
template <class Handle>
bool is_self_connected(Handle socket) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t here_size = sizeof(here);
  socklen_t there_size = sizeof(there);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0) return false;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) return false;
  if (here.ss_family != AF_INET && here.ss_family != AF_INET6) return false;
  return here_size == there_size &&
         std::memcmp(&here, &there, static_cast<std::size_t>(here_size)) == 0;
}

}  // namespace rollcall::doors::detail
