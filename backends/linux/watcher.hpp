// rollcall.watch/1 on Linux: pidfds and one inotify in one epoll.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "directories.hpp"
#include "reading.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// Settings: proc_root, as Probe's. Threads: as the interface says.
class Watcher final : public plugin::Watcher {
 public:
  explicit Watcher(const plugin::Settings& settings);
  // Throws plugin::Error where the kernel gives no epoll or eventfd.
  Watcher(const plugin::Settings& settings, const System& system);
  ~Watcher() noexcept override;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // LIMIT leaves the caller kReserve descriptors.
  static constexpr int kReserve = 64;
  plugin::Status add_process(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                             rollcall_watch_outcome& out, const plugin::Call& call) override;
  plugin::Status add_directory(std::uint64_t id, std::string_view path, rollcall_watch_outcome& out,
                               const plugin::Call& call) override;
  plugin::Status remove(std::uint64_t id) override;
  plugin::Status wait(plugin::WatchBatch& batch, const plugin::Call& call) override;
  void wake() override;

 private:
  [[nodiscard]] int arm(int fd);
  void collect(const struct epoll_event& ready);
  void hand_over(plugin::WatchBatch& batch);
  void drop(std::uint64_t id, int pidfd);

  const System& system_;
  Reader reader_;
  Fd epoll_;
  Fd wakeup_;
  Directories directories_;
  int most_fds_ = 0;                               // numbers from here on are others'
  std::unordered_map<std::uint64_t, int> pidfds_;  // by id; closed by drop()
  std::unordered_map<int, std::uint64_t> ids_;     // by pidfd
  std::deque<Happening> pending_;                  // not handed over yet
};

}  // namespace rollcall::linux_backend
