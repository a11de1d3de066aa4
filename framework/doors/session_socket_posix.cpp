#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Thread.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "doors/bounded_connection.hpp"
#include "doors/session_socket.hpp"

namespace rollcall::doors {
namespace {

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
    return bounded_connection(fd, MSG_NOSIGNAL, bounds_);
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
