#include "own_cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pidfs.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kLimit = std::size_t{1} << 20;
constexpr int kDeepest = 32;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

std::string_view take_until(std::string_view& text, char end) {
  const auto part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

// The cgroup of a process; `pid` 0: of the calling one.
std::optional<std::string> path_of(const Procfs& procfs, std::int64_t pid) {
  std::string text;
  const int error = pid == 0 ? procfs.read_file("self/cgroup", kLimit, text)
                             : procfs.read_file(ProcPath(pid, "cgroup").c_str(), kLimit, text);
  if (error != 0) return std::nullopt;
  const auto path = decode_cgroup(text);
  if (!path) return std::nullopt;
  return std::string(*path);
}

std::optional<Stat> stat_of(const Procfs& procfs, std::int64_t pid, std::string& bytes) {
  bytes.resize(1024);
  std::optional<Stat> stat;
  if (procfs.read_stat(pid, bytes.data(), bytes.size(), stat) != 0) return std::nullopt;
  return stat;
}

// 0, or errno. Of a file in a cgroup's folder.
int read_at(const System& system, int directory, const char* name, std::string& out) {
  const Fd file(system, system.openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!file.open()) return errno;
  return read_all(system, file.get(), kLimit, out);
}

}  // namespace

std::optional<std::string_view> decode_cgroup(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.substr(0, 3) != "0::") continue;
    line.remove_prefix(3);
    constexpr std::string_view kDeleted = " (deleted)";
    const bool deleted =
        line.size() >= kDeleted.size() && line.substr(line.size() - kDeleted.size()) == kDeleted;
    if (line.empty() || line.front() != '/' || deleted) return std::nullopt;
    if (is_within(line, "/..")) return std::nullopt;
    return line;
  }
  return std::nullopt;
}

std::optional<CgroupMount> decode_cgroup_mount(std::string_view mountinfo) {
  while (!mountinfo.empty()) {
    std::string_view line = take_until(mountinfo, '\n');
    const auto tail = line.find(" - ");
    if (tail == std::string_view::npos || line.substr(tail + 3, 8) != "cgroup2 ") continue;
    for (int field = 0; field < 3; ++field) take_until(line, ' ');
    const auto root = take_until(line, ' ');
    const auto place = take_until(line, ' ');
    const bool plain =
        root.find('\\') == std::string_view::npos && place.find('\\') == std::string_view::npos;
    if (plain && !root.empty() && !place.empty()) return CgroupMount{root, place};
  }
  return std::nullopt;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

std::unique_ptr<OwnCgroup> OwnCgroup::find(const System& system, const Procfs& procfs,
                                           Member& root) {
  const auto own = path_of(procfs, 0);
  auto path = path_of(procfs, root.pid);
  if (!own || !path || *path == "/" || is_within(*own, *path)) return nullptr;
  if (poll_pidfd(system, root.pin.get(), 0) != PidfdState::kRunning) return nullptr;
  if (root.parent > 0) {
    const auto parents = path_of(procfs, root.parent);
    if (!parents || is_within(*parents, *path)) return nullptr;
  }
  std::string mounts;
  if (procfs.read_file("self/mountinfo", kLimit * 8, mounts) != 0) return nullptr;
  const auto mount = decode_cgroup_mount(mounts);
  if (!mount || !is_within(*path, mount->root)) return nullptr;
  const std::size_t above = mount->root == "/" ? 0 : mount->root.size();
  if (path->size() <= above + 1) return nullptr;  // the mount's own root: nothing says what that is
  const std::string folder = std::string(mount->place) + path->substr(above);
  const int directory = system.openat(AT_FDCWD, folder.c_str(), kFolder);
  if (directory < 0) return nullptr;
  std::unique_ptr<OwnCgroup> found(new OwnCgroup(system, procfs, directory, std::move(*path)));
  found->root_ticks_ = root.start_ticks;
  // Orphans go to init, or to a subreaper above. The root's parent may have put children of its own
  // there, so of those of its that are no members nothing can be told.
  found->reapers_.push_back(1);
  std::string bytes;
  std::int64_t pid = root.parent;
  for (int steps = 0; pid > 1 && steps < 4096; ++steps) {
    const auto stat = stat_of(procfs, pid, bytes);
    if (!stat) break;
    pid = stat->parent;
    if (pid > 1) found->reapers_.push_back(pid);
  }
  return found;
}

// cgroup.procs of a folder and of those below it. False: not all could be read, or a process in it
// is of a pid namespace that we do not see.
bool OwnCgroup::list(int directory, int depth, std::vector<std::int64_t>& pids) const {
  std::string text;
  if (depth > kDeepest || read_at(system_, directory, "cgroup.procs", text) != 0) return false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto pid = parse_pid(take_until(rest, '\n'));
    if (!pid) return false;
    pids.push_back(*pid);
  }
  const Fd entries(system_, system_.openat(directory, ".", kFolder));
  if (!entries.open()) return false;
  const auto buffer = std::make_unique<char[]>(32768);
  for (;;) {
    const ssize_t got = system_.getdents64(entries.get(), buffer.get(), 32768);
    if (got <= 0) return got == 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      std::uint16_t size = 0;  // struct linux_dirent64, getdents64(2)
      std::memcpy(&size, &buffer[at + 16], sizeof size);
      const char type = buffer[at + 18];
      const std::string name(&buffer[at + 19]);
      at += size;
      if (type != DT_DIR || name == "." || name == "..") continue;
      const Fd below(system_, system_.openat(directory, name.c_str(), kFolder));
      if (!below.open() || !list(below.get(), depth + 1, pids)) return false;
    }
  }
}

bool OwnCgroup::is_orphan(const Member& member) const {
  if (member.start_ticks < root_ticks_) return false;
  return std::find(reapers_.begin(), reapers_.end(), member.parent) != reapers_.end();
}

// The processes in it that are no members, pinned. False: one cannot be told.
bool OwnCgroup::pin_others(Tree& tree, std::vector<std::unique_ptr<Member>>& others) const {
  std::vector<std::int64_t> pids;
  if (!list(directory_.get(), 0, pids)) return false;
  for (const std::int64_t pid : pids) {
    if (tree.holder(pid) != nullptr) continue;
    LostMember lost;
    auto member = tree.pin(pid, &lost);
    if (!member && !lost.reason.empty()) return false;
    if (!member) continue;  // it has ended
    const auto path = path_of(procfs_, pid);
    const bool there = poll_pidfd(system_, member->pin.get(), 0) == PidfdState::kRunning;
    if (!there) continue;
    if (!path || !is_within(*path, path_)) return false;
    others.push_back(std::move(member));
  }
  return true;
}

bool OwnCgroup::adopt(Tree& tree, std::size_t& added) {
  std::vector<std::unique_ptr<Member>> others;
  if (!pin_others(tree, others)) return false;
  const auto is_other = [&](std::int64_t pid) {
    return std::any_of(others.begin(), others.end(),
                       [&](const auto& other) { return other->pid == pid; });
  };
  for (const auto& other : others) {
    // A child of one of the tree is for the next reading of the process table.
    if (tree.holder(other->parent) != nullptr || is_other(other->parent)) continue;
    if (!is_orphan(*other)) return false;
    other->orphan = true;
  }
  for (const auto& member : tree.members()) {
    if (member->ended) continue;
    const auto path = path_of(procfs_, member->pid);
    const bool outside = !path || !is_within(*path, path_);
    if (outside && tree.holder(member->pid) != nullptr) return false;
  }
  for (auto& other : others) {
    if (!other->orphan) continue;
    tree.add(std::move(other));
    ++added;
  }
  return true;
}

bool OwnCgroup::kill() const {
  const Fd file(system_, system_.openat(directory_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  return file.open() && system_.write(file.get(), "1", 1) == 1;
}

bool OwnCgroup::is_empty() const {
  std::string text;
  const int error = read_at(system_, directory_.get(), "cgroup.events", text);
  if (error == ENODEV || error == ENOENT) return true;  // only an empty one can be removed
  return error == 0 && ("\n" + text).find("\npopulated 0\n") != std::string::npos;
}

}  // namespace rollcall::linux_backend
