// One stop from its first signal to its end, by pins that are held all the while.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "own_cgroup.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"
#include "tree.hpp"

namespace rollcall::linux_backend {

// A shot, translated.
struct Shot {
  int signal = 0;
  std::int64_t after_ns = 0;
};

// The whole of rollcall.process-control/1's `stop` behind the judge: the root is pinned, was judged
// alive through its pin, and may be signalled.
//
// A graceful stop sends its signals to all that is pinned, and to what a member forked meanwhile,
// but never SIGSTOP: a stopped process cannot act on SIGTERM, and its parent would be told. A KILL
// comes to a tree that was stopped first, root first, so that nobody can fork or go on with what
// another's end lets loose; the root goes last, so that its orphans stay to be seen.
// Threads: one.
class Stop {
 public:
  Stop(const System& system, const Procfs& procfs, const plugin::StopPlan& plan,
       std::vector<Shot> shots, const plugin::Call& call);

  // Takes the pidfd over. What it came to is in `out`; an error is one of the call's bounds.
  plugin::Status run(std::int64_t pid, int pidfd, rollcall_stop_outcome& out);
  // The receipt, root first.
  plugin::Status give(const plugin::StopSink& sink);

 private:
  [[nodiscard]] std::int64_t left_ns() const;
  bool grow(std::int64_t until_ns);
  std::size_t grow_once();
  void refuse(std::string_view why, int error, rollcall_stop_outcome& out);
  void hold(std::int64_t ms);
  void shoot(std::size_t shot);
  void shoot_root(std::size_t shot);
  [[nodiscard]] bool was_any_shot();
  void force(std::size_t shot);
  void freeze();
  bool send(Member& member, int signal);
  bool send_shot(Member& member, std::size_t shot);
  bool await(std::int64_t until_ns);
  bool nothing_else_left();
  void settle_containment(rollcall_stop_outcome& out);
  void settle_end(std::int64_t pid, rollcall_stop_outcome& out);
  [[nodiscard]] bool is_suspended(std::int64_t pid) const;
  plugin::Status give_member(const plugin::StopSink& sink, Member& member, bool is_root);
  plugin::Status give_lost(const plugin::StopSink& sink, const LostMember& lost);

  const System& system_;
  const Procfs& procfs_;
  const bool with_tree_;
  const std::vector<Shot> shots_;
  const plugin::Call& call_;
  const std::int64_t begun_ns_;
  Tree tree_;
  std::unique_ptr<OwnCgroup> cgroup_;
  bool holds_ = false;        // the root was held
  bool was_whole_ = false;    // the last reading of the process table
  bool reaper_seen_ = false;  // the root was there when a reading found no descendant of it
  std::int64_t next_scan_ns_ = 0;
  rollcall_exit exit_ = {};
};

}  // namespace rollcall::linux_backend
