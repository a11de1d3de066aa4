#include "holders.hpp"

#include <string_view>

#include "decode.hpp"
#include "details.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kCheckEvery = 1024;  // descriptors between two looks at the call's bounds

}  // namespace

bool Holders::is_ours() {
  if (ours_ < 0) ours_ = procfs_.is_ours() ? 1 : 0;
  return ours_ == 1;
}

Holders::Answer Holders::holds(std::int64_t pid, std::uint64_t inode) {
  if (!is_ours()) return Answer::kUnreadable;
  const Sockets& own = sockets_of(pid);
  if (own.inodes.count(inode) != 0) return Answer::kHeld;
  bool readable = own.readable;
  for (const std::int64_t child : descendants(pid)) {
    const Sockets& theirs = sockets_of(child);
    if (theirs.inodes.count(inode) != 0) return Answer::kHeld;
    readable = readable && theirs.readable;
  }
  return readable ? Answer::kNotHeld : Answer::kUnreadable;
}

bool Holders::descends(std::int64_t pid, std::int64_t ancestor) {
  if (pid == ancestor) return true;
  if (!is_ours()) return false;
  read_tree();
  std::size_t steps = 0;  // a snapshot of moving processes may hold a cycle
  for (auto it = parents_.find(pid); it != parents_.end() && steps <= parents_.size(); ++steps) {
    if (it->second == ancestor) return true;
    it = parents_.find(it->second);
  }
  return false;
}

std::int64_t Holders::anyone(std::uint64_t inode) {
  if (!is_ours()) return 0;
  if (!everyone_read_) {
    read_tree();
    everyone_read_ = true;
    for (const std::int64_t pid : pids_) {
      for (const std::uint64_t held : sockets_of(pid).inodes) everyone_.emplace(held, pid);
    }
  }
  const auto it = everyone_.find(inode);
  return it == everyone_.end() ? 0 : it->second;
}

const Holders::Sockets& Holders::sockets_of(std::int64_t pid) {
  const auto [it, fresh] = sockets_.try_emplace(pid);
  if (fresh) read_sockets(pid, it->second);
  return it->second;
}

void Holders::read_sockets(std::int64_t pid, Sockets& out) {
  bool complete = true;
  std::size_t count = 0;
  const int error =
      procfs_.each_entry(ProcPath(pid, "fd").c_str(), [&](int directory, std::string_view name) {
        if (name == "." || name == "..") return true;
        if (++count % kCheckEvery == 0 && !call_.check().ok()) {
          complete = false;
          return false;
        }
        char link[64];
        const ssize_t size = system_.readlinkat(directory, name.data(), link, sizeof link);
        if (size < 0) {
          complete = complete && errno == ENOENT;  // ENOENT: closed since
          return true;
        }
        const auto inode = bracketed({link, static_cast<std::size_t>(size)}, "socket");
        if (inode) out.inodes.insert(*parse_decimal(*inode));
        return true;
      });
  // A process that has gone holds nothing; one that is hidden may.
  const bool gone = (error == ENOENT || error == ESRCH) &&
                    system_.kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  out.readable = gone || (error == 0 && complete);
}

const std::vector<std::int64_t>& Holders::descendants(std::int64_t pid) {
  const auto [it, fresh] = descendants_.try_emplace(pid);
  std::vector<std::int64_t>& found = it->second;
  if (!fresh) return found;
  read_tree();
  std::unordered_set<std::int64_t> seen = {pid};
  std::vector<std::int64_t> open = {pid};
  while (!open.empty()) {
    const std::int64_t parent = open.back();
    open.pop_back();
    const auto children = children_.find(parent);
    if (children == children_.end()) continue;
    for (const std::int64_t child : children->second) {
      if (!seen.insert(child).second) continue;
      found.push_back(child);
      open.push_back(child);
    }
  }
  return found;
}

void Holders::read_tree() {
  if (tree_read_) return;
  tree_read_ = true;
  std::size_t count = 0;
  (void)procfs_.each_entry(".", [&](int, std::string_view name) {
    const auto pid = parse_pid(name);
    if (!pid) return true;
    if (++count % kCheckEvery == 0 && !call_.check().ok()) return false;
    pids_.push_back(*pid);
    if (const auto parent = parent_of(procfs_, *pid)) {
      parents_.emplace(*pid, *parent);
      children_[*parent].push_back(*pid);
    }
    return true;
  });
}

}  // namespace rollcall::linux_backend
