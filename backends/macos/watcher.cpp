#include "watcher.hpp"

#include <fcntl.h>
#include <limits.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "reading.hpp"
#include "verdicts.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr std::uintptr_t kWake = 0;  // the one EVFILT_USER
constexpr int kAttempts = 3;
constexpr int kSettleSteps = 100;  // of 1 ms, in all of one collecting
constexpr std::int64_t kSettleStepNs = 1'000'000;
constexpr std::int64_t kLongestWaitNs = 86'400'000'000'000;  // the kernel refuses some years
// Removed, renamed, or its volume is gone.
constexpr std::uint32_t kWent = NOTE_DELETE | NOTE_RENAME | NOTE_REVOKE;

void settle(rollcall_watch_outcome& out, std::uint32_t outcome, const Reason& why, int error = 0) {
  out.outcome = outcome;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, why.view());
}

// What ran out, or what cannot be watched.
void settle_error(rollcall_watch_outcome& out, int error, const Reason& what) {
  const bool ran_out = error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC;
  settle(out, ran_out ? ROLLCALL_WATCH_LIMIT : ROLLCALL_WATCH_UNSUPPORTED,
         reason(what.view(), " cannot be watched: ", error_text(error)), error);
}

// The verdicts upon which nothing is watched. False: it is alive, and was seen to be there.
bool settle_unwatched(std::uint32_t verdict, const rollcall_observation& seen,
                      rollcall_watch_outcome& out) {
  if (verdict == ROLLCALL_JUDGE_GONE) {
    settle(out, ROLLCALL_WATCH_GONE, evidence(seen));
    return true;
  }
  if (verdict == ROLLCALL_JUDGE_ALIVE && seen.presence == ROLLCALL_PRESENCE_PRESENT) return false;
  settle(out, ROLLCALL_WATCH_UNVERIFIED, reason(kUnverified, evidence(seen).view()),
         static_cast<int>(seen.os_code));
  return true;
}

template <class T, class Which>
void drop_if(List<T>& list, const Which& which) {
  T* const end = std::remove_if(list.begin(), list.end(), which);
  list.set_size(static_cast<std::size_t>(end - list.begin()));
}

template <class T, class Which>
const T* find_if(const List<T>& list, const Which& which) {
  const T* const found = std::find_if(list.begin(), list.end(), which);
  return found == list.end() ? nullptr : found;
}

}  // namespace

Watcher::Watcher(const System& system) : system_(system), queue_(system, system.kqueue()) {
  error_ = queue_.open() ? change(kWake, EVFILT_USER, EV_ADD | EV_CLEAR, 0) : errno;
  struct rlimit limit = {};
  const bool known = system_.getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const bool small = known && limit.rlim_cur < INT_MAX;
  most_fds_ = small ? std::max(static_cast<int>(limit.rlim_cur) - kReserve, 0) : INT_MAX;
}

Watcher::~Watcher() {
  for (const Directory& one : directories_) system_.close(one.fd);
}

Status Watcher::ready() const {
  if (error_ == 0) return {};
  return failed(ROLLCALL_E_IO, error_, "cannot make a watcher: ", error_text(error_));
}

// 0, or errno.
int Watcher::change(std::uintptr_t ident, std::int16_t filter, std::uint16_t flags,
                    std::uint32_t notes) const {
  struct kevent change = {};
  EV_SET(&change, ident, filter, static_cast<std::uint16_t>(flags | EV_RECEIPT), notes, 0, nullptr);
  struct kevent receipt = {};
  const struct timespec at_once = {};
  const int count = system_.kevent(queue_.get(), &change, 1, &receipt, 1, &at_once);
  if (count < 0) return errno;
  const bool answered = count == 1 && (receipt.flags & EV_ERROR) != 0;
  return answered ? static_cast<int>(receipt.data) : EIO;
}

rollcall_observation Watcher::read(std::int64_t pid, std::uint32_t wants) const {
  Once once;
  rollcall_ask ask = {};
  ask.pid = pid;
  ask.wants = wants | ROLLCALL_WANT_START_TOKEN;
  rollcall_observation seen = {};
  observe(system_, ask, once, seen);
  return seen;
}

const Watcher::Process* Watcher::of_pid(std::int64_t pid) const {
  return find_if(processes_, [pid](const Process& one) { return one.pid == pid; });
}

const Watcher::Directory* Watcher::directory_of(std::uint64_t id) const {
  return find_if(directories_, [id](const Directory& one) { return one.id == id; });
}

// For one more thing and for all that can be told before it is handed over: of each two at most, as
// a directory's changes are one.
bool Watcher::make_room() {
  const std::size_t watched = processes_.size() + directories_.size() + 1;
  const auto room = [](auto& list, std::size_t count) {
    return count <= list.room() || list.reserve(std::max(count, 2 * list.room()));
  };
  return room(processes_, processes_.size() + 1) && room(directories_, directories_.size() + 1) &&
         room(pending_, pending_.size() + 2 * watched);
}

Status Watcher::add_process(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                            rollcall_watch_outcome& out, const Bounds& bounds) {
  if (auto status = bounds.check(); !status.ok()) return status;
  const bool taken = directory_of(id) != nullptr || find_if(processes_, [id](const Process& one) {
                                                      return one.id == id;
                                                    }) != nullptr;
  if (taken) return failed(ROLLCALL_E_EXISTS, 0, "this id is taken already");
  if (!make_room()) {
    settle_error(out, ENOMEM, reason("pid ", pid));
    return {};
  }
  for (int i = 0; i < kAttempts; ++i) {
    if (add_once(id, pid, judge, out)) return {};
  }
  settle(out, ROLLCALL_WATCH_UNVERIFIED,
         reason(kUnverified, "pid ", pid, " ends or changes hands"));
  return {};
}

// False: the number changed hands meanwhile, or its process is ending; nothing is settled.
bool Watcher::add_once(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                       rollcall_watch_outcome& out) {
  // A knote is of one number: arming a second time would not be bound to who holds it now.
  const Process* const known = of_pid(pid);
  const bool is_shared = known != nullptr;
  Token before;
  before << (is_shared ? known->token.view() : token(read(pid, 0)));
  const bool possible = pid >= 1 && pid <= INT32_MAX;
  int error = possible ? 0 : ESRCH;
  if (possible && !is_shared) {
    error = change(static_cast<std::uintptr_t>(pid), EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT);
  }
  const auto seen = read(pid, judge.wants());
  const bool settled = settle_unwatched(judge(seen), seen, out);
  if (!settled && error == 0 && !before.empty() && before.view() == token(seen)) {
    out.outcome = ROLLCALL_WATCH_WATCHED;
    return processes_.push({id, pid, before});  // there is room
  }
  if (!is_shared && error == 0) {
    (void)change(static_cast<std::uintptr_t>(pid), EVFILT_PROC, EV_DELETE, 0);
  }
  if (!settled && error != 0 && error != ESRCH) {
    settle_error(out, error, reason("pid ", pid));
    return true;
  }
  const struct timespec at_once = {};
  if (!settled && is_shared) (void)collect(&at_once);  // the end of the one before
  return settled;
}

// 0, or errno; `fd` is ours then.
int Watcher::arm_directory(const char* path, int& fd) const {
  fd = system_.open(path, O_EVTONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno;
  const int error =
      fd >= most_fds_ ? EMFILE
                      : change(static_cast<std::uintptr_t>(fd), EVFILT_VNODE, EV_ADD | EV_CLEAR,
                               NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_REVOKE);
  if (error != 0) system_.close(fd);
  return error;
}

Status Watcher::add_directory(std::uint64_t id, std::string_view path, rollcall_watch_outcome& out,
                              const Bounds& bounds) {
  if (auto status = bounds.check(); !status.ok()) return status;
  char text[PATH_MAX];
  if (path.empty() || path.front() != '/' || path.size() >= sizeof text ||
      path.find('\0') != std::string_view::npos) {
    return failed(ROLLCALL_E_INVALID, 0, "a directory is named by an absolute path");
  }
  std::memcpy(text, path.data(), path.size());
  text[path.size()] = '\0';
  int fd = -1;
  const int error = make_room() ? arm_directory(text, fd) : ENOMEM;
  // The earlier one goes last: nothing is missed between the two. What stood there is not at this
  // path any more, whatever the error.
  (void)drop_directory(id);
  if (error == 0 && directories_.push({id, fd})) {  // there is room
    out.outcome = ROLLCALL_WATCH_WATCHED;
  } else if (error == ENOENT) {
    settle(out, ROLLCALL_WATCH_GONE, reason("there is no such directory"), error);
  } else {
    settle_error(out, error, reason("it"));
  }
  return {};
}

bool Watcher::drop_directory(std::uint64_t id) {
  const Directory* const known = directory_of(id);
  if (known == nullptr) return false;
  system_.close(known->fd);  // and its knote with it
  drop_if(directories_, [id](const Directory& one) { return one.id == id; });
  return true;
}

Status Watcher::remove(std::uint64_t id) {
  drop_if(pending_, [id](const Happening& one) { return one.id == id; });
  if (drop_directory(id)) return {};
  const Process* const known =
      find_if(processes_, [id](const Process& one) { return one.id == id; });
  if (known == nullptr) return failed(ROLLCALL_E_NOT_FOUND, 0, "nothing of this id is watched");
  const std::int64_t pid = known->pid;
  drop_if(processes_, [id](const Process& one) { return one.id == id; });
  if (of_pid(pid) == nullptr) {
    (void)change(static_cast<std::uintptr_t>(pid), EVFILT_PROC, EV_DELETE, 0);
  }
  return {};
}

// The kernel tells an end shortly before a reading shows it, and who is told will read.
void Watcher::take_end(std::int64_t pid, int& patience) {
  const Process* const known = of_pid(pid);
  if (known == nullptr) return;
  const Token of = known->token;
  const auto step = to_timespec(kSettleStepNs);
  for (; patience > 0; --patience) {
    const auto seen = read(pid, 0);
    if (seen.presence != ROLLCALL_PRESENCE_PRESENT || token(seen) != of.view()) break;
    (void)system_.nanosleep(&step, nullptr);
  }
  for (const Process& one : processes_) {
    if (one.pid == pid) (void)pending_.push({one.id, ROLLCALL_WATCH_EVENT_ENDED});
  }
  drop_if(processes_, [pid](const Process& one) { return one.pid == pid; });
}

void Watcher::take_directory(int fd, std::uint32_t notes) {
  const Directory* const known =
      find_if(directories_, [fd](const Directory& one) { return one.fd == fd; });
  if (known == nullptr) return;
  const std::uint64_t id = known->id;
  if ((notes & kWent) != 0) {
    (void)drop_directory(id);
    (void)pending_.push({id, ROLLCALL_WATCH_EVENT_LOST});
    return;
  }
  const bool is_told = find_if(pending_, [id](const Happening& one) {
                         return one.id == id && one.kind == ROLLCALL_WATCH_EVENT_CHANGED;
                       }) != nullptr;
  if (!is_told) (void)pending_.push({id, ROLLCALL_WATCH_EVENT_CHANGED});
}

// Waits as long as `timeout` says, null for ever, and adds what came to what is pending. 0, or
// errno.
int Watcher::collect(const struct timespec* timeout) {
  struct kevent events[64];
  constexpr int kRoom = static_cast<int>(sizeof events / sizeof events[0]);
  const struct timespec at_once = {};
  int patience = kSettleSteps;
  for (int count = kRoom; count == kRoom; timeout = &at_once) {
    count = system_.kevent(queue_.get(), nullptr, 0, events, kRoom, timeout);
    if (count < 0) return errno == EINTR ? 0 : errno;
    for (int i = 0; i < count; ++i) {
      const struct kevent& one = events[i];
      if (one.filter == EVFILT_PROC && (one.fflags & NOTE_EXIT) != 0) {
        take_end(static_cast<std::int64_t>(one.ident), patience);
      } else if (one.filter == EVFILT_VNODE) {
        take_directory(static_cast<int>(one.ident), one.fflags);
      }
    }
  }
  return 0;
}

void Watcher::hand_over(rollcall_watch_batch& batch) {
  const std::size_t room = static_cast<std::size_t>(batch.capacity);
  const std::size_t count = std::min(pending_.size(), room);
  for (std::size_t i = 0; i < count; ++i) {
    rollcall_watch_event event = {};
    event.id = pending_[i].id;
    event.kind = pending_[i].kind;
    std::memcpy(reinterpret_cast<char*>(batch.events) + i * batch.event_stride, &event,
                sizeof event);
  }
  batch.count = count;
  std::copy(pending_.begin() + count, pending_.end(), pending_.begin());
  pending_.set_size(pending_.size() - count);
}

Status Watcher::wait(rollcall_watch_batch& batch, const Bounds& bounds) {
  if (bounds.cancelled()) return failed(ROLLCALL_E_CANCELLED, 0, "the call was cancelled");
  if (pending_.size() == 0) {
    const std::int64_t left = bounds.remaining_ns();
    const auto time = to_timespec(std::min(left, kLongestWaitNs));
    const int error = collect(left == INT64_MAX ? nullptr : &time);
    if (error != 0) {
      return failed(ROLLCALL_E_IO, error, "cannot wait for events: ", error_text(error));
    }
  }
  hand_over(batch);
  return {};
}

void Watcher::wake() const {
  struct kevent change = {};
  EV_SET(&change, kWake, EVFILT_USER, 0, NOTE_TRIGGER, 0, nullptr);
  (void)system_.kevent(queue_.get(), &change, 1, nullptr, 0, nullptr);
}

}  // namespace rollcall::macos_backend
