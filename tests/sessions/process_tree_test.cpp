#include "rollcall/process_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace rollcall {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// `start_s` 0: its start could not be read.
ProcessSample sample(std::int64_t pid, std::optional<std::int64_t> parent, std::int64_t start_s) {
  ProcessSample made;
  made.pid = pid;
  made.parent = parent;
  made.read.pid = pid;
  made.read.presence = Presence::kPresent;
  if (start_s > 0) made.read.start_unix_ns = start_s * kSecond;
  return made;
}

std::string shape(const ProcessTree& tree) {
  std::string out;
  for (const TreeNode& node : tree) {
    if (!out.empty()) out += ' ';
    out += std::to_string(node.process.pid) + ':' + std::to_string(node.depth);
    if (node.root != RootReason::kNone) out += '(' + std::string(to_text(node.root)) + ')';
  }
  return out;
}

TEST(ProcessTree, PutsChildrenBelowTheirParentsByStart) {
  EXPECT_EQ(shape(link_processes({sample(30, 1, 9), sample(20, 1, 5), sample(40, 20, 7),
                                  sample(1, 0, 1), sample(10, 1, 8)})),
            "1:0(first) 20:1 40:2 10:1 30:1");
}

TEST(ProcessTree, LinksNoChildToAPidThatBeganAfterIt) {
  EXPECT_EQ(shape(link_processes({sample(5, 7, 10), sample(7, 0, 11)})),
            "5:0(parent-younger) 7:0(first)");
}

TEST(ProcessTree, AllowsForStartsReadInClockTicks) {
  auto parent = sample(7, 0, 10);
  auto child = sample(5, 7, 10);
  child.read.start_unix_ns = *parent.read.start_unix_ns - 20'000'000;
  EXPECT_EQ(shape(link_processes({parent, child})), "7:0(first) 5:1");
  child.read.start_unix_ns = *parent.read.start_unix_ns - 20'000'001;
  EXPECT_EQ(shape(link_processes({parent, child})), "5:0(parent-younger) 7:0(first)");
}

TEST(ProcessTree, MakesOrphansRootsAndSaysWhy) {
  EXPECT_EQ(shape(link_processes({sample(5, 99, 1), sample(6, std::nullopt, 2)})),
            "5:0(parent-missing) 6:0(parent-unknown)");
}

TEST(ProcessTree, CutsACycleAtItsOldestMemberAndLosesNothing) {
  EXPECT_EQ(
      shape(link_processes({sample(3, 2, 0), sample(2, 4, 0), sample(4, 3, 0), sample(9, 4, 0)})),
      "2:0(cycle) 3:1 4:2 9:3");
}

TEST(ProcessTree, FindsACycleFromBelowIt) {
  // 1 hangs on the cycle 5, 6 and is older than both.
  EXPECT_EQ(shape(link_processes({sample(1, 5, 0), sample(5, 6, 0), sample(6, 5, 0)})),
            "5:0(cycle) 1:1 6:1");
}

TEST(ProcessTree, MakesAProcessThatIsItsOwnParentARoot) {
  EXPECT_EQ(shape(link_processes({sample(8, 8, 1), sample(9, 8, 2)})), "8:0(cycle) 9:1");
}

TEST(ProcessTree, CountsAPidOnce) {
  EXPECT_EQ(shape(link_processes({sample(1, 0, 1), sample(2, 1, 2), sample(2, 0, 3)})),
            "1:0(first) 2:1");
}

TEST(ProcessTree, IsAsDeepOrWideAsTheTableIs) {
  constexpr std::int64_t kCount = 200'000;
  std::vector<ProcessSample> chain;
  std::vector<ProcessSample> fan;
  for (std::int64_t pid = 1; pid <= kCount; ++pid) {
    chain.push_back(sample(pid, pid - 1, pid));
    fan.push_back(sample(pid, pid == 1 ? 0 : 1, pid));
  }
  const auto deep = link_processes(std::move(chain));
  ASSERT_EQ(deep.size(), static_cast<std::size_t>(kCount));
  EXPECT_EQ(deep.back().depth, static_cast<std::size_t>(kCount - 1));
  const auto wide = link_processes(std::move(fan));
  ASSERT_EQ(wide.size(), static_cast<std::size_t>(kCount));
  EXPECT_TRUE(std::all_of(wide.begin() + 1, wide.end(),
                          [](const TreeNode& node) { return node.depth == 1; }));
}

TEST(ProcessTree, CutsManyCyclesInOnePass) {
  constexpr std::int64_t kPairs = 20'000;
  std::vector<ProcessSample> samples;
  for (std::int64_t i = 0; i < kPairs; ++i) {
    samples.push_back(sample(2 * i + 1, 2 * i + 2, 0));
    samples.push_back(sample(2 * i + 2, 2 * i + 1, 0));
  }
  const auto tree = link_processes(std::move(samples));
  ASSERT_EQ(tree.size(), static_cast<std::size_t>(2 * kPairs));
  EXPECT_EQ(std::count_if(tree.begin(), tree.end(),
                          [](const TreeNode& node) { return node.root == RootReason::kCycle; }),
            kPairs);
}

TEST(ProcessTree, GivesThePartBelowOneProcess) {
  const auto tree =
      link_processes({sample(1, 0, 1), sample(2, 1, 2), sample(3, 2, 3), sample(4, 1, 4)});
  EXPECT_EQ(shape(subtree_of(tree, 2)), "2:0 3:1");
  EXPECT_TRUE(subtree_of(tree, 77).empty());
}

}  // namespace
}  // namespace rollcall
