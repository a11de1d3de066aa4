#include <winsock2.h>
// winsock2.h comes first.
#include <windows.h>

#include <Poco/Net/Net.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Thread.h>
#include <Poco/Timespan.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/handle_windows.hpp"
#include "core/text_windows.hpp"
#include "doors/bounded_connection.hpp"
#include "doors/session_socket.hpp"

namespace rollcall::doors {
namespace {

using core::Handle;
using Poco::Net::SocketImpl;

constexpr int kBacklog = 64;
constexpr long kOutOfMemoryPauseMs = 50;

class LoopbackListener final : public Poco::Net::ServerSocketImpl {
 public:
  // `ready` is set by the system when a connection has come, `stopped` by stop().
  LoopbackListener(SOCKET socket, Handle ready, Handle stopped, const ConnectionBounds& bounds)
      : ready_(std::move(ready)), stopped_(std::move(stopped)), bounds_(bounds) {
    reset(socket);
  }

  void stop() const { ::SetEvent(stopped_.get()); }

  // The server asks for connections only.
  bool poll(const Poco::Timespan& timeout, int /*mode*/) override {
    const HANDLE events[2] = {stopped_.get(), ready_.get()};
    const auto patience =
        static_cast<DWORD>(std::max<Poco::Timespan::TimeDiff>(timeout.totalMilliseconds(), 0));
    if (::WaitForMultipleObjects(2, events, FALSE, patience) != WAIT_OBJECT_0 + 1) return false;
    ::ResetEvent(ready_.get());  // accepting sets it again where more wait
    return true;
  }

  SocketImpl* acceptConnection(Poco::Net::SocketAddress&) override {
    const SOCKET made = ::accept(sockfd(), nullptr, nullptr);
    if (made == INVALID_SOCKET) {
      const int code = ::WSAGetLastError();
      // The server asks again at once; the connection that waits would make it spin.
      if (code == WSAEMFILE || code == WSAENOBUFS) Poco::Thread::sleep(kOutOfMemoryPauseMs);
      error(code);
      return nullptr;
    }
    ::SetHandleInformation(reinterpret_cast<HANDLE>(made), HANDLE_FLAG_INHERIT, 0);
    // It took the listener's event over, and with it that it does not block.
    ::WSAEventSelect(made, nullptr, 0);
    u_long off = 0;
    ::ioctlsocket(made, static_cast<long>(FIONBIO), &off);
    const auto patience_ms = static_cast<DWORD>(bounds_.total_ms);
    ::setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, reinterpret_cast<const char*>(&patience_ms),
                 sizeof(patience_ms));
    return bounded_connection(static_cast<std::intptr_t>(made), 0, bounds_);
  }

 private:
  const Handle ready_;
  const Handle stopped_;
  const ConnectionBounds bounds_;
};

// ServerSocket's constructor from an implementation is for derived classes.
class OwnServerSocket final : public Poco::Net::ServerSocket {
 public:
  explicit OwnServerSocket(SocketImpl* impl) : ServerSocket(impl, true) {}
};

// Until the listener takes it over.
class OpenSocket {
 public:
  explicit OpenSocket(SOCKET socket) : socket_(socket) {}
  OpenSocket(const OpenSocket&) = delete;
  OpenSocket& operator=(const OpenSocket&) = delete;
  ~OpenSocket() {
    if (socket_ != INVALID_SOCKET) ::closesocket(socket_);
  }
  [[nodiscard]] SOCKET get() const { return socket_; }
  SOCKET release() { return std::exchange(socket_, INVALID_SOCKET); }

 private:
  SOCKET socket_;
};

tl::unexpected<Error> failed(const char* what, std::uint16_t port, int code) {
  return fail(ErrorCode::kIo,
              fmt::format("cannot {} 127.0.0.1:{} for the session's door: {}", what, port,
                          core::error_text(static_cast<unsigned long>(code))),
              code);
}

}  // namespace

Result<Poco::Net::ServerSocket> listen_on_loopback(std::uint16_t port,
                                                   const ConnectionBounds& bounds) {
  Poco::Net::initializeNetwork();  // counted; the process's end undoes it
  OpenSocket socket(::WSASocketW(AF_INET, SOCK_STREAM, 0, nullptr, 0,
                                 WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
  if (socket.get() == INVALID_SOCKET) return failed("open a socket on", port, ::WSAGetLastError());
  // Elsewhere SO_REUSEADDR passes over connections that have ended; here it would let anybody
  // listen on the same port, and without this option others could ask for that.
  const BOOL on = TRUE;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
                   reinterpret_cast<const char*>(&on), sizeof(on)) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return failed("listen on", port, ::WSAGetLastError());
  }
  Handle ready(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  Handle stopped(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!ready.valid() || !stopped.valid()) {
    return failed("make an event for", port, static_cast<int>(::GetLastError()));
  }
  if (::WSAEventSelect(socket.get(), ready.get(), FD_ACCEPT) != 0) {
    return failed("wait on", port, ::WSAGetLastError());
  }
  // Wine tells whose a socket is once its process has used it. On Windows this only fails.
  char unused = 0;
  (void)::recv(socket.get(), &unused, 1, 0);
  return Poco::Net::ServerSocket(OwnServerSocket(
      new LoopbackListener(socket.release(), std::move(ready), std::move(stopped), bounds)));
}

void stop_listening(const Poco::Net::ServerSocket& listener) {
  if (const auto* own = dynamic_cast<const LoopbackListener*>(listener.impl())) own->stop();
}

}  // namespace rollcall::doors
