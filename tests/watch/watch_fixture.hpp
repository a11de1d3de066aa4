// A watch without a system: scripted kernel events, a clock that waiting moves on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/watch.hpp"
#include "support/fakes.hpp"

namespace rollcall::testing {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

class MovedClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override { return now; }
  [[nodiscard]] std::int64_t unix_ns() const override { return 1'700'000'000 * kSecondNs + now; }
  std::int64_t now = kSecondNs;
};

// Hands out what was scripted; where nothing is, waiting moves the clock to the deadline.
class ScriptedWatcher final : public Watcher {
 public:
  explicit ScriptedWatcher(std::shared_ptr<MovedClock> clock) : clock_(std::move(clock)) {}

  [[nodiscard]] Result<WatchOutcome> add_process(std::uint64_t id, std::int64_t pid,
                                                 const Judge& judge, const Call&) override {
    steps.push_back("pin " + std::to_string(pid));
    if (processes.size() >= most_processes) {
      return WatchOutcome{WatchResult::kLimit, "no more descriptors", 24};
    }
    switch (judge.judge(pinned ? pinned(pid) : test::present(pid, "78475"))) {
      case ProcessState::kGone:
        return WatchOutcome{WatchResult::kGone, "gone", 0};
      case ProcessState::kUnverified:
        return WatchOutcome{WatchResult::kUnverified, "in doubt", 0};
      case ProcessState::kAlive:
        break;
    }
    processes[pid] = id;
    return WatchOutcome{WatchResult::kWatched, {}, 0};
  }
  [[nodiscard]] Result<WatchOutcome> add_directory(std::uint64_t id, std::string_view path,
                                                   const Call&) override {
    steps.push_back("arm " + std::string(path));
    if (!no_directories.empty()) return WatchOutcome{WatchResult::kLimit, no_directories, 28};
    folder = id;
    return WatchOutcome{WatchResult::kWatched, {}, 0};
  }
  [[nodiscard]] Status remove(std::uint64_t id) override {
    std::erase_if(processes, [id](const auto& one) { return one.second == id; });
    return {};
  }
  [[nodiscard]] Result<std::vector<KernelEvent>> wait(const Call& call) override {
    if (!failure.empty()) return fail(ErrorCode::kIo, failure);
    if (!events.empty()) return std::exchange(events, {});
    if (call.deadline_ns != kNoDeadline) clock_->now = std::max(clock_->now, call.deadline_ns);
    return std::vector<KernelEvent>{};
  }
  void wake() override {}

  void ended(std::int64_t pid) {
    events.push_back({KernelEventKind::kEnded, processes.at(pid), {}});
  }
  void changed(std::string name) {
    events.push_back({KernelEventKind::kChanged, folder, std::move(name)});
  }

  std::vector<std::string> steps;
  std::map<std::int64_t, std::uint64_t> processes;  // pid to id
  std::uint64_t folder = 0;
  std::vector<KernelEvent> events;
  std::size_t most_processes = 1000;
  std::string no_directories;
  std::string failure;
  std::function<Observation(std::int64_t pid)> pinned;  // what a pin reads; empty: it is there

 private:
  std::shared_ptr<MovedClock> clock_;
};

// A store in a folder, which can fail, and notes when it is read.
class FolderStore final : public test::MemoryStore {
 public:
  [[nodiscard]] Result<std::vector<StoredRecord>> list(const Call& call) override {
    ++lists;
    if (before_list) before_list();
    if (!problem.empty()) return fail(ErrorCode::kIo, problem);
    return MemoryStore::list(call);
  }
  [[nodiscard]] std::optional<StorePlace> place() const override {
    return StorePlace{"/records", true};
  }
  std::string problem;
  int lists = 0;
  std::function<void()> before_list;
};

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    Registry::Options options;
    options.store = store;
    options.probe = probe;
    options.clock = clock;
    options.home = HomeKind::kLocal;
    registry = std::move(*Registry::open(std::move(options)));
  }
  void put(const std::string& id, std::int64_t pid, const std::string& name = "worker") const {
    Record record;
    record.session_id = id;
    record.process.pid = pid;
    record.process.start_token = "78475";
    record.process.boot_id = "boot-a";
    record.name = name;
    record.version = "1";
    record.workdir = "/";
    record.started_at = "2026-09-15T21:54:57Z";
    store->put(id, *serialize_record(record));
  }
  void runs(std::int64_t pid) const { probe->answer(pid, {test::present(pid, "78475")}); }
  void dies(std::int64_t pid) const { probe->answer(pid, {test::absent(pid)}); }

  // Begins, and takes what there is at the beginning.
  std::vector<std::string> begin(const std::function<void(Watch::Options&)>& tweak = {}) {
    Watch::Options options;
    options.stores.push_back({"rollcall", registry.get(), store});
    options.clock = clock;
    options.watcher = watcher;
    if (tweak) tweak(options);
    auto opened = Watch::open(std::move(options), {});
    EXPECT_TRUE(opened) << opened.error().message;
    if (!opened) return {};
    watch = std::move(*opened);
    return next(0);
  }
  // What comes within so long, as "gone web" or "(overflow)".
  std::vector<std::string> next(std::int64_t within_ns = kSecondNs) {
    Call call;
    call.deadline_ns = clock->now + within_ns;
    const auto items = watch->next(call);
    EXPECT_TRUE(items) << items.error().message;
    std::vector<std::string> told;
    if (!items) return told;
    last = *items;
    for (const WatchItem& item : *items) {
      told.push_back(item.notice ? "(" + std::string(to_text(item.notice->kind)) + ")"
                                 : item.kind + " " + item.event.session_id);
    }
    return told;
  }

  std::shared_ptr<MovedClock> clock = std::make_shared<MovedClock>();
  std::shared_ptr<test::FakeProbe> probe = std::make_shared<test::FakeProbe>();
  std::shared_ptr<FolderStore> store = std::make_shared<FolderStore>();
  std::shared_ptr<ScriptedWatcher> watcher = std::make_shared<ScriptedWatcher>(clock);
  std::unique_ptr<Registry> registry;
  std::vector<WatchItem> last;
  std::unique_ptr<Watch> watch;
};

}  // namespace rollcall::testing
