// Non-blocking stream sockets and readiness, as a door prober needs them. One file an operating
// system behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rollcall::doors {

using SocketHandle = std::int64_t;

enum class Family : std::uint8_t { kIpv4, kIpv6, kUnix };

// A socket address in the system's own form.
struct Address {
  Family family = Family::kIpv4;
  std::uint32_t size = 0;
  alignas(8) std::array<unsigned char, 128> bytes{};
};

// `host` is numeric, without brackets. nullopt: it is not.
[[nodiscard]] std::optional<Address> tcp_address(std::string_view host, std::uint16_t port);
// `path` is absolute. nullopt: it is not, holds a NUL, or is longer than the system takes.
[[nodiscard]] std::optional<Address> unix_address(std::string_view path);

// Owns a socket. Close-on-exec, non-blocking, no SIGPIPE.
class Socket {
 public:
  Socket() = default;
  explicit Socket(SocketHandle handle) : handle_(handle) {}
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = std::exchange(other.handle_, -1);
    }
    return *this;
  }
  ~Socket() { close(); }
  [[nodiscard]] bool valid() const { return handle_ >= 0; }
  [[nodiscard]] SocketHandle handle() const { return handle_; }
  void close();

 private:
  SocketHandle handle_ = -1;
};

enum class Connecting : std::uint8_t {
  kConnected,
  kPending,      // wait until it is writable, then ask finish_connect()
  kBusy,         // a Unix listener's queue is full: try again a little later
  kRefused,      // nobody listens there, or not for us
  kTimedOut,     // the system gave up by itself
  kUnsupported,  // this system has no Unix sockets
  kNoResources,  // ours, not theirs (descriptors, ports, memory): no evidence about the door
};
struct ConnectStep {
  Connecting outcome = Connecting::kRefused;
  std::int64_t os_code = 0;  // of the system; 0 with kRefused: it had connected to itself
};

// Starts connecting. `reserve`: how many of the process's descriptors stay untouched, for whoever
// else needs some meanwhile; fewer left is kNoResources.
[[nodiscard]] ConnectStep start_connect(const Address& address, std::uint32_t reserve, Socket& out);
// What became of a pending connect. A TCP connection with itself is kRefused.
[[nodiscard]] ConnectStep finish_connect(const Socket& socket);

enum class Transfer : std::uint8_t { kBytes, kAgain, kClosed, kBroken };
struct TransferStep {
  Transfer outcome = Transfer::kAgain;
  std::size_t bytes = 0;
  std::int64_t os_code = 0;
};
[[nodiscard]] TransferStep receive(const Socket& socket, std::span<char> into);
[[nodiscard]] TransferStep transmit(const Socket& socket, std::string_view bytes);

// "Connection refused", for a message.
[[nodiscard]] std::string system_text(std::int64_t os_code);

struct Readiness {
  std::size_t key = 0;
  bool readable = false;  // or broken: receive() says which
  bool writable = false;
};

// Waits for many sockets. Costs by the number that are ready where the system can tell them
// (epoll), else by the number that are watched.
class Poller {
 public:
  // nullopt: no descriptor for it.
  [[nodiscard]] static std::optional<Poller> open();
  Poller(Poller&&) noexcept;
  Poller& operator=(Poller&&) noexcept;
  ~Poller();

  // False: out of memory or of the system's watches.
  [[nodiscard]] bool watch(const Socket& socket, std::size_t key, bool readable, bool writable);
  void change(const Socket& socket, std::size_t key, bool readable, bool writable);
  // Before a watched socket is closed. One that is not watched does no harm.
  void forget(const Socket& socket);
  // Replaces `ready` by what is ready within `timeout_ns` (rounded up to whole milliseconds).
  void wait(std::vector<Readiness>& ready, std::int64_t timeout_ns);

 private:
  struct State;
  explicit Poller(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rollcall::doors
