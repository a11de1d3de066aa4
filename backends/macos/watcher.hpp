// rollcall.watch/1 on macOS: one kqueue, which tells the ends of processes, changes in directories
// and the call to wake up.
#pragma once

#include <cstdint>
#include <string_view>

#include "bounds.hpp"
#include "memory.hpp"
#include "rollcall/plugin_parts.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// A directory costs a descriptor, a process none. The kernel does not tell which entry of a
// directory changed, so CHANGED has no name; nor that a file in it was written in place or given
// other permissions. Threads: as the interface says.
class Watcher {
 public:
  explicit Watcher(const System& system);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Whether there is anything to watch with; to be asked once, before all else.
  [[nodiscard]] Status ready() const;

  // LIMIT leaves the caller kReserve descriptors.
  static constexpr int kReserve = 64;
  // NOTE_EXIT is bound to the process that holds the number when it is armed. Which one that is,
  // two readings say, one before and one after, the latter the judged one: of one start, it is that
  // process. Else the number changed hands, and all is done anew, three times at most.
  Status add_process(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                     rollcall_watch_outcome& out, const Bounds& bounds);
  Status add_directory(std::uint64_t id, std::string_view path, rollcall_watch_outcome& out,
                       const Bounds& bounds);
  Status remove(std::uint64_t id);
  // `batch` has room and a stride that is long enough.
  Status wait(rollcall_watch_batch& batch, const Bounds& bounds);
  void wake() const;

 private:
  using Token = Text<64>;
  struct Process {
    std::uint64_t id = 0;
    std::int64_t pid = 0;
    Token token;
  };
  struct Directory {
    std::uint64_t id = 0;
    int fd = -1;
  };
  struct Happening {
    std::uint64_t id = 0;
    std::uint32_t kind = 0;  // ROLLCALL_WATCH_EVENT_*
  };

  [[nodiscard]] rollcall_observation read(std::int64_t pid, std::uint32_t wants) const;
  [[nodiscard]] int change(std::uintptr_t ident, std::int16_t filter, std::uint16_t flags,
                           std::uint32_t notes) const;
  [[nodiscard]] int arm_directory(const char* path, int& fd) const;
  bool add_once(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                rollcall_watch_outcome& out);
  [[nodiscard]] const Process* of_pid(std::int64_t pid) const;
  [[nodiscard]] const Directory* directory_of(std::uint64_t id) const;
  [[nodiscard]] bool make_room();
  [[nodiscard]] int collect(const struct timespec* timeout);
  void take_end(std::int64_t pid, int& patience);
  void take_directory(int fd, std::uint32_t notes);
  bool drop_directory(std::uint64_t id);
  void hand_over(rollcall_watch_batch& batch);

  const System& system_;
  Fd queue_;
  int error_ = 0;     // of the making
  int most_fds_ = 0;  // numbers from here on are others'
  List<Process> processes_;
  List<Directory> directories_;
  List<Happening> pending_;  // not handed over yet; room for all that can come is made beforehand
};

}  // namespace rollcall::macos_backend
