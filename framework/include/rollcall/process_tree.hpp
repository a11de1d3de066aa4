// The process table as a tree, from one snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/export.hpp"
#include "rollcall/observation.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// One process of a snapshot, not linked yet.
struct ProcessSample {
  std::int64_t pid = 0;
  std::optional<std::int64_t> parent;  // as the system names it; nullopt: not known
  Observation read;                    // its start, where it could be read
  std::string name;                    // the short name; empty: not read
};

// Why a process is not shown below the one that the system names as its parent.
enum class RootReason : std::uint8_t {
  kNone,           // it is below it
  kFirst,          // the system names none (0)
  kParentUnknown,  // its parent could not be read
  kParentMissing,  // no such process in the snapshot: it ended, or another view hides it
  kParentYounger,  // that pid began after this one: it was reused
  kCycle,          // the chain of parents came back to it: cut here
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(RootReason reason);  // "parent-missing", ...

struct TreeNode {
  ProcessSample process;
  std::size_t depth = 0;  // 0: a root
  RootReason root = RootReason::kNone;
};

// Every sample once, each parent before its children, children by their start and then pid.
using ProcessTree = std::vector<TreeNode>;

// Links a snapshot by identity: a parent must not have begun after its child (20 ms of slack: a
// start is read in clock ticks). Where a start was not read, the pid alone links. Iterative, so any
// depth and width; of two samples with one pid the first counts and the other is dropped. Pure.
[[nodiscard]] ROLLCALL_API ProcessTree link_processes(std::vector<ProcessSample> samples);

// The part of a tree below one process, that process first at depth 0; empty: it is not there.
[[nodiscard]] ROLLCALL_API ProcessTree subtree_of(const ProcessTree& tree, std::int64_t pid);

// Takes the snapshot: list, one batch of observations, the names. What ended meanwhile is left out.
[[nodiscard]] ROLLCALL_API Result<std::vector<ProcessSample>> sample_processes(ProcessProbe& probe,
                                                                               const Call& call);

}  // namespace rollcall
