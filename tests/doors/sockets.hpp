// Sockets as these tests need them, the same on every system: plain, blocking where nothing else is
// said, never inherited by children, without SIGPIPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rollcall::test {

using RawSocket = std::int64_t;  // -1: none

enum class Where { kIpv4, kIpv6, kUnix, kAnyIpv4 };

struct Bound {
  RawSocket socket = -1;
  std::uint16_t port = 0;
};

// `port` 0: any. Without a socket: it cannot be had.
[[nodiscard]] Bound bind_tcp(Where where, std::uint16_t port);
[[nodiscard]] RawSocket bind_unix(const std::string& path);
[[nodiscard]] bool has_unix_sockets();
// The most bytes that the path of a Unix socket has here.
[[nodiscard]] std::size_t longest_unix_path();
void listen_on(RawSocket socket, int backlog);
[[nodiscard]] RawSocket accept_from(RawSocket listener);
// To 127.0.0.1. `waits`: until it is connected, and then at most 30 s for each byte.
[[nodiscard]] RawSocket connect_to(std::uint16_t port, bool waits);
// A TCP socket that is connected with itself; -1 where the system has no such thing.
[[nodiscard]] RawSocket self_connected();

void close_socket(RawSocket socket);
void shut_sending(RawSocket socket);    // orderly: FIN
void reset_at_close(RawSocket socket);  // RST

// As recv(2) gives it.
[[nodiscard]] std::int64_t receive_some(RawSocket socket, char* into, std::size_t size);
// Whether the last failure was the 30 s of connect_to().
[[nodiscard]] bool patience_is_over();
// Never blocks. 0: nothing could be sent now; -1: the peer is gone.
[[nodiscard]] std::int64_t send_some(RawSocket socket, std::string_view bytes);

struct Peer {
  bool loopback = false;
  bool unix_domain = false;
  std::string text;  // "127.0.0.1:80", "[::1]:80", "unix"; empty: none
};
[[nodiscard]] Peer peer_of(RawSocket socket);

// Wakes all who wait for a socket. Once set it stays set.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  void set();
  // False: it was set. `writable`: else readable, an end or an error included.
  [[nodiscard]] bool wait_for(RawSocket socket, bool writable = false) const;
  // False: it was set within the time.
  [[nodiscard]] bool pause(int ms) const;

 private:
  RawSocket waiter_ = -1;
  RawSocket setter_ = -1;
};

// An IPv4 address of this machine beside loopback; empty: it has none.
[[nodiscard]] std::string outside_address();
// Sees to it that this process may hold so many. False: it may not.
[[nodiscard]] bool may_hold_sockets(std::size_t count);

}  // namespace rollcall::test
