#include "rollcall/process_tree.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rollcall {
namespace {

constexpr std::int64_t kStartSlackNs = 20'000'000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// By start where both are known, else by pid: a total order of the samples of one snapshot.
bool comes_before(const ProcessSample& a, const ProcessSample& b) {
  const auto key = [](const ProcessSample& sample) {
    return std::pair(sample.read.start_unix_ns.value_or(0), sample.pid);
  };
  return key(a) < key(b);
}

class Linker {
 public:
  explicit Linker(std::vector<ProcessSample> samples) : samples_(std::move(samples)) {
    drop_doubles();
    std::sort(samples_.begin(), samples_.end(), comes_before);
    for (std::size_t i = 0; i < samples_.size(); ++i) by_pid_.emplace(samples_[i].pid, i);
    children_.resize(samples_.size());
    roots_.assign(samples_.size(), RootReason::kNone);
    seen_.assign(samples_.size(), false);
    passed_.assign(samples_.size(), 0);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::size_t parent = parent_of(i);
      if (parent != kNone) children_[parent].push_back(i);
    }
  }

  ProcessTree link() {
    tree_.reserve(samples_.size());
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (roots_[i] != RootReason::kNone) walk(i);
    }
    // What no root leads to hangs on a cycle, and every cycle has an oldest member.
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (seen_[i]) continue;
      const std::size_t cut = oldest_of_cycle(i);
      roots_[cut] = RootReason::kCycle;
      walk(cut);
    }
    return std::move(tree_);
  }

 private:
  void drop_doubles() {
    std::unordered_map<std::int64_t, bool> known;
    std::erase_if(samples_, [&](const ProcessSample& sample) {
      return !known.emplace(sample.pid, true).second;
    });
  }

  // The parent's place, or kNone with the reason in roots_.
  std::size_t parent_of(std::size_t child) {
    const ProcessSample& sample = samples_[child];
    if (!sample.parent) return root(child, RootReason::kParentUnknown);
    if (*sample.parent == 0) return root(child, RootReason::kFirst);
    if (*sample.parent == sample.pid) return root(child, RootReason::kCycle);
    const auto found = by_pid_.find(*sample.parent);
    if (found == by_pid_.end()) return root(child, RootReason::kParentMissing);
    const auto& parent_start = samples_[found->second].read.start_unix_ns;
    const auto& start = sample.read.start_unix_ns;
    if (parent_start && start && *parent_start > *start + kStartSlackNs) {
      return root(child, RootReason::kParentYounger);
    }
    return found->second;
  }
  std::size_t root(std::size_t at, RootReason reason) {
    roots_[at] = reason;
    return kNone;
  }

  // `at` is below a cycle or in it: going up ends in the cycle. The first sample in order of it.
  std::size_t oldest_of_cycle(std::size_t at) {
    const std::size_t from = at + 1;  // never 0
    while (passed_[at] != from) {
      passed_[at] = from;
      at = by_pid_.at(*samples_[at].parent);
    }
    std::size_t oldest = at;
    for (std::size_t next = by_pid_.at(*samples_[at].parent); next != at;
         next = by_pid_.at(*samples_[next].parent)) {
      oldest = std::min(oldest, next);
    }
    return oldest;
  }

  void walk(std::size_t top) {
    std::vector<std::pair<std::size_t, std::size_t>> left = {{top, 0}};
    while (!left.empty()) {
      const auto [at, depth] = left.back();
      left.pop_back();
      if (seen_[at]) continue;
      seen_[at] = true;
      tree_.push_back({std::move(samples_[at]), depth, roots_[at]});
      // The pid stays where it was moved from: parents are looked up by it still.
      samples_[at].pid = tree_.back().process.pid;
      samples_[at].parent = tree_.back().process.parent;
      const auto& children = children_[at];
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        left.emplace_back(*child, depth + 1);
      }
    }
  }

  std::vector<ProcessSample> samples_;
  std::unordered_map<std::int64_t, std::size_t> by_pid_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<RootReason> roots_;
  std::vector<bool> seen_;
  std::vector<std::size_t> passed_;  // by which search for a cycle
  ProcessTree tree_;
};

}  // namespace

std::string_view to_text(RootReason reason) {
  switch (reason) {
    case RootReason::kNone:
      return "none";
    case RootReason::kFirst:
      return "first";
    case RootReason::kParentUnknown:
      return "parent-unknown";
    case RootReason::kParentMissing:
      return "parent-missing";
    case RootReason::kParentYounger:
      return "parent-younger";
    case RootReason::kCycle:
      break;
  }
  return "cycle";
}

ProcessTree link_processes(std::vector<ProcessSample> samples) {
  return Linker(std::move(samples)).link();
}

ProcessTree subtree_of(const ProcessTree& tree, std::int64_t pid) {
  ProcessTree part;
  const auto top = std::find_if(tree.begin(), tree.end(),
                                [pid](const TreeNode& node) { return node.process.pid == pid; });
  if (top == tree.end()) return part;
  for (auto node = top; node != tree.end(); ++node) {
    if (node != top && node->depth <= top->depth) break;
    part.push_back(*node);
    part.back().depth -= top->depth;
  }
  return part;
}

Result<std::vector<ProcessSample>> sample_processes(ProcessProbe& probe, const Call& call) {
  const auto rows = probe.list(call);
  if (!rows) return wrap("cannot list the processes", rows.error());
  std::vector<Ask> asks;
  asks.reserve(rows->size());
  for (const ProcessRow& row : *rows) asks.push_back({row.pid, kWantStartToken | kWantAge});
  std::vector<Observation> read(asks.size());
  if (auto status = probe.observe(asks, read, call); !status) {
    return wrap("cannot read the processes", status.error());
  }
  std::vector<ProcessSample> samples;
  samples.reserve(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (read[i].presence == Presence::kAbsent) continue;
    ProcessSample sample{(*rows)[i].pid, (*rows)[i].parent, read[i], {}};
    // Without a name it still has its place.
    if (auto name = probe.read(sample.pid, ReadWhat::kName, call)) sample.name = std::move(*name);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace rollcall
