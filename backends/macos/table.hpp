// The table of processes: every pid, and its parent.
#pragma once

#include <cstdint>

#include "bounds.hpp"
#include "memory.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

struct Process {
  std::int64_t pid = 0;
  std::int64_t parent = -1;  // -1: could not be read
};

// Every process but the kernel's own (pid 0), by proc_listallpids, which is asked again with more
// room for as long as it fills what it was given.
// Errors: E_IO, E_NO_MEMORY.
[[nodiscard]] Status list_pids(const System& system, List<int>& out);

// The parent of a process, -1 where it could not be read; false: it has gone meanwhile.
[[nodiscard]] bool read_parent(const System& system, std::int64_t pid, std::int64_t& parent);

// One snapshot of who descends from whom. Not for several threads at once.
class Tree {
 public:
  enum class Kin : std::uint8_t { kNo, kYes, kUnknown };  // kUnknown: a parent could not be read

  // Errors: as list_pids, and the call's bounds.
  [[nodiscard]] Status read(const System& system, const Bounds& bounds);

  [[nodiscard]] const List<Process>& processes() const { return processes_; }

  // Whether `pid` is `ancestor` or descends from it. Everything descends from pid 1, so of that
  // only itself. A snapshot of moving processes may hold a cycle: it ends there.
  [[nodiscard]] Kin descends(std::int64_t pid, std::int64_t ancestor) const;

  // Whether `other` descends from `pid`; pid 1 is an ancestor of every process.
  [[nodiscard]] Kin is_ancestor(std::int64_t pid, std::int64_t other) const;

 private:
  // 0: the root; -1: not known.
  [[nodiscard]] std::int64_t parent_of(std::int64_t pid) const;

  List<Process> processes_;  // by pid, ascending
};

}  // namespace rollcall::macos_backend
