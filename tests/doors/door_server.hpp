// Doors that no honest server would be, in process: raw sockets and a behaviour for each
// connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "doors/sockets.hpp"

namespace rollcall::test {

class DoorServer;

// One accepted connection, in its own thread. Everything returns early once the server stops.
class DoorConnection {
 public:
  DoorConnection(DoorServer& server, RawSocket socket) : server_(server), socket_(socket) {}
  // The head and the body by Content-Length; what came, where the peer went away first.
  std::string read_request();
  // False: the peer is gone.
  bool send(std::string_view bytes);
  void shut();         // orderly: FIN
  void reset();        // RST
  void hold();         // until the peer closes or the server stops
  bool pause(int ms);  // false: the server stops
  [[nodiscard]] std::size_t sent() const { return sent_; }

 private:
  DoorServer& server_;
  RawSocket socket_;
  std::size_t sent_ = 0;
};

class DoorServer {
 public:
  using Behaviour = std::function<void(DoorConnection&)>;
  // `port` 0: any. `path` for kUnix.
  explicit DoorServer(Behaviour behaviour, Where where = Where::kIpv4, std::uint16_t port = 0,
                      std::string path = {});
  ~DoorServer();
  DoorServer(const DoorServer&) = delete;
  DoorServer& operator=(const DoorServer&) = delete;

  [[nodiscard]] bool ok() const { return listener_ >= 0; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::vector<std::string> requests();
  [[nodiscard]] std::size_t connections() const { return connections_.load(); }
  [[nodiscard]] std::size_t bytes_sent() const { return bytes_sent_.load(); }
  [[nodiscard]] std::size_t bytes_received() const { return bytes_received_.load(); }
  // Waits until so many connections have come; false after 10 s.
  bool wait_for_connections(std::size_t count);

 private:
  friend class DoorConnection;
  void accept_all();
  void serve(RawSocket socket);

  Behaviour behaviour_;
  RawSocket listener_ = -1;
  StopSignal stop_;
  std::uint16_t port_ = 0;
  std::string path_;
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::size_t> bytes_sent_{0};
  std::atomic<std::size_t> bytes_received_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> requests_;
  std::list<std::thread> workers_;
  std::thread acceptor_;
};

// A listener that nobody accepts from: connections succeed, answers never come. With a `backlog` of
// 0 and fill() not even connections do.
class SilentListener {
 public:
  explicit SilentListener(int backlog = 4096);
  ~SilentListener();
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  void fill();

 private:
  RawSocket listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<RawSocket> fillers_;
};

// A port of 127.0.0.1 that nobody listens on.
[[nodiscard]] std::uint16_t free_port();
[[nodiscard]] bool has_ipv6_loopback();

}  // namespace rollcall::test
