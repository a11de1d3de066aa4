// What the kernel tells by itself: a process that ends, a directory that changes. Implemented by
// platform backends behind the plugin ABI. watch.hpp watches sessions by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/process_control.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// Of adding something. All but kWatched: it is not watched. Values are those of the plugin ABI.
enum class WatchResult : std::uint8_t {
  kUnverified,   // whether it is the recorded process could not be told
  kWatched,      // from now on nothing of it is missed
  kGone,         // the judge said so; a directory: there is none
  kUnsupported,  // this kernel, or this file system, cannot
  kLimit,        // descriptors, watches or memory have run out
};

struct WatchOutcome {
  WatchResult result = WatchResult::kUnverified;
  std::string reason;  // but for kWatched: why
  std::int64_t os_code = 0;
};

enum class KernelEventKind : std::uint8_t {
  kEnded = 1,  // the process has ended, and is watched no more
  kChanged,    // something in the directory did
  kLost,       // the directory went, and is watched no more
  kOverflow,   // changes of any directory were missed
};

struct KernelEvent {
  KernelEventKind kind = KernelEventKind::kChanged;
  std::uint64_t id = 0;  // 0 with kOverflow
  std::string name;      // with kChanged: the entry, bytes; empty: any
};

// Threads: one, but for wake().
class ROLLCALL_API Watcher {
 public:
  virtual ~Watcher() = default;
  // Pins the process, reads through the pin, judges, and watches it on kAlive only. An `id` is the
  // caller's, and names one thing at a time; not 0.
  [[nodiscard]] virtual Result<WatchOutcome> add_process(std::uint64_t id, std::int64_t pid,
                                                         const Judge& judge, const Call& call) = 0;
  // The entries of a directory, not those below. Again with the same id: what stands there now.
  [[nodiscard]] virtual Result<WatchOutcome> add_directory(std::uint64_t id, std::string_view path,
                                                           const Call& call) = 0;
  // kNotFound: it is not watched.
  [[nodiscard]] virtual Status remove(std::uint64_t id) = 0;
  // Waits until call.deadline_ns at most. Empty: the deadline came, or it was woken, or for no
  // reason. call.cancel is not asked while it waits: wake().
  [[nodiscard]] virtual Result<std::vector<KernelEvent>> wait(const Call& call) = 0;
  // Ends the wait that is under way, or the next one. Any thread.
  virtual void wake() = 0;
};

}  // namespace rollcall
