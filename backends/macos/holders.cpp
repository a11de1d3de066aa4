#include "holders.hpp"

#include <algorithm>

namespace rollcall::macos_backend {
namespace {

using Sight = Holders::Sight;
static_assert(Sight::kWhole < Sight::kHidden && Sight::kHidden < Sight::kFailed);

constexpr std::size_t kFirstRoom = 64;
constexpr std::size_t kMostRoom = std::size_t{1} << 20;  // descriptors

// What a failed reading says. A process that has gone holds nothing.
Sight unread(int error) {
  if (error == ESRCH) return Sight::kWhole;
  return error == EPERM || error == EACCES ? Sight::kHidden : Sight::kFailed;
}

// Every descriptor of a process, by PROC_PIDLISTFDS, which is asked again with more room for as
// long as it fills what it was given.
Sight list_descriptors(const System& system, std::int64_t pid, List<proc_fdinfo>& out) {
  for (std::size_t room = kFirstRoom; room <= kMostRoom; room *= 2) {
    if (!out.reserve(room)) return Sight::kFailed;
    errno = 0;
    const int size = system.proc_pidinfo(static_cast<int>(pid), PROC_PIDLISTFDS, 0, out.data(),
                                         static_cast<int>(room * sizeof(proc_fdinfo)));
    if (size <= 0) return errno == 0 ? Sight::kWhole : unread(errno);  // it may have none
    const std::size_t count = static_cast<std::size_t>(size) / sizeof(proc_fdinfo);
    if (count >= room) continue;  // there may be more
    out.set_size(count);
    return static_cast<std::size_t>(size) % sizeof(proc_fdinfo) == 0 ? Sight::kWhole
                                                                     : Sight::kFailed;
  }
  return Sight::kFailed;
}

}  // namespace

Status Holders::read(const System& system, const Bounds& bounds) {
  if (auto status = tree_.read(system, bounds); !status.ok()) return status;
  for (const Process& process : tree_.processes()) {
    if (auto status = bounds.check(); !status.ok()) return status;
    Seen seen;
    seen.pid = process.pid;
    seen.sight = read_process_sockets(system, process.pid);
    all_seen_ = all_seen_ && seen.sight == Sight::kWhole;
    if (!seen_.push(seen)) return failed(ROLLCALL_E_NO_MEMORY, 0, "out of memory");
  }
  return {};
}

Holders::Sight Holders::read_process_sockets(const System& system, std::int64_t pid) {
  List<proc_fdinfo> descriptors;
  Sight sight = list_descriptors(system, pid, descriptors);
  for (const proc_fdinfo& descriptor : descriptors) {
    if (descriptor.proc_fdtype != PROX_FDTYPE_SOCKET) continue;
    socket_fdinfo info = {};
    errno = 0;
    const int size = system.proc_pidfdinfo(static_cast<int>(pid), descriptor.proc_fd,
                                           PROC_PIDFDSOCKETINFO, &info, int{sizeof info});
    if (size <= 0) {
      // Closed since it was listed, or no socket any more.
      const bool closed = errno == EBADF || errno == ENOENT || errno == ENOTSUP;
      if (!closed) sight = std::max(sight, errno == 0 ? Sight::kFailed : unread(errno));
      continue;
    }
    if (size != int{sizeof info}) {
      sight = Sight::kFailed;
      continue;
    }
    const auto socket = decode_socket(info.psi);
    if (socket && !sockets_.push(Held{pid, *socket})) sight = Sight::kFailed;
  }
  return sight;
}

Holders::Sight Holders::sight_of(std::int64_t pid) const {
  for (const Seen& seen : seen_) {
    if (seen.pid == pid) return seen.sight;
  }
  return Sight::kFailed;
}

bool Holders::family_holds(std::int64_t pid, std::uint64_t socket) const {
  return std::any_of(sockets_.begin(), sockets_.end(), [&](const Held& held) {
    return held.socket.socket == socket && tree_.descends(held.pid, pid) == Tree::Kin::kYes;
  });
}

}  // namespace rollcall::macos_backend
