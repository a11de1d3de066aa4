// Which process holds which socket: the descriptors of a process and of its descendants.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "procfs.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// One reading of /proc, made piece by piece as it is asked for, each piece once. Not for several
// threads at once.
class Holders {
 public:
  Holders(const System& system, const Procfs& procfs, const plugin::Call& call)
      : system_(system), procfs_(procfs), call_(call) {}

  enum class Answer : std::uint8_t {
    kHeld,        // by the process or a descendant
    kNotHeld,     // all their descriptors were read, and it is not among them
    kUnreadable,  // not all may be read (another user's, not dumpable, hidden)
    kFailed,      // a reading of the descriptors or of the process tree failed: nothing was learnt
  };
  // Everything descends from pid 1, so of that only its own descriptors count.
  [[nodiscard]] Answer holds(std::int64_t pid, std::uint64_t inode);

  enum class Kin : std::uint8_t { kNo, kYes, kUnknown };
  // Whether `pid` is `ancestor` or a descendant of it now. Of pid 1: itself only.
  [[nodiscard]] Kin descends(std::int64_t pid, std::int64_t ancestor);
  // Whether `pid` is a process from which `other` descends; pid 1 is one of every process.
  [[nodiscard]] Kin is_ancestor(std::int64_t pid, std::int64_t other);

  // Who else holds the socket, as far as descriptors may be read, where holds() is kUnreadable. An
  // ancestor may have opened it for the process; a stranger has not. Reads every process once.
  enum class Other : std::uint8_t { kNobody, kAncestor, kStranger, kFailed };
  [[nodiscard]] Other other_holder(std::int64_t pid, std::uint64_t inode);

  // Whether a socket of this uid can be the process's or a descendant's, by the uids in their
  // status. True unless that is known: root's sockets are handed on, and root may become anybody.
  [[nodiscard]] bool may_own(std::int64_t pid, std::int64_t uid);

  // Some process that holds the socket, as far as descriptors can be read; 0: none was found. For
  // display only. Reads every process once.
  [[nodiscard]] std::int64_t anyone(std::uint64_t inode);

 private:
  struct Sockets {
    Answer state = Answer::kFailed;  // but kHeld: kNotHeld stands for "read whole"
    std::unordered_set<std::uint64_t> inodes;
  };

  const Sockets& sockets_of(std::int64_t pid);
  void read_sockets(std::int64_t pid, Sockets& out);
  const std::vector<std::int64_t>& descendants(std::int64_t pid);
  void read_tree();
  void read_parent(std::int64_t pid);
  void read_everyone();
  bool runs_as(std::int64_t pid, std::int64_t uid);
  bool is_ours();

  const System& system_;
  const Procfs& procfs_;
  const plugin::Call& call_;
  int ours_ = -1;  // -1: not asked yet
  bool tree_read_ = false;
  bool tree_whole_ = true;
  bool everyone_read_ = false;
  bool everyone_whole_ = true;  // no reading failed; refusals do not count
  std::vector<std::int64_t> pids_;
  std::unordered_map<std::int64_t, std::int64_t> parents_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> children_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> descendants_;
  std::unordered_map<std::int64_t, Sockets> sockets_;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> everyone_;
};

}  // namespace rollcall::linux_backend
