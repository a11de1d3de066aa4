#include "doors/door_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace rollcall::test {
namespace {

struct Bound {
  int fd = -1;
  std::uint16_t port = 0;
};

Bound bind_tcp(int family, std::uint32_t ipv4, std::uint16_t port) {
  Bound bound;
  bound.fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bound.fd < 0) return bound;
  const int on = 1;
  ::setsockopt(bound.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(ipv4);
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  v6.sin6_port = htons(port);
  if (family == AF_INET6) ::setsockopt(bound.fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  const auto* address = family == AF_INET ? reinterpret_cast<const sockaddr*>(&v4)
                                          : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
  if (::bind(bound.fd, address, size) != 0) {
    ::close(bound.fd);
    bound.fd = -1;
    return bound;
  }
  sockaddr_in6 own{};
  socklen_t own_size = sizeof(own);
  ::getsockname(bound.fd, reinterpret_cast<sockaddr*>(&own), &own_size);
  bound.port = ntohs(own.sin6_port);  // at the same place in both families
  return bound;
}

int bind_unix(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), path.size());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof(local)) == 0) return fd;
  ::close(fd);
  return -1;
}

std::size_t body_size(const std::string& head) {
  const auto at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 16, nullptr, 10);
}

}  // namespace

std::string DoorConnection::read_request() {
  std::string text;
  char piece[4096];
  while (true) {
    const auto end = text.find("\r\n\r\n");
    if (end != std::string::npos && text.size() >= end + 4 + body_size(text.substr(0, end))) break;
    pollfd ready[2] = {{fd_, POLLIN, 0}, {server_.stop_event_, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || (ready[1].revents & POLLIN) != 0) break;
    const auto got = ::recv(fd_, piece, sizeof(piece), 0);
    if (got <= 0) break;
    server_.bytes_received_ += static_cast<std::size_t>(got);
    text.append(piece, static_cast<std::size_t>(got));
  }
  const std::lock_guard lock(server_.mutex_);
  server_.requests_.push_back(text);
  return text;
}

bool DoorConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready[2] = {{fd_, POLLOUT, 0}, {server_.stop_event_, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || (ready[1].revents & POLLIN) != 0) return false;
    const auto size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) return false;
    sent_ += static_cast<std::size_t>(size);
    server_.bytes_sent_ += static_cast<std::size_t>(size);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void DoorConnection::shut() { ::shutdown(fd_, SHUT_WR); }

void DoorConnection::reset() {
  const linger hard{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

void DoorConnection::hold() {
  char piece[4096];
  while (true) {
    pollfd ready[2] = {{fd_, POLLIN, 0}, {server_.stop_event_, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || (ready[1].revents & POLLIN) != 0) return;
    const auto got = ::recv(fd_, piece, sizeof(piece), 0);
    if (got <= 0) return;
    server_.bytes_received_ += static_cast<std::size_t>(got);
  }
}

bool DoorConnection::pause(int ms) {
  pollfd stop{server_.stop_event_, POLLIN, 0};
  return ::poll(&stop, 1, ms) == 0;
}

DoorServer::DoorServer(Behaviour behaviour, Where where, std::uint16_t port, std::string path)
    : behaviour_(std::move(behaviour)), path_(std::move(path)) {
  stop_event_ = ::eventfd(0, EFD_CLOEXEC);
  if (where == Where::kUnix) {
    listener_ = bind_unix(path_);
  } else {
    const Bound bound =
        bind_tcp(where == Where::kIpv6 ? AF_INET6 : AF_INET,
                 where == Where::kAnyIpv4 ? INADDR_ANY : std::uint32_t{INADDR_LOOPBACK}, port);
    listener_ = bound.fd;
    port_ = bound.port;
  }
  if (listener_ < 0) return;
  ::listen(listener_, 4096);
  acceptor_ = std::thread([this] { accept_all(); });
}

DoorServer::~DoorServer() {
  const std::uint64_t one = 1;
  (void)!::write(stop_event_, &one, sizeof(one));
  if (acceptor_.joinable()) acceptor_.join();
  for (auto& worker : workers_) worker.join();
  if (listener_ >= 0) ::close(listener_);
  ::close(stop_event_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

std::string DoorServer::url() const { return "127.0.0.1:" + std::to_string(port_); }

std::vector<std::string> DoorServer::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool DoorServer::wait_for_connections(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10),
                           [&] { return connections_.load() >= count; });
}

void DoorServer::accept_all() {
  while (true) {
    pollfd ready[2] = {{listener_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || (ready[1].revents & POLLIN) != 0) return;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {  // out of descriptors: tests of that lower the limit
      pollfd stop{stop_event_, POLLIN, 0};
      if (::poll(&stop, 1, 5) != 0) return;
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      ++connections_;
    }
    changed_.notify_all();
    workers_.emplace_back([this, fd] { serve(fd); });
  }
}

void DoorServer::serve(int fd) {
  DoorConnection connection(*this, fd);
  behaviour_(connection);
  ::close(fd);
}

SilentListener::SilentListener(int backlog) {
  const Bound bound = bind_tcp(AF_INET, INADDR_LOOPBACK, 0);
  listener_ = bound.fd;
  port_ = bound.port;
  ::listen(listener_, backlog);
}

SilentListener::~SilentListener() {
  for (const int fd : fillers_) ::close(fd);
  ::close(listener_);
}

std::string SilentListener::url() const { return "127.0.0.1:" + std::to_string(port_); }

void SilentListener::fill() {
  for (int i = 0; i < 4; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    (void)::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    fillers_.push_back(fd);
  }
}

std::uint16_t free_port() {
  const Bound bound = bind_tcp(AF_INET, INADDR_LOOPBACK, 0);
  ::close(bound.fd);
  return bound.port;
}

bool has_ipv6_loopback() {
  const Bound bound = bind_tcp(AF_INET6, 0, 0);
  if (bound.fd < 0) return false;
  ::close(bound.fd);
  return true;
}

}  // namespace rollcall::test
