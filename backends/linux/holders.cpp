#include "holders.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "decode.hpp"
#include "details.hpp"

namespace rollcall::linux_backend {
namespace {

using Answer = Holders::Answer;
static_assert(Answer::kNotHeld < Answer::kUnreadable && Answer::kUnreadable < Answer::kFailed);

// What a failed reading says of a process that is there.
Answer unread(int error) {
  return error == EACCES || error == EPERM ? Answer::kUnreadable : Answer::kFailed;
}

constexpr std::size_t kCheckEvery = 1024;  // descriptors between two looks at the call's bounds
constexpr std::size_t kStatusLimit = 65536;

}  // namespace

bool Holders::is_ours() {
  if (ours_ < 0) ours_ = procfs_.is_ours() ? 1 : 0;
  return ours_ == 1;
}

Holders::Answer Holders::holds(std::int64_t pid, std::uint64_t inode) {
  if (!is_ours()) return Answer::kUnreadable;
  const Sockets& own = sockets_of(pid);
  if (own.inodes.count(inode) != 0) return Answer::kHeld;
  Answer worst = own.state;
  for (const std::int64_t child : descendants(pid)) {
    const Sockets& theirs = sockets_of(child);
    if (theirs.inodes.count(inode) != 0) return Answer::kHeld;
    worst = std::max(worst, theirs.state);
  }
  return pid == 1 || tree_whole_ ? worst : Answer::kFailed;
}

Holders::Kin Holders::descends(std::int64_t pid, std::int64_t ancestor) {
  if (pid == ancestor) return Kin::kYes;
  return ancestor == 1 ? Kin::kNo : is_ancestor(ancestor, pid);
}

Holders::Kin Holders::is_ancestor(std::int64_t pid, std::int64_t other) {
  if (!is_ours()) return Kin::kUnknown;
  read_tree();
  std::int64_t at = other;
  // A snapshot of moving processes may hold a cycle, hence the bound.
  for (std::size_t steps = 0; at > 1 && steps <= parents_.size(); ++steps) {
    const auto it = parents_.find(at);
    if (it == parents_.end()) return Kin::kUnknown;  // hidden (hidepid), or it came or went since
    at = it->second;
    if (at == pid) return Kin::kYes;
  }
  return tree_whole_ ? Kin::kNo : Kin::kUnknown;
}

Holders::Other Holders::other_holder(std::int64_t pid, std::uint64_t inode) {
  if (!is_ours()) return Other::kNobody;
  read_everyone();
  Other found = everyone_whole_ && tree_whole_ ? Other::kNobody : Other::kFailed;
  const auto it = everyone_.find(inode);
  if (it == everyone_.end()) return found;
  for (const std::int64_t holder : it->second) {
    const Kin below = descends(holder, pid);
    if (below == Kin::kYes) continue;
    const Kin above = is_ancestor(holder, pid);
    if (below == Kin::kNo && above == Kin::kNo) return Other::kStranger;
    found = above == Kin::kYes ? Other::kAncestor : Other::kFailed;
  }
  return found;
}

bool Holders::may_own(std::int64_t pid, std::int64_t uid) {
  if (uid <= 0 || !is_ours() || runs_as(pid, uid)) return true;
  for (const std::int64_t child : descendants(pid)) {
    if (runs_as(child, uid)) return true;
  }
  return !tree_whole_;
}

bool Holders::runs_as(std::int64_t pid, std::int64_t uid) {
  std::string text;
  if (procfs_.read_file(ProcPath(pid, "status").c_str(), kStatusLimit, text) != 0) return true;
  const auto uids = decode_uids(text);
  if (!uids) return true;
  return std::any_of(uids->begin(), uids->end(), [uid](std::uint64_t own) {
    return own == 0 || own == static_cast<std::uint64_t>(uid);
  });
}

std::int64_t Holders::anyone(std::uint64_t inode) {
  if (!is_ours()) return 0;
  read_everyone();
  const auto it = everyone_.find(inode);
  return it == everyone_.end() ? 0 : it->second.front();
}

void Holders::read_everyone() {
  if (everyone_read_) return;
  everyone_read_ = true;
  read_tree();
  for (const std::int64_t pid : pids_) {
    const Sockets& theirs = sockets_of(pid);
    everyone_whole_ = everyone_whole_ && theirs.state != Answer::kFailed;
    for (const std::uint64_t held : theirs.inodes) everyone_[held].push_back(pid);
  }
}

const Holders::Sockets& Holders::sockets_of(std::int64_t pid) {
  const auto [it, fresh] = sockets_.try_emplace(pid);
  if (fresh) read_sockets(pid, it->second);
  return it->second;
}

void Holders::read_sockets(std::int64_t pid, Sockets& out) {
  Answer state = Answer::kNotHeld;
  std::size_t count = 0;
  const int error =
      procfs_.each_entry(ProcPath(pid, "fd").c_str(), [&](int directory, std::string_view name) {
        if (name == "." || name == "..") return true;
        if (++count % kCheckEvery == 0 && !call_.check().ok()) {
          state = Answer::kFailed;
          return false;
        }
        char link[64];
        const ssize_t size = system_.readlinkat(directory, name.data(), link, sizeof link);
        if (size < 0) {
          if (errno != ENOENT) state = std::max(state, unread(errno));  // ENOENT: closed since
          return true;
        }
        const auto inode = bracketed({link, static_cast<std::size_t>(size)}, "socket");
        if (inode) out.inodes.insert(*parse_decimal(*inode));
        return true;
      });
  out.state = state;
  if (error == 0) return;
  // A process that has gone holds nothing; one that is hidden may.
  const bool missing = error == ENOENT || error == ESRCH;
  if (missing && knows_nobody(system_, pid)) return;
  out.state = std::max(state, missing ? Answer::kUnreadable : unread(error));
}

const std::vector<std::int64_t>& Holders::descendants(std::int64_t pid) {
  const auto [it, fresh] = descendants_.try_emplace(pid);
  std::vector<std::int64_t>& found = it->second;
  if (!fresh || pid == 1) return found;
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
  const int error = procfs_.each_entry(".", [&](int, std::string_view name) {
    const auto pid = parse_pid(name);
    if (!pid) return true;
    if (++count % kCheckEvery == 0 && !call_.check().ok()) {
      tree_whole_ = false;
      return false;
    }
    pids_.push_back(*pid);
    read_parent(*pid);
    return true;
  });
  if (error != 0) tree_whole_ = false;
}

// Once more where it failed: another process may have taken the number meanwhile.
void Holders::read_parent(std::int64_t pid) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (const auto parent = parent_of(procfs_, pid)) {
      parents_.emplace(pid, *parent);
      children_[*parent].push_back(pid);
      return;
    }
    if (knows_nobody(system_, pid)) return;
  }
  tree_whole_ = false;
}

}  // namespace rollcall::linux_backend
