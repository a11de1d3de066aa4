#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <Poco/Exception.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <Poco/Thread.h>
#include <Poco/Timespan.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "doors/session_socket.hpp"

namespace rollcall::doors {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Poco::Net::SocketImpl;

constexpr int kBacklog = 64;
constexpr long kOutOfDescriptorsPauseMs = 50;

#if defined(__linux__)
int open_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
int accept_socket(int listener) { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); }
#else
int close_on_exec(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}
int open_socket() { return close_on_exec(::socket(AF_INET, SOCK_STREAM, 0)); }
int accept_socket(int listener) { return close_on_exec(::accept(listener, nullptr, nullptr)); }
#endif

// One connection with an end in time and in bytes.
class BoundedConnection final : public Poco::Net::StreamSocketImpl {
 public:
  BoundedConnection(int fd, const ConnectionBounds& bounds)
      : StreamSocketImpl(fd), total_(bounds.total_ms), bytes_left_(bounds.receive_bytes) {}

  ~BoundedConnection() override { (void)uses_.load(std::memory_order_acquire); }

  using StreamSocketImpl::receiveBytes;
  using StreamSocketImpl::sendBytes;

  int receiveBytes(void* buffer, int length, int flags) override {
    const Use use(uses_);
    if (bytes_left_ <= 0) throw Poco::Net::NetException("the request is too large");
    wait_for(SELECT_READ);
    const int got = StreamSocketImpl::receiveBytes(buffer, length, flags);
    if (got > 0) bytes_left_ -= got;
    return got;
  }

  int sendBytes(const void* buffer, int length, int flags) override {
    const Use use(uses_);
    wait_for(SELECT_WRITE);
    return StreamSocketImpl::sendBytes(buffer, length, flags | MSG_NOSIGNAL);
  }

  bool poll(const Poco::Timespan& timeout, int mode) override {
    const Use use(uses_);
    return StreamSocketImpl::poll(std::min(timeout, left()), mode);
  }

 private:
  // The time begins when a thread takes the connection up, not while it waits for one.
  [[nodiscard]] Poco::Timespan left() {
    if (end_ == SteadyClock::time_point{}) end_ = SteadyClock::now() + total_;
    const auto us =
        std::chrono::duration_cast<std::chrono::microseconds>(end_ - SteadyClock::now());
    return Poco::Timespan(std::max<std::int64_t>(us.count(), 0));
  }
  void wait_for(int mode) {
    const Poco::Timespan remaining = left();
    if (remaining.totalMicroseconds() == 0 || !StreamSocketImpl::poll(remaining, mode)) {
      throw Poco::TimeoutException("the connection's time is over");
    }
  }

  // Orders every use before the end, which another thread may bring about. Poco's reference count
  // does that too, but in a library that ThreadSanitizer does not see into.
  struct Use {
    explicit Use(std::atomic<unsigned>& its_count) : count(its_count) {}
    ~Use() { count.fetch_add(1, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    std::atomic<unsigned>& count;
  };

  std::atomic<unsigned> uses_{0};
  const std::chrono::milliseconds total_;
  SteadyClock::time_point end_{};
  std::int64_t bytes_left_;
};

class LoopbackListener final : public Poco::Net::ServerSocketImpl {
 public:
  LoopbackListener(int fd, const ConnectionBounds& bounds) : bounds_(bounds) { reset(fd); }

  SocketImpl* acceptConnection(Poco::Net::SocketAddress&) override {
    const int fd = accept_socket(sockfd());
    if (fd < 0) {
      const int code = errno;
      // The server asks again at once; the connection that waits would make it spin.
      if (code == EMFILE || code == ENFILE) Poco::Thread::sleep(kOutOfDescriptorsPauseMs);
      error(code);
      return nullptr;
    }
    timeval patience{};
    patience.tv_sec = bounds_.total_ms / 1000;
    patience.tv_usec = static_cast<decltype(patience.tv_usec)>((bounds_.total_ms % 1000) * 1000);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return new BoundedConnection(fd, bounds_);  // owned by the socket object that Poco makes of it
  }

 private:
  const ConnectionBounds bounds_;
};

// ServerSocket's constructor from an implementation is for derived classes.
class OwnServerSocket final : public Poco::Net::ServerSocket {
 public:
  explicit OwnServerSocket(SocketImpl* impl) : ServerSocket(impl, true) {}
};

tl::unexpected<Error> failed(const char* what, std::uint16_t port, int code) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot {} 127.0.0.1:{} for the session's door: {}", what, port,
                          std::generic_category().message(code)),
              code);
}

}  // namespace

Result<Poco::Net::ServerSocket> listen_on_loopback(std::uint16_t port,
                                                   const ConnectionBounds& bounds) {
  const int fd = open_socket();
  if (fd < 0) return failed("open a socket on", port, errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd, kBacklog) != 0) {
    const int code = errno;
    ::close(fd);
    return failed("listen on", port, code);
  }
  return Poco::Net::ServerSocket(OwnServerSocket(new LoopbackListener(fd, bounds)));
}

void stop_listening(const Poco::Net::ServerSocket& listener) {
  (void)::shutdown(listener.impl()->sockfd(), SHUT_RDWR);
}

}  // namespace rollcall::doors
