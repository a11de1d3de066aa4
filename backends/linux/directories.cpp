#include "directories.hpp"

#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rollcall::linux_backend {
namespace {

// Whatever makes a reading of an entry come out differently. Opening and reading are none of it: a
// watcher that reads what changed does not wake itself.
constexpr std::uint32_t kMask = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO |
                                IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
constexpr std::size_t kBufferBytes = 64 * 1024;

}  // namespace

Directories::Directories(const System& system)
    : system_(system), inotify_(system, system.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!inotify_.open()) error_ = errno;
}

int Directories::add(std::uint64_t id, const std::string& path) {
  if (!inotify_.open()) return error_;
  const int watch = system_.inotify_add_watch(inotify_.get(), path.c_str(), kMask);
  if (watch < 0) {
    const int error = errno;
    // What stood there is not at this path any more.
    (void)remove(id);
    return error;
  }
  const auto known = watches_.find(id);
  if (known != watches_.end() && known->second == watch) return 0;
  if (known != watches_.end()) (void)remove(id);
  watches_[id] = watch;
  ids_[watch].push_back(id);
  return 0;
}

bool Directories::remove(std::uint64_t id) {
  const auto known = watches_.find(id);
  if (known == watches_.end()) return false;
  const int watch = known->second;
  forget(watch, id);
  if (ids_.find(watch) == ids_.end()) {
    (void)system_.inotify_rm_watch(inotify_.get(), watch);
  }
  return true;
}

void Directories::forget(int watch, std::uint64_t id) {
  watches_.erase(id);
  const auto found = ids_.find(watch);
  if (found == ids_.end()) return;
  auto& ids = found->second;
  ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
  if (ids.empty()) ids_.erase(found);
}

void Directories::take(int watch, std::uint32_t mask, std::string_view name,
                       std::deque<Happening>& out) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    out.push_back({0, ROLLCALL_WATCH_EVENT_OVERFLOW, {}});
    return;
  }
  const auto found = ids_.find(watch);
  if (found == ids_.end()) return;  // of one that was removed
  // Unmounted, removed, or moved away from the path that was named.
  constexpr std::uint32_t kWent = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
  const std::vector<std::uint64_t> ids = found->second;
  for (const std::uint64_t id : ids) {
    if ((mask & kWent) != 0) {
      (void)remove(id);
      out.push_back({id, ROLLCALL_WATCH_EVENT_LOST, {}});
      continue;
    }
    constexpr std::size_t kLookBack = 16;  // a writer's few steps, not a search of them all
    const auto last = out.rbegin() + static_cast<std::ptrdiff_t>(std::min(out.size(), kLookBack));
    const bool same = std::any_of(out.rbegin(), last, [&](const Happening& earlier) {
      return earlier.id == id && earlier.kind == ROLLCALL_WATCH_EVENT_CHANGED &&
             earlier.name == name;
    });
    if (!same) out.push_back({id, ROLLCALL_WATCH_EVENT_CHANGED, std::string(name)});
  }
}

void Directories::read(std::deque<Happening>& out) {
  alignas(inotify_event) std::array<char, kBufferBytes> buffer;
  const ssize_t got = system_.read(inotify_.get(), buffer.data(), buffer.size());
  std::size_t at = 0;
  const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
  while (at + sizeof(inotify_event) <= size) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof(event));
    const char* const name = buffer.data() + at + sizeof(event);
    at += sizeof(event) + event.len;
    if (at > size) break;
    take(event.wd, event.mask, {name, ::strnlen(name, event.len)}, out);
  }
}

}  // namespace rollcall::linux_backend
