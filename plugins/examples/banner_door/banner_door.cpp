// A door of a third party's kind, in C++: a server on loopback that says "SESSION <id>\n" to
// everybody who connects. The adapter asks many doors side by side; this file knows about one.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "rollcall/plugin.hpp"

namespace rp = rollcall::plugin;

namespace {

constexpr std::size_t kMaxBanner = 256;
constexpr std::string_view kPrefix = "SESSION ";

// Closes a descriptor when it goes out of scope.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Waits until the socket is ready or the deadline has come. False: it has come.
bool wait_for(int fd, short events, std::int64_t deadline_ns) {
  for (;;) {
    const std::int64_t left_ms = (deadline_ns - rp::now_ns()) / 1'000'000;
    if (left_ms <= 0) return false;
    pollfd polled{fd, events, 0};
    const int ready = ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 1000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Connects to one of the endpoints that the host has ruled on. Returns 0, or a reason.
std::uint32_t connect_to(const Socket& socket, const rollcall_endpoint& endpoint,
                         std::int64_t deadline_ns) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
  const std::string host(rp::view(endpoint.host));
  if (socket.fd() < 0) return ROLLCALL_DOOR_NOT_SUPPORTED;
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    return ROLLCALL_DOOR_NOT_SUPPORTED;
  }
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) return ROLLCALL_DOOR_REFUSED;
  if (!wait_for(socket.fd(), POLLOUT, deadline_ns)) return ROLLCALL_DOOR_CONNECT_TIMEOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? 0 : ROLLCALL_DOOR_REFUSED;
}

// Reads up to the first line feed, within the total deadline however slowly it drips.
rp::DoorAnswer read_banner(int fd, std::int64_t deadline_ns) {
  std::string banner;
  while (banner.find('\n') == banner.npos) {
    if (banner.size() > kMaxBanner) return rp::door_failed(ROLLCALL_DOOR_TOO_LARGE);
    if (!wait_for(fd, POLLIN, deadline_ns)) return rp::door_failed(ROLLCALL_DOOR_READ_TIMEOUT);
    char buffer[64];
    const ssize_t got = ::recv(fd, buffer, sizeof(buffer), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return rp::door_failed(ROLLCALL_DOOR_CLOSED_EARLY, std::strerror(errno));
    if (got == 0) return rp::door_failed(ROLLCALL_DOOR_CLOSED_EARLY);
    banner.append(buffer, static_cast<std::size_t>(got));
  }
  banner.resize(banner.find('\n'));
  if (banner.compare(0, kPrefix.size(), kPrefix) != 0) {
    return rp::door_failed(ROLLCALL_DOOR_NO_SESSION, banner);
  }
  return rp::door_named(std::string_view(banner).substr(kPrefix.size()));
}

class BannerDoor final : public rp::OneDoorProber {
 public:
  rp::DoorAnswer ask(const rp::OneDoor& door) override {
    std::uint32_t reason = ROLLCALL_DOOR_BAD_URL;
    for (std::size_t i = 0; i < door.item().endpoint_count(); ++i) {
      const Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      reason = connect_to(socket, door.item().endpoint(i), door.connect_deadline_ns());
      if (reason != 0) continue;
      // The host looks at who holds the other end before a byte is sent or believed.
      if (door.admit(socket.fd()).admitted == 0) {
        return rp::door_failed(ROLLCALL_DOOR_NOT_ADMITTED);
      }
      return read_banner(socket.fd(), door.deadline_ns());
    }
    return rp::door_failed(reason);
  }
};

}  // namespace

ROLLCALL_DEFINE_PLUGIN("com.example.banner-door", "1.0.0", "Example Ltd", BannerDoor);
