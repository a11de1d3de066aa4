// rollcall.watch/1 on Windows: process handles and directory changes, all to one completion port.
// For plugin.cpp and *_windows.cpp only: it is of the system itself, not of the table that is
// faked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::windows_backend {

// A process's handle is waited on by the system's thread pool (RegisterWaitForSingleObject), which
// knows no limit of 64; directories by ReadDirectoryChangesW. That a directory was renamed is not
// told: add_directory with the same id looks again. Threads: as the interface says.
class NativeWatcher final : public plugin::Watcher {
 public:
  // Throws plugin::Error where there is no completion port to be had.
  NativeWatcher();
  ~NativeWatcher() noexcept override;
  NativeWatcher(const NativeWatcher&) = delete;
  NativeWatcher& operator=(const NativeWatcher&) = delete;

  plugin::Status add_process(std::uint64_t id, std::int64_t pid, const plugin::Judge& judge,
                             rollcall_watch_outcome& out, const plugin::Call& call) override;
  plugin::Status add_directory(std::uint64_t id, std::string_view path, rollcall_watch_outcome& out,
                               const plugin::Call& call) override;
  plugin::Status remove(std::uint64_t id) override;
  plugin::Status wait(plugin::WatchBatch& batch, const plugin::Call& call) override;
  void wake() override;

 private:
  struct Process;
  struct Directory;
  struct Happening {
    std::uint64_t id = 0;
    std::uint32_t kind = 0;
    std::string name;
  };

  bool take_one(std::uint32_t timeout_ms);
  void take_directory(Directory& directory, std::uint32_t bytes, Code error);
  void drop_directory(std::uint64_t id);
  void forget_pending(std::uint64_t id);

  Handle port_ = nullptr;
  std::uintptr_t last_key_ = 0;  // of completions: never used twice, so that a late one is known
  std::map<std::uintptr_t, std::unique_ptr<Process>> processes_;      // by key
  std::map<std::uintptr_t, std::unique_ptr<Directory>> directories_;  // by key; some are closing
  std::map<std::uint64_t, std::uintptr_t> keys_;                      // by id
  std::deque<Happening> pending_;
};

}  // namespace rollcall::windows_backend
