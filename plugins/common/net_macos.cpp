// Readiness by kqueue(2).
#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/net.hpp"

namespace rollcall::doors {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kLongestNs = 3600 * kNsPerSecond;

// Adds the filter where it is wanted, and takes it away where it is not.
bool set_filter(int queue, const Socket& socket, std::int16_t filter, std::size_t key,
                bool wanted) {
  struct kevent change {};
  EV_SET(&change, static_cast<std::uintptr_t>(socket.handle()), filter,
         static_cast<std::uint16_t>(wanted ? EV_ADD : EV_DELETE), 0, 0,
         reinterpret_cast<void*>(key));
  return ::kevent(queue, &change, 1, nullptr, 0, nullptr) == 0;
}

}  // namespace

struct Poller::State {
  Socket queue;
  [[nodiscard]] int fd() const { return static_cast<int>(queue.handle()); }
};

Poller::Poller(std::unique_ptr<State> state) : state_(std::move(state)) {}
Poller::Poller(Poller&&) noexcept = default;
Poller& Poller::operator=(Poller&&) noexcept = default;
Poller::~Poller() = default;

std::optional<Poller> Poller::open() {
  const int fd = ::kqueue();
  if (fd < 0) return {};
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // a forked child does not inherit it anyway
  return Poller(std::make_unique<State>(State{Socket(fd)}));
}

bool Poller::watch(const Socket& socket, std::size_t key, bool readable, bool writable) {
  return (!readable || set_filter(state_->fd(), socket, EVFILT_READ, key, true)) &&
         (!writable || set_filter(state_->fd(), socket, EVFILT_WRITE, key, true));
}

void Poller::change(const Socket& socket, std::size_t key, bool readable, bool writable) {
  (void)set_filter(state_->fd(), socket, EVFILT_READ, key, readable);
  (void)set_filter(state_->fd(), socket, EVFILT_WRITE, key, writable);
}

void Poller::forget(const Socket& socket) { change(socket, 0, false, false); }

void Poller::wait(std::vector<Readiness>& ready, std::int64_t timeout_ns) {
  std::array<struct kevent, 256> events{};
  std::int64_t ns = std::clamp<std::int64_t>(timeout_ns, 0, kLongestNs);
  ns = (ns + kNsPerMs - 1) / kNsPerMs * kNsPerMs;
  const timespec timeout{static_cast<time_t>(ns / kNsPerSecond),
                         static_cast<long>(ns % kNsPerSecond)};
  const int count =
      ::kevent(state_->fd(), nullptr, 0, events.data(), static_cast<int>(events.size()), &timeout);
  ready.clear();
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    const bool broken = (event.flags & (EV_EOF | EV_ERROR)) != 0;
    const auto key = reinterpret_cast<std::size_t>(event.udata);
    // Reading and writing are told apart; whoever asks wants one answer a socket.
    auto same = std::find_if(ready.begin(), ready.end(),
                             [key](const Readiness& one) { return one.key == key; });
    if (same == ready.end()) same = ready.insert(ready.end(), Readiness{key, false, false});
    same->readable = same->readable || broken || event.filter == EVFILT_READ;
    same->writable = same->writable || broken || event.filter == EVFILT_WRITE;
  }
}

}  // namespace rollcall::doors
