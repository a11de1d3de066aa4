// A cgroup (v2) that holds one session's tree and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procfs.hpp"
#include "system.hpp"
#include "tree.hpp"

namespace rollcall::linux_backend {

// The path behind "0::" in a whole /proc/PID/cgroup. Source: cgroups(7), "/proc/[pid]/cgroup".
// nullopt: none, one that has been deleted, or one outside of our cgroup namespace ("/../").
[[nodiscard]] std::optional<std::string_view> decode_cgroup(std::string_view text);

// Where the v2 hierarchy is mounted, in a whole /proc/PID/mountinfo, and which of its folders is
// the mount's root. Source: proc(5), "/proc/[pid]/mountinfo". nullopt: nowhere, or under a name
// with bytes that are escaped there.
struct CgroupMount {
  std::string_view root;
  std::string_view place;
};
[[nodiscard]] std::optional<CgroupMount> decode_cgroup_mount(std::string_view mountinfo);

// Whether `path` is `folder` or below it.
[[nodiscard]] bool is_within(std::string_view path, std::string_view folder);

// Threads: one.
class OwnCgroup {
 public:
  // Finds the root's cgroup where it is the session's own: not the hierarchy's root, not the
  // caller's or above it, without the root's parent. Null otherwise, and where that cannot be told.
  [[nodiscard]] static std::unique_ptr<OwnCgroup> find(const System& system, const Procfs& procfs,
                                                       Member& root);

  // Pins what is in the cgroup and not of the tree yet: the orphans, whose parents have gone.
  // False: the cgroup is not, or no more, the session's own: a process in it is no orphan (its
  // parent is a living process outside of the tree, which is neither init nor above the root's
  // parent), or is older than the root, or cannot be told; or a member is not in it. Nothing was
  // added then. A process gets into a cgroup by being forked in it; from outside only somebody who
  // may write to it puts one there.
  [[nodiscard]] bool adopt(Tree& tree, std::size_t& added);

  // Ends all that is in it and below. Source: cgroup.kill of Linux 5.14. False: it could not.
  [[nodiscard]] bool kill() const;
  // Whether the kernel says that nothing lives in it or below; a removed cgroup is empty.
  [[nodiscard]] bool is_empty() const;

 private:
  OwnCgroup(const System& system, const Procfs& procfs, int directory, std::string path)
      : system_(system), procfs_(procfs), directory_(system, directory), path_(std::move(path)) {}
  [[nodiscard]] bool list(int directory, int depth, std::vector<std::int64_t>& pids) const;
  [[nodiscard]] bool is_orphan(const Member& member) const;
  [[nodiscard]] bool pin_others(Tree& tree, std::vector<std::unique_ptr<Member>>& others) const;

  const System& system_;
  const Procfs& procfs_;
  Fd directory_;
  std::string path_;
  std::vector<std::int64_t> reapers_;  // who may have got the root's orphans
  std::uint64_t root_ticks_ = 0;
};

}  // namespace rollcall::linux_backend
