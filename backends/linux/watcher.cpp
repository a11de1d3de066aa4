#include "watcher.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "backend/outcomes.hpp"
#include "pidfs.hpp"

namespace rollcall::linux_backend {
namespace {

using backend::name;
using backend::settle;

// What ran out, or what this kernel has not.
std::uint32_t outcome_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return ROLLCALL_WATCH_LIMIT;
    default:
      return ROLLCALL_WATCH_UNSUPPORTED;
  }
}

}  // namespace

Watcher::Watcher(const plugin::Settings& settings) : Watcher(settings, linux_system()) {}

Watcher::Watcher(const plugin::Settings& settings, const System& system)
    : system_(system),
      reader_(system, std::string(settings.get("proc_root", "/proc"))),
      epoll_(system, system.epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(system, system.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      directories_(system) {
  const int error = errno;
  if (!epoll_.open() || !wakeup_.open() || arm(wakeup_.get()) != 0) {
    throw plugin::Error(ROLLCALL_E_IO, "cannot make a watcher: " + error_text(error), error);
  }
  if (directories_.fd() >= 0) (void)arm(directories_.fd());
  struct rlimit limit {};
  const bool known = system_.getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const bool small = known && limit.rlim_cur < INT_MAX;
  most_fds_ = small ? std::max(static_cast<int>(limit.rlim_cur) - kReserve, 0) : INT_MAX;
}

Watcher::~Watcher() noexcept {
  for (const auto& [id, pidfd] : pidfds_) system_.close(pidfd);
}

int Watcher::arm(int fd) {
  struct epoll_event event {};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return system_.epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

plugin::Status Watcher::add_process(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                                    rollcall_watch_outcome& out, const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  if (pidfds_.count(id) > 0) return {ROLLCALL_E_EXISTS, "this id is a process's already"};
  const int pidfd = backend::is_possible(pid) ? open_pidfd(system_, pid) : -1;
  const int error = pidfd < 0 ? errno : 0;
  Once once;
  rollcall_observation seen = {};
  const rollcall_ask ask = {.pid = pid, .wants = judge.wants()};
  if (pidfd >= 0) {
    reader_.observe_pinned(pidfd, ask, once, seen);
  } else {
    reader_.observe(ask, once, seen);
  }
  int armed = 0;
  if (backend::settle_unwatched(judge(seen), seen, out)) {
    // It is closed below.
  } else if (pidfd < 0) {
    settle(out, outcome_of(error), name(pid) + " cannot be pinned: " + error_text(error), error);
  } else if (pidfd >= most_fds_) {
    settle(out, ROLLCALL_WATCH_LIMIT,
           "the last descriptors that this process may open (ulimit -n) are left to other work",
           EMFILE);
  } else if (armed = arm(pidfd); armed != 0) {
    settle(out, outcome_of(armed), name(pid) + " cannot be watched: " + error_text(armed), armed);
  } else {
    out.outcome = ROLLCALL_WATCH_WATCHED;
    pidfds_[id] = pidfd;
    ids_[pidfd] = id;
    return {};
  }
  if (pidfd >= 0) system_.close(pidfd);
  return {};
}

plugin::Status Watcher::add_directory(std::uint64_t id, std::string_view path,
                                      rollcall_watch_outcome& out, const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos) {
    return {ROLLCALL_E_INVALID, "a directory is named by an absolute path"};
  }
  const int error = directories_.add(id, std::string(path));
  if (error == 0) {
    out.outcome = ROLLCALL_WATCH_WATCHED;
  } else if (error == ENOENT) {
    settle(out, ROLLCALL_WATCH_GONE, "there is no such directory", error);
  } else if (error == ENOSPC) {
    settle(out, ROLLCALL_WATCH_LIMIT,
           "the user's inotify watches are used up (sysctl fs.inotify.max_user_watches)", error);
  } else if (error == EMFILE && directories_.fd() < 0) {
    settle(out, ROLLCALL_WATCH_LIMIT,
           "the user's inotify instances, or this process's descriptors, are used up (sysctl "
           "fs.inotify.max_user_instances)",
           error);
  } else {
    settle(out, outcome_of(error), "it cannot be watched: " + error_text(error), error);
  }
  return {};
}

plugin::Status Watcher::remove(std::uint64_t id) {
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(),
                                [id](const Happening& one) {
                                  return one.id == id && one.kind != ROLLCALL_WATCH_EVENT_OVERFLOW;
                                }),
                 pending_.end());
  const auto process = pidfds_.find(id);
  if (process != pidfds_.end()) {
    drop(id, process->second);
    return {};
  }
  if (directories_.remove(id)) return {};
  return {ROLLCALL_E_NOT_FOUND, "nothing of this id is watched"};
}

void Watcher::drop(std::uint64_t id, int pidfd) {
  pidfds_.erase(id);
  ids_.erase(pidfd);
  // Taken out by hand: a descriptor that a child inherited would keep it in.
  (void)system_.epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd, nullptr);
  system_.close(pidfd);
}

void Watcher::collect(const struct epoll_event& ready) {
  const int fd = ready.data.fd;
  if (fd == wakeup_.get()) {
    std::uint64_t count = 0;
    (void)system_.read(fd, &count, sizeof(count));
  } else if (fd == directories_.fd()) {
    directories_.read(pending_);
  } else if (const auto found = ids_.find(fd); found != ids_.end()) {
    const std::uint64_t id = found->second;
    drop(id, fd);
    pending_.push_back({id, ROLLCALL_WATCH_EVENT_ENDED, {}});
  }
}

void Watcher::hand_over(plugin::WatchBatch& batch) {
  while (!pending_.empty() && !batch.full()) {
    const Happening& one = pending_.front();
    batch.add(one.id, one.kind, one.name);
    pending_.pop_front();
  }
}

plugin::Status Watcher::wait(plugin::WatchBatch& batch, const plugin::Call& call) {
  if (call.cancelled()) return {ROLLCALL_E_CANCELLED, "the call was cancelled"};
  if (pending_.empty()) {
    std::array<struct epoll_event, 64> ready{};
    const int count = system_.epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()),
                                         static_cast<int>(backend::wait_ms(call, INT_MAX)));
    const int error = errno;
    if (count < 0 && error != EINTR) {
      return {ROLLCALL_E_IO, "cannot wait for events: " + error_text(error), error};
    }
    for (int i = 0; i < count; ++i) collect(ready[static_cast<std::size_t>(i)]);
  }
  hand_over(batch);
  return {};
}

void Watcher::wake() {
  const std::uint64_t one = 1;
  (void)system_.write(wakeup_.get(), &one, sizeof(one));
}

}  // namespace rollcall::linux_backend
