#include "doors/bounded_connection.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <Poco/Timespan.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace rollcall::doors {
namespace {

using SteadyClock = std::chrono::steady_clock;

class BoundedConnection final : public Poco::Net::StreamSocketImpl {
 public:
  BoundedConnection(poco_socket_t socket, int send_flags, const ConnectionBounds& bounds)
      : StreamSocketImpl(socket),
        send_flags_(send_flags),
        total_(bounds.total_ms),
        bytes_left_(bounds.receive_bytes) {}

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
    return StreamSocketImpl::sendBytes(buffer, length, flags | send_flags_);
  }

  bool poll(const Poco::Timespan& timeout, int mode) override {
    const Use use(uses_);
    return StreamSocketImpl::poll(std::min(timeout, left()), mode);
  }

 private:
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
  const int send_flags_;
  const std::chrono::milliseconds total_;
  SteadyClock::time_point end_{};
  std::int64_t bytes_left_;
};

}  // namespace

Poco::Net::SocketImpl* bounded_connection(std::intptr_t socket, int send_flags,
                                          const ConnectionBounds& bounds) {
  return new BoundedConnection(static_cast<poco_socket_t>(socket), send_flags, bounds);
}

}  // namespace rollcall::doors
