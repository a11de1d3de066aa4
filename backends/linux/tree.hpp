// The descendants of one pinned process, each pinned and proven through its pin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode.hpp"
#include "procfs.hpp"
#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::linux_backend {

// One process, held by its pidfd: whatever becomes of its number, this is the one.
struct Member {
  Member(const System& system, int pidfd) : pin(system, pidfd) {}
  Fd pin;
  std::int64_t pid = 0;
  std::int64_t parent = -1;  // as it was found
  std::uint64_t start_ticks = 0;
  std::string start;
  std::string name;
  std::uint32_t shots = 0;
  bool ended = false;    // seen through the pin
  bool stopped = false;  // SIGSTOP was sent
  bool refused = false;  // the system does not let us signal it
  bool orphan = false;   // of the tree by its cgroup
  int os_code = 0;       // where refused
  std::string reason;
};

// A process that was seen in the tree and could not be pinned there.
struct LostMember {
  std::int64_t pid = 0;
  std::int64_t parent = -1;
  std::string start;
  std::string name;
  std::string reason;
};

// One line of the process table, as it was read.
struct ProcessRow {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::uint64_t start_ticks = 0;
  std::string start;
  std::string name;
  bool exited = false;
};

// Threads: one.
class Tree {
 public:
  Tree(const System& system, const Procfs& procfs) : system_(system), procfs_(procfs) {}

  // Takes the pidfd over, of a process that was judged through it. Once, before anything else.
  // False: its stat could not be read, so no child of it can be proven.
  [[nodiscard]] bool take_root(std::int64_t pid, int pidfd);

  struct Scan {
    bool whole = false;  // the process table could be read to its end
    std::size_t added = 0;
  };
  // Reads the process table once and pins every child of a member that is not pinned yet, and
  // theirs. A child counts when its stat, read after it was pinned and while it was there, names a
  // parent whose own pin says afterwards that it was there still, and that is not younger.
  Scan scan();

  // Marks who has ended. Waits up to `timeout_ms` for one that is not marked yet.
  void look(int timeout_ms);

  // Pins a process that is a member for another reason than its parent; null: it has gone, or
  // cannot be pinned, or is pinned already.
  [[nodiscard]] std::unique_ptr<Member> pin(std::int64_t pid, LostMember* lost);
  void add(std::unique_ptr<Member> member);

  // Whether every member that was sent SIGSTOP, and may be signalled, has stopped or ended, all
  // its threads.
  [[nodiscard]] bool is_still();
  // Whether every member but the root has ended, as far as look() saw; `but_refused`: those that
  // the system does not let us signal do not count.
  [[nodiscard]] bool others_ended(bool but_refused) const;

  [[nodiscard]] Member& root() { return *members_.front(); }
  [[nodiscard]] std::vector<std::unique_ptr<Member>>& members() { return members_; }
  [[nodiscard]] const std::vector<LostMember>& lost() const { return lost_; }
  // Whether a member that has not ended holds this number.
  [[nodiscard]] Member* holder(std::int64_t pid);
  // The calling process is among the descendants.
  [[nodiscard]] bool holds_caller() const { return holds_caller_; }

 private:
  [[nodiscard]] bool read_table(std::vector<ProcessRow>& rows) const;
  bool add_child(const ProcessRow& row);
  void lose(LostMember lost);
  [[nodiscard]] bool has_stopped(Member& member) const;
  [[nodiscard]] bool is_there(const Member& member) const;

  const System& system_;
  const Procfs& procfs_;
  std::vector<std::unique_ptr<Member>> members_;      // the root first
  std::unordered_map<std::int64_t, Member*> by_pid_;  // those that have not ended
  std::vector<LostMember> lost_;
  bool holds_caller_ = false;
};

}  // namespace rollcall::linux_backend
