// Directories by inotify(7): which entry of which one changed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rollcall/plugin.h"
#include "system.hpp"

namespace rollcall::linux_backend {

// What happened, in order. `kind`: ROLLCALL_WATCH_EVENT_*.
struct Happening {
  std::uint64_t id = 0;
  std::uint32_t kind = 0;
  std::string name;
};

// Threads: one.
class Directories {
 public:
  explicit Directories(const System& system);

  // -1: there is none; errno of its making is error().
  [[nodiscard]] int fd() const { return inotify_.get(); }
  [[nodiscard]] int error() const { return error_; }

  // 0, or the errno of inotify_add_watch(2). An id that is there already watches what stands at
  // `path` now.
  [[nodiscard]] int add(std::uint64_t id, const std::string& path);
  // False: it is not watched.
  bool remove(std::uint64_t id);

  // Takes what the kernel has, at most one buffer of it, and adds it to `out`. What follows another
  // change of the same entry within the buffer is left out.
  void read(std::deque<Happening>& out);

 private:
  void take(int watch, std::uint32_t mask, std::string_view name, std::deque<Happening>& out);
  void forget(int watch, std::uint64_t id);

  const System& system_;
  Fd inotify_;
  int error_ = 0;
  std::unordered_map<std::uint64_t, int> watches_;           // by id
  std::unordered_map<int, std::vector<std::uint64_t>> ids_;  // by watch: one directory may be two's
};

}  // namespace rollcall::linux_backend
