#include "tree.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "pidfs.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kStatBuffer = 1024;

// One stat, with the bytes that its views point into.
struct HeldStat {
  char buffer[kStatBuffer];
  std::optional<Stat> stat;
  int error = 0;
  HeldStat(const Procfs& procfs, std::int64_t pid) {
    error = procfs.read_stat(pid, buffer, sizeof buffer, stat);
  }
};

ProcessRow row_of(std::int64_t pid, const Stat& stat) {
  return {.pid = pid,
          .parent = stat.parent,
          .start_ticks = stat.start_ticks,
          .start = std::string(stat.start),
          .name = std::string(stat.name),
          .exited = has_exited(stat)};
}

LostMember lost_of(const ProcessRow& row, std::string reason) {
  return {row.pid, row.parent, row.start, row.name, std::move(reason)};
}

}  // namespace

bool Tree::take_root(std::int64_t pid, int pidfd) {
  auto root = std::make_unique<Member>(system_, pidfd);
  root->pid = pid;
  const HeldStat held(procfs_, pid);
  if (held.stat && is_there(*root)) {
    root->parent = held.stat->parent;
    root->start_ticks = held.stat->start_ticks;
    root->start = held.stat->start;
    root->name = held.stat->name;
  }
  add(std::move(root));
  look(0);
  return held.stat.has_value();
}

bool Tree::is_there(const Member& member) const {
  return poll_pidfd(system_, member.pin.get(), 0) == PidfdState::kRunning;
}

bool Tree::read_table(std::vector<ProcessRow>& rows) const {
  const int error = procfs_.each_entry(".", [&](int, std::string_view name) {
    const auto pid = parse_pid(name);
    if (!pid) return true;
    const HeldStat held(procfs_, *pid);
    // One that cannot be read has ended meanwhile, or is another user's that hides it.
    if (held.stat) rows.push_back(row_of(*pid, *held.stat));
    return true;
  });
  return error == 0;
}

Tree::Scan Tree::scan() {
  look(0);
  std::vector<ProcessRow> rows;
  Scan scan;
  scan.whole = read_table(rows);
  std::unordered_map<std::int64_t, std::vector<const ProcessRow*>> children;
  for (const ProcessRow& row : rows) {
    if (!row.exited && row.parent > 0 && row.pid != row.parent) {
      children[row.parent].push_back(&row);
    }
  }
  std::vector<std::int64_t> parents;
  for (const auto& member : members_) {
    if (!member->ended) parents.push_back(member->pid);
  }
  for (std::size_t next = 0; next < parents.size(); ++next) {
    const auto found = children.find(parents[next]);
    if (found == children.end()) continue;
    for (const ProcessRow* row : found->second) {
      if (by_pid_.count(row->pid) != 0 || !add_child(*row)) continue;
      ++scan.added;
      parents.push_back(row->pid);
    }
  }
  return scan;
}

std::unique_ptr<Member> Tree::pin(std::int64_t pid, LostMember* lost) {
  const int pidfd = open_pidfd(system_, pid);
  const int error = pidfd < 0 ? errno : 0;
  auto member = std::make_unique<Member>(system_, pidfd);
  if (says_thread(error)) return nullptr;
  const HeldStat held(procfs_, pid);
  // ESRCH alone may be a filter's answer (seccomp).
  if (error == ESRCH && (!held.stat || has_exited(*held.stat))) return nullptr;
  if (error == 0 && !is_there(*member)) return nullptr;
  if (error != 0 || !held.stat) {
    if (lost == nullptr) return nullptr;
    lost->pid = pid;
    lost->reason = error != 0 ? "it cannot be pinned (pidfd_open: " + error_text(error) + ")"
                              : "its stat could not be read: " + error_text(held.error);
    return nullptr;
  }
  member->pid = pid;
  member->parent = held.stat->parent;
  member->start_ticks = held.stat->start_ticks;
  member->start = held.stat->start;
  member->name = held.stat->name;
  return member;
}

// True: it was pinned and is a child of a member.
bool Tree::add_child(const ProcessRow& row) {
  if (row.pid == system_.getpid()) {
    holds_caller_ = true;
    return false;
  }
  LostMember lost = lost_of(row, {});
  auto member = pin(row.pid, &lost);
  if (!member) {
    if (!lost.reason.empty()) lose(std::move(lost));
    return false;
  }
  const Member* const parent = holder(member->parent);
  if (parent == nullptr) {
    // Another process has the number now, or the parent ended between the two readings.
    if (member->start == row.start) {
      lose(lost_of(row, "its parent ended before it could be pinned; it is now a child of pid " +
                            std::to_string(member->parent)));
    }
    return false;
  }
  if (member->start_ticks < parent->start_ticks) {
    lose(lost_of(row, "it is older than pid " + std::to_string(parent->pid) + ", its parent"));
    return false;
  }
  add(std::move(member));
  return true;
}

void Tree::add(std::unique_ptr<Member> member) {
  std::erase_if(lost_, [&](const LostMember& lost) {
    return lost.pid == member->pid && lost.start == member->start;
  });
  by_pid_[member->pid] = member.get();
  members_.push_back(std::move(member));
}

void Tree::lose(LostMember lost) {
  const auto known = std::find_if(lost_.begin(), lost_.end(), [&](const LostMember& other) {
    return other.pid == lost.pid && other.start == lost.start;
  });
  constexpr std::size_t kMost = 4096;  // a receipt is read by people
  if (known == lost_.end() && lost_.size() < kMost) lost_.push_back(std::move(lost));
}

// The member that holds the number, which its pin says anew: so whatever was read before this call
// and named that number meant this very process.
Member* Tree::holder(std::int64_t pid) {
  const auto it = by_pid_.find(pid);
  if (it == by_pid_.end()) return nullptr;
  return is_there(*it->second) ? it->second : nullptr;
}

void Tree::look(int timeout_ms) {
  std::vector<struct pollfd> polled;
  std::vector<Member*> asked;
  for (const auto& member : members_) {
    if (member->ended) continue;
    polled.push_back({.fd = member->pin.get(), .events = POLLIN, .revents = 0});
    asked.push_back(member.get());
  }
  if (system_.poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0 || (polled[i].revents & POLLNVAL) != 0) continue;
    asked[i]->ended = true;
    const auto it = by_pid_.find(asked[i]->pid);
    if (it != by_pid_.end() && it->second == asked[i]) by_pid_.erase(it);
  }
}

bool Tree::others_ended(bool but_refused) const {
  return std::all_of(members_.begin() + 1, members_.end(), [&](const auto& member) {
    return member->ended || (but_refused && member->refused);
  });
}

bool Tree::is_still() {
  look(0);
  return std::all_of(members_.begin(), members_.end(), [&](const auto& member) {
    return member->ended || member->refused || (member->stopped && has_stopped(*member));
  });
}

bool Tree::has_stopped(Member& member) const {
  const HeldStat held(procfs_, member.pid);
  if (!held.stat) return !is_there(member);
  const bool leader = is_suspended(*held.stat) || held.stat->state == 'Z';
  if (!leader || held.stat->threads <= 1) return leader;
  bool all = true;
  const std::string tasks = std::to_string(member.pid) + "/task";
  const int error = procfs_.each_entry(tasks.c_str(), [&](int directory, std::string_view name) {
    if (!parse_pid(name)) return true;
    const std::string path = std::string(name) + "/stat";
    const Fd file(system_, system_.openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    if (!file.open() || read_all(system_, file.get(), kStatBuffer, text) != 0) return true;
    const auto stat = decode_stat(text);
    all = stat && (is_suspended(*stat) || stat->state == 'Z' || stat->state == 'X');
    return all;
  });
  return error == 0 && all;
}

}  // namespace rollcall::linux_backend
