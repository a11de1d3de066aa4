// Readiness by epoll(7).
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <limits>

#include "common/net.hpp"

namespace rollcall::doors {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

int fd_of(const Socket& socket) { return static_cast<int>(socket.handle()); }

std::uint32_t events_of(bool readable, bool writable) {
  return (readable ? std::uint32_t{EPOLLIN | EPOLLRDHUP} : 0U) |
         (writable ? std::uint32_t{EPOLLOUT} : 0U);
}

}  // namespace

struct Poller::State {
  Socket epoll;
};

Poller::Poller(std::unique_ptr<State> state) : state_(std::move(state)) {}
Poller::Poller(Poller&&) noexcept = default;
Poller& Poller::operator=(Poller&&) noexcept = default;
Poller::~Poller() = default;

std::optional<Poller> Poller::open() {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) return {};
  return Poller(std::make_unique<State>(State{Socket(fd)}));
}

bool Poller::watch(const Socket& socket, std::size_t key, bool readable, bool writable) {
  epoll_event event{};
  event.events = events_of(readable, writable);
  event.data.u64 = key;
  return epoll_ctl(fd_of(state_->epoll), EPOLL_CTL_ADD, fd_of(socket), &event) == 0;
}

void Poller::change(const Socket& socket, std::size_t key, bool readable, bool writable) {
  epoll_event event{};
  event.events = events_of(readable, writable);
  event.data.u64 = key;
  epoll_ctl(fd_of(state_->epoll), EPOLL_CTL_MOD, fd_of(socket), &event);
}

void Poller::forget(const Socket& socket) {
  epoll_event unused{};
  epoll_ctl(fd_of(state_->epoll), EPOLL_CTL_DEL, fd_of(socket), &unused);
}

void Poller::wait(std::vector<Readiness>& ready, std::int64_t timeout_ns) {
  std::array<epoll_event, 256> events{};
  const std::int64_t ms = std::clamp<std::int64_t>((timeout_ns + kNsPerMs - 1) / kNsPerMs, 0,
                                                   std::numeric_limits<int>::max());
  const int count = epoll_wait(fd_of(state_->epoll), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(ms));
  ready.clear();
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    ready.push_back({static_cast<std::size_t>(event.data.u64),
                     broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0,
                     broken || (event.events & EPOLLOUT) != 0});
  }
}

}  // namespace rollcall::doors
