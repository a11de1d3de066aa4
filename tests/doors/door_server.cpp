#include "doors/door_server.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace rollcall::test {
namespace {

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
    if (!server_.stop_.wait_for(socket_)) break;
    const auto got = receive_some(socket_, piece, sizeof(piece));
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
    if (!server_.stop_.wait_for(socket_, true)) return false;
    const auto size = send_some(socket_, bytes);
    if (size == 0) continue;
    if (size < 0) return false;
    sent_ += static_cast<std::size_t>(size);
    server_.bytes_sent_ += static_cast<std::size_t>(size);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void DoorConnection::shut() { shut_sending(socket_); }

void DoorConnection::reset() { reset_at_close(socket_); }

void DoorConnection::hold() {
  char piece[4096];
  while (true) {
    if (!server_.stop_.wait_for(socket_)) return;
    const auto got = receive_some(socket_, piece, sizeof(piece));
    if (got <= 0) return;
    server_.bytes_received_ += static_cast<std::size_t>(got);
  }
}

bool DoorConnection::pause(int ms) { return server_.stop_.pause(ms); }

DoorServer::DoorServer(Behaviour behaviour, Where where, std::uint16_t port, std::string path)
    : behaviour_(std::move(behaviour)), path_(std::move(path)) {
  if (where == Where::kUnix) {
    listener_ = bind_unix(path_);
  } else {
    const Bound bound = bind_tcp(where, port);
    listener_ = bound.socket;
    port_ = bound.port;
  }
  if (listener_ < 0) return;
  listen_on(listener_, 4096);
  acceptor_ = std::thread([this] { accept_all(); });
}

DoorServer::~DoorServer() {
  stop_.set();
  if (acceptor_.joinable()) acceptor_.join();
  for (auto& worker : workers_) worker.join();
  close_socket(listener_);
  if (!path_.empty()) std::remove(path_.c_str());
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
    if (!stop_.wait_for(listener_)) return;
    const RawSocket socket = accept_from(listener_);
    if (socket < 0) {  // out of descriptors: tests of that lower the limit
      if (!stop_.pause(5)) return;
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      ++connections_;
    }
    changed_.notify_all();
    workers_.emplace_back([this, socket] { serve(socket); });
  }
}

void DoorServer::serve(RawSocket socket) {
  DoorConnection connection(*this, socket);
  behaviour_(connection);
  close_socket(socket);
}

SilentListener::SilentListener(int backlog) {
  const Bound bound = bind_tcp(Where::kIpv4, 0);
  listener_ = bound.socket;
  port_ = bound.port;
  listen_on(listener_, backlog);
}

SilentListener::~SilentListener() {
  for (const RawSocket socket : fillers_) close_socket(socket);
  close_socket(listener_);
}

std::string SilentListener::url() const { return "127.0.0.1:" + std::to_string(port_); }

void SilentListener::fill() {
  for (int i = 0; i < 4; ++i) fillers_.push_back(connect_to(port_, false));
}

std::uint16_t free_port() {
  const Bound bound = bind_tcp(Where::kIpv4, 0);
  close_socket(bound.socket);
  return bound.port;
}

bool has_ipv6_loopback() {
  const Bound bound = bind_tcp(Where::kIpv6, 0);
  close_socket(bound.socket);
  return bound.socket >= 0;
}

}  // namespace rollcall::test
