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
    kUnreadable,  // not all could be read (another user's, not dumpable, hidden, out of time)
  };
  [[nodiscard]] Answer holds(std::int64_t pid, std::uint64_t inode);

  // Whether `pid` is `ancestor` or a descendant of it now.
  [[nodiscard]] bool descends(std::int64_t pid, std::int64_t ancestor);

  // Some process that holds the socket, as far as descriptors can be read; 0: none was found. For
  // display only. Reads every process once.
  [[nodiscard]] std::int64_t anyone(std::uint64_t inode);

 private:
  struct Sockets {
    bool readable = false;
    std::unordered_set<std::uint64_t> inodes;
  };

  const Sockets& sockets_of(std::int64_t pid);
  void read_sockets(std::int64_t pid, Sockets& out);
  const std::vector<std::int64_t>& descendants(std::int64_t pid);
  void read_tree();
  bool is_ours();

  const System& system_;
  const Procfs& procfs_;
  const plugin::Call& call_;
  int ours_ = -1;  // -1: not asked yet
  bool tree_read_ = false;
  bool everyone_read_ = false;
  std::vector<std::int64_t> pids_;
  std::unordered_map<std::int64_t, std::int64_t> parents_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> children_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> descendants_;
  std::unordered_map<std::int64_t, Sockets> sockets_;
  std::unordered_map<std::uint64_t, std::int64_t> everyone_;
};

}  // namespace rollcall::linux_backend
