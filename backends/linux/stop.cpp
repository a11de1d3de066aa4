#include "stop.hpp"

#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>

#include "backend/outcomes.hpp"
#include "pidfs.hpp"
#include "rollcall/tree_hold.hpp"

namespace rollcall::linux_backend {
namespace {

using backend::kMillisecond;

constexpr std::int64_t kStepNs = 50 * kMillisecond;      // between two readings of the table
constexpr std::int64_t kGrowNs = 200 * kMillisecond;     // until a tree that grows is signalled
constexpr std::int64_t kFreezeNs = 500 * kMillisecond;   // until one that does not stop is killed
constexpr std::int64_t kOthersNs = 1000 * kMillisecond;  // until the root is killed as well
constexpr std::int64_t kHoldBeyondMs = 500;              // the root is held beyond our deadline
constexpr std::int64_t kLongestHoldNs = plugin::kLongestHoldMs * kMillisecond;
constexpr int kReapMs = 50;  // for the exit status of one whose parent reaps it

std::int64_t now_ns() { return plugin::now_ns(); }

std::int64_t later(std::int64_t from, std::int64_t by) {
  return by > INT64_MAX - from ? INT64_MAX : from + by;
}

}  // namespace

Stop::Stop(const System& system, const Procfs& procfs, const plugin::StopPlan& plan,
           std::vector<Shot> shots, const plugin::Call& call)
    : system_(system),
      procfs_(procfs),
      with_tree_(plan.wants(ROLLCALL_STOP_TREE)),
      shots_(std::move(shots)),
      call_(call),
      begun_ns_(now_ns()),
      tree_(system, procfs) {
  holds_ = with_tree_ && plan.wants(ROLLCALL_STOP_HOLDS);
}

std::int64_t Stop::left_ns() const { return call_.remaining_ns(); }

plugin::Status Stop::run(std::int64_t pid, int pidfd, rollcall_stop_outcome& out) {
  const bool readable = tree_.take_root(pid, pidfd);
  if (with_tree_) {
    if (!tree_.root().ended && (!readable || !procfs_.is_ours())) {
      refuse("the process table could not be read, so its tree is not known", 0, out);
      return {};
    }
    if (holds_) hold(std::min(left_ns(), kLongestHoldNs) / kMillisecond + kHoldBeyondMs);
    cgroup_ = OwnCgroup::find(system_, procfs_, tree_.root());
    grow(later(now_ns(), kGrowNs));
    if (tree_.holds_caller()) {
      refuse("the calling process is in this tree itself: stop it from outside of it", 0, out);
      return {};
    }
  }
  bool over = tree_.root().ended;
  for (std::size_t i = 0; i < shots_.size() && !over; ++i) {
    over = i > 0 && await(later(begun_ns_, shots_[i].after_ns));
    if (over || call_.cancelled()) break;
    if (shots_[i].signal == SIGKILL && with_tree_) {
      force(i);
    } else {
      shoot(i);
    }
    if (i == 0 && tree_.root().refused && !was_any_shot()) {
      refuse(tree_.root().reason, tree_.root().os_code, out);
      return {};
    }
  }
  if (!over) over = await(call_.deadline_ns());
  if (holds_) {
    // Who is still there, or was not seen to have gone, stays where the next stop finds it.
    hold(over ? 0 : plugin::kHoldForOrphans);
    if (over) await(call_.deadline_ns());  // the root itself, which is free to go now
  }
  settle_end(pid, out);
  settle_containment(out);
  return call_.cancelled() && !over ? backend::cancelled() : plugin::Status();
}

void Stop::refuse(std::string_view why, int error, rollcall_stop_outcome& out) {
  if (holds_) hold(0);
  out.outcome = ROLLCALL_SIGNAL_REFUSED;
  out.os_code = error;
  plugin::set_text(out.reason, out.reason_size, why);
}

// The root keeps its orphans, and stays, for that long; 0: it may go.
void Stop::hold(std::int64_t ms) {
  const int pin = tree_.root().pin.get();
  const bool done = system_.pidfd_queue_signal(pin, SIGURG, plugin::hold_value(ms)) == 0;
  holds_ = done && ms > 0;
}

// One reading of the table and of the cgroup. How many were added.
std::size_t Stop::grow_once() {
  const std::int64_t began = now_ns();
  const Tree::Scan scan = tree_.scan();
  std::size_t added = scan.added;
  was_whole_ = scan.whole;
  if (cgroup_ && !cgroup_->adopt(tree_, added)) cgroup_.reset();
  const std::int64_t now = now_ns();
  next_scan_ns_ = now + std::max(kStepNs, 4 * (now - began));
  return added;
}

// Until a reading adds none. False: it still grew at `until_ns`.
bool Stop::grow(std::int64_t until_ns) {
  while (grow_once() > 0) {
    if (now_ns() >= until_ns || call_.expired() || call_.cancelled()) return false;
  }
  return true;
}

bool Stop::send(Member& member, int signal) {
  if (member.ended) return false;
  const std::optional<int> value =
      with_tree_ && signal != SIGSTOP ? std::optional<int>(plugin::kTreeSignal) : std::nullopt;
  Sent sent = send_signal(system_, member.pin.get(), member.pid, signal, value);
  if (sent.outcome == Sent::Outcome::kSent) return true;
  if (sent.outcome == Sent::Outcome::kEnded) {
    member.ended = true;
  } else {
    member.refused = true;
    member.os_code = sent.error;
    member.reason = std::move(sent.reason);
  }
  return false;
}

bool Stop::send_shot(Member& member, std::size_t shot) {
  if (!send(member, shots_[shot].signal)) return false;
  member.shots |= 1U << shot;
  return true;
}

// To everybody, and to what was forked before the signal came to its parent.
void Stop::shoot(std::size_t shot) {
  const std::uint32_t bit = 1U << shot;
  const std::int64_t until = later(now_ns(), kGrowNs);
  if (with_tree_ && shot > 0) grow(until);
  for (bool first = true;; first = false) {
    shoot_root(shot);  // the judged process first, or nobody
    if (tree_.root().refused) return;
    for (std::size_t i = 1; i < tree_.members().size(); ++i) {
      Member& member = *tree_.members()[i];
      if (!member.refused && (member.shots & bit) == 0) send_shot(member, shot);
    }
    shoot_root(shot);  // where it was spared for nobody who can be signalled
    if (!with_tree_ || (first ? false : now_ns() >= until) || call_.cancelled()) return;
    if (grow_once() == 0) return;
  }
}

// A root that is held ends by itself after its command, to whose group it would only pass the
// signal on once more.
void Stop::shoot_root(std::size_t shot) {
  Member& root = tree_.root();
  const bool spared = holds_ && !tree_.others_ended(true);
  if (!spared && !root.refused && (root.shots & (1U << shot)) == 0) send_shot(root, shot);
}

bool Stop::was_any_shot() {
  return std::any_of(tree_.members().begin(), tree_.members().end(),
                     [](const auto& member) { return member->shots != 0; });
}

// Stops all that is there, until all of it stands still and a reading begun then adds none.
void Stop::freeze() {
  const std::int64_t until = later(now_ns(), std::min(kFreezeNs, left_ns() / 2));
  for (;;) {
    for (const auto& member : tree_.members()) {
      if (!member->stopped && !member->refused) member->stopped = send(*member, SIGSTOP);
      if (tree_.root().refused) return;
    }
    const bool still = tree_.is_still();
    if (grow_once() == 0 && still && was_whole_) return;
    if (now_ns() >= until || call_.cancelled()) return;
    if (!still) (void)system_.poll(nullptr, 0, 1);
  }
}

void Stop::force(std::size_t shot) {
  freeze();
  if (tree_.root().refused) return;
  const std::uint32_t bit = 1U << shot;
  const std::int64_t until = later(now_ns(), std::min(kOthersNs, left_ns() / 2));
  for (;;) {
    if (cgroup_) {
      std::size_t added = 0;
      if (cgroup_->adopt(tree_, added)) {
        (void)cgroup_->kill();  // where it cannot, the pins do
      } else {
        cgroup_.reset();
      }
    }
    for (std::size_t i = 1; i < tree_.members().size(); ++i) {
      Member& member = *tree_.members()[i];
      if (!member.refused && (member.shots & bit) == 0) send_shot(member, shot);
    }
    while (!tree_.others_ended(true) && now_ns() < until && !call_.cancelled()) tree_.look(5);
    if (nothing_else_left() || now_ns() >= until || call_.cancelled()) break;
    freeze();
  }
  send_shot(tree_.root(), shot);
}

// Whether every member but the root has ended and a reading since then adds none; remembers that
// the root was there to keep its orphans.
bool Stop::nothing_else_left() {
  tree_.look(0);
  if (!tree_.others_ended(false)) return false;
  if (grow_once() != 0) return false;
  if (holds_ && was_whole_ && tree_.holder(tree_.root().pid) != nullptr) reaper_seen_ = true;
  return true;
}

// True: it is over, and nothing is left but a root that is held. False: the time has come, or the
// call was cancelled.
bool Stop::await(std::int64_t until_ns) {
  const std::int64_t end = std::min(until_ns, call_.deadline_ns());
  for (;;) {
    const std::int64_t now = now_ns();
    const std::int64_t step = std::clamp<std::int64_t>(end - now, 0, kStepNs);
    tree_.look(static_cast<int>((step + kMillisecond - 1) / kMillisecond));
    const bool root_is_over = tree_.root().ended || (holds_ && tree_.members().size() > 1);
    if (root_is_over && tree_.others_ended(false) && (!with_tree_ || nothing_else_left())) {
      return true;
    }
    if (call_.cancelled() || now_ns() >= end) return false;
    if (with_tree_ && now_ns() >= next_scan_ns_) grow_once();
  }
}

bool Stop::is_suspended(std::int64_t pid) const {
  char buffer[1024];
  std::optional<Stat> stat;
  return procfs_.read_stat(pid, buffer, sizeof buffer, stat) == 0 && stat &&
         linux_backend::is_suspended(*stat);
}

void Stop::settle_end(std::int64_t pid, rollcall_stop_outcome& out) {
  tree_.look(0);
  Member& root = tree_.root();
  out.shots = root.shots;
  out.outcome = was_any_shot() ? ROLLCALL_SIGNAL_SENT
                : root.ended   ? ROLLCALL_SIGNAL_ALREADY_GONE
                               : ROLLCALL_SIGNAL_REFUSED;
  if (root.ended) {
    out.end = ROLLCALL_AWAIT_ENDED;
    const std::int64_t left = std::min<std::int64_t>(left_ns() / kMillisecond, kReapMs);
    read_exit(system_, root.pin.get(), static_cast<int>(left), exit_);
    out.exit = exit_;
    plugin::set_text(out.reason, out.reason_size, backend::name(pid) + " has exited");
    return;
  }
  out.end = ROLLCALL_AWAIT_STILL_THERE;
  if (is_suspended(pid)) out.flags |= ROLLCALL_OBS_SUSPENDED;
  plugin::set_text(out.reason, out.reason_size, backend::name(pid) + " is still there");
}

void Stop::settle_containment(rollcall_stop_outcome& out) {
  if (!with_tree_ || !tree_.root().ended || !tree_.others_ended(false)) return;
  if (cgroup_ && cgroup_->is_empty()) {
    out.contained = ROLLCALL_CONTAINED_CGROUP;
  } else if (reaper_seen_) {
    out.contained = ROLLCALL_CONTAINED_REAPER;
  }
}

plugin::Status Stop::give(const plugin::StopSink& sink) {
  for (std::size_t i = 0; i < tree_.members().size(); ++i) {
    if (auto status = give_member(sink, *tree_.members()[i], i == 0); !status.ok()) return status;
  }
  for (const LostMember& lost : tree_.lost()) {
    if (auto status = give_lost(sink, lost); !status.ok()) return status;
  }
  return {};
}

plugin::Status Stop::give_member(const plugin::StopSink& sink, Member& member, bool is_root) {
  rollcall_stop_member out = {};
  out.state = member.ended ? ROLLCALL_MEMBER_ENDED : ROLLCALL_MEMBER_STILL_THERE;
  out.pid = member.pid;
  out.parent_pid = member.parent;
  out.shots = member.shots;
  if (is_root) out.flags |= ROLLCALL_MEMBER_ROOT;
  if (member.orphan) out.flags |= ROLLCALL_MEMBER_ORPHAN;
  if (!member.ended && is_suspended(member.pid)) out.flags |= ROLLCALL_MEMBER_SUSPENDED;
  plugin::set_text(out.start_token, out.start_token_size, member.start);
  plugin::set_text(out.name, out.name_size, member.name);
  plugin::set_text(out.reason, out.reason_size, member.reason);
  if (is_root) {
    out.exit = exit_;
  } else if (member.ended) {
    read_exit(system_, member.pin.get(), 0, out.exit);
  }
  const std::int32_t code = sink.member(out);
  return code < 0 ? plugin::Status(code, "the host wants no more") : plugin::Status();
}

plugin::Status Stop::give_lost(const plugin::StopSink& sink, const LostMember& lost) {
  rollcall_stop_member out = {};
  out.state = ROLLCALL_MEMBER_LOST;
  out.pid = lost.pid;
  out.parent_pid = lost.parent;
  plugin::set_text(out.start_token, out.start_token_size, lost.start);
  plugin::set_text(out.name, out.name_size, lost.name);
  plugin::set_text(out.reason, out.reason_size, lost.reason);
  const std::int32_t code = sink.member(out);
  return code < 0 ? plugin::Status(code, "the host wants no more") : plugin::Status();
}

}  // namespace rollcall::linux_backend
