// What the watcher is told, and what it makes of it.
#include "backends/macos/watcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/macos/slots.hpp"
#include "macos_support.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {
namespace {

const char* const kRecorded = "1700000100.000042";
constexpr std::int64_t kLong = 20'000;

class MacWatcher : public MacTest {
 protected:
  MacWatcher() { mac.add(77, 1'700'000'100, 42); }
  void SetUp() override {
    MacTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_NE(backend.watch, nullptr) << "the dylib is of an earlier build";
    open();
  }
  void TearDown() override { shut(); }

  void open() {
    if (GetParam() == Build::kSource) {
      watcher_ = std::make_unique<macos_backend::Watcher>(mac.system());
      ASSERT_TRUE(watcher_->ready().ok());
      self_ = macos_backend::instance_of(*watcher_);
    } else {
      ASSERT_EQ(backend.watch->create(nullptr, 0, &self_, nullptr), ROLLCALL_OK);
    }
  }
  void shut() {
    if (watcher_ == nullptr && self_ != nullptr) backend.watch->destroy(self_);
    watcher_.reset();
    self_ = nullptr;
  }

  struct Added {
    std::int32_t code = 0;
    std::uint32_t outcome = 0;
    std::int64_t os_code = 0;
    std::string reason;
  };
  template <class Add>
  Added added(const Add& add) {
    rollcall_watch_outcome out = {};
    out.struct_size = sizeof out;
    Added done;
    done.code = add(&out);
    done.outcome = out.outcome;
    done.os_code = out.os_code;
    done.reason.assign(out.reason, out.reason_size);
    return done;
  }
  Added add(std::uint64_t id, std::int64_t pid = 77, const JudgeFunction& judge = nullptr) {
    const JudgeFunction asked = judge ? judge : expects(kRecorded);
    rollcall_judge raw = {};
    raw.struct_size = sizeof raw;
    raw.wants = kToken;
    raw.context = const_cast<JudgeFunction*>(&asked);
    raw.judge = [](void* context, const rollcall_observation* seen) {
      return (*static_cast<const JudgeFunction*>(context))(*seen);
    };
    return added([&](rollcall_watch_outcome* out) {
      return backend.watch->add_process(self_, id, pid, &raw, out, nullptr, nullptr);
    });
  }
  Added add(std::uint64_t id, const std::filesystem::path& path) {
    const std::string text = path.string();
    return added([&](rollcall_watch_outcome* out) {
      return backend.watch->add_directory(self_, id, {text.data(), text.size()}, out, nullptr,
                                          nullptr);
    });
  }
  std::int32_t remove(std::uint64_t id) { return backend.watch->remove(self_, id, nullptr); }

  // "ended 7", "changed 7", "lost 7" of one wait.
  std::vector<std::string> wait(std::int64_t ms = kLong, std::size_t room = 8) {
    std::vector<rollcall_watch_event> events(room);
    rollcall_watch_batch batch = {sizeof batch, sizeof events[0], room, 0, events.data()};
    const auto call = bounded(mac, ms);
    EXPECT_EQ(backend.watch->wait(self_, &batch, &call, nullptr), ROLLCALL_OK);
    const char* const kKinds[] = {"?", "ended ", "changed ", "lost ", "overflow "};
    std::vector<std::string> told;
    for (std::size_t i = 0; i < batch.count; ++i) {
      EXPECT_EQ(events[i].name_size, 0U);
      told.push_back(kKinds[events[i].kind] + std::to_string(events[i].id));
    }
    return told;
  }
  // Before the nth call of this name from now.
  void before(const std::string& call, int nth, const std::function<void()>& act) {
    const int from = mac.counts[call];
    mac.before = [this, call, nth, from, act](const std::string& made) {
      if (made == call && mac.counts[call] == from + nth) act();
    };
  }

  using Told = std::vector<std::string>;
  void* self_ = nullptr;
  std::unique_ptr<macos_backend::Watcher> watcher_;
};

TEST_P(MacWatcher, TellsAnEndOnce) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(wait(1), Told{});
  mac.exit(77);
  EXPECT_EQ(wait(), Told{"ended 7"});
  EXPECT_EQ(wait(1), Told{});
  EXPECT_EQ(remove(7), ROLLCALL_E_NOT_FOUND);
}

TEST_P(MacWatcher, TellsAnEndThatComesWhileItWaits) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  mac.while_waiting = [&](std::int64_t) { mac.exit(77, true); };
  EXPECT_EQ(wait(), Told{"ended 7"});
}

TEST_P(MacWatcher, TellsAnEndOnlyOnceAReadingShowsIt) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  mac.exit(77);
  mac.add(77, 1'700'000'100, 42);  // not a zombie yet
  before("nanosleep", 3, [&] { mac.exit(77); });
  EXPECT_EQ(wait(), Told{"ended 7"});
  EXPECT_EQ(mac.counts["nanosleep"], 3);
}

TEST_P(MacWatcher, DoesNotWaitForEverForTheReading) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  mac.exit(77);
  mac.add(77, 1'700'000'100, 42);
  EXPECT_EQ(wait(), Told{"ended 7"});
  EXPECT_EQ(mac.counts["nanosleep"], 100);
}

TEST_P(MacWatcher, AZombieIsGone) {
  mac.exit(77);
  EXPECT_EQ(add(7).outcome, ROLLCALL_WATCH_GONE);
  EXPECT_EQ(remove(7), ROLLCALL_E_NOT_FOUND);
}

TEST_P(MacWatcher, AnEndJustBeforeArmingIsGone) {
  before("kevent", 1, [&] { mac.exit(77); });
  EXPECT_EQ(add(7).outcome, ROLLCALL_WATCH_GONE);
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, AnEndBetweenArmingAndReadingIsGoneAndNotTold) {
  before("proc_pidinfo", 2, [&] { mac.exit(77); });
  EXPECT_EQ(add(7).outcome, ROLLCALL_WATCH_GONE);
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, AnotherOnTheNumberIsGoneAndNotWatched) {
  before("kevent", 1, [&] {
    mac.exit(77, true);
    mac.add(77, 1'700'000'300, 9);
  });
  EXPECT_EQ(add(7).outcome, ROLLCALL_WATCH_GONE);
  mac.exit(77);
  EXPECT_EQ(wait(1), Told{});
}

// A judge that takes any process for the recorded one: what is watched must be what was judged.
TEST_P(MacWatcher, ANumberThatChangesHandsIsJudgedAnew) {
  before("proc_pidinfo", 2, [&] {
    mac.exit(77, true);
    mac.add(77, 1'700'000'300, 9);
  });
  std::vector<std::string> judged;
  const auto done = add(7, 77, [&](const rollcall_observation& seen) {
    judged.push_back(token_of(seen));
    return ROLLCALL_JUDGE_ALIVE;
  });
  EXPECT_EQ(done.outcome, ROLLCALL_WATCH_WATCHED) << done.reason;
  EXPECT_EQ(judged, (Told{"1700000300.000009", "1700000300.000009"}));
  EXPECT_EQ(wait(1), Told{}) << "the end of the one before is not its end";
  mac.exit(77);
  EXPECT_EQ(wait(), Told{"ended 7"});
}

TEST_P(MacWatcher, ANumberThatNeverRestsIsInDoubt) {
  std::uint64_t second = 1'700'000'300;
  mac.before = [&](const std::string& made) {
    if (made == "proc_pidinfo") mac.add(77, ++second, 9);
  };
  EXPECT_EQ(add(7, 77, [](const auto&) { return ROLLCALL_JUDGE_ALIVE; }).outcome,
            ROLLCALL_WATCH_UNVERIFIED);
  mac.before = nullptr;
  EXPECT_EQ(remove(7), ROLLCALL_E_NOT_FOUND);
}

// The kernel has one knote for a number, and would keep it on the process before.
TEST_P(MacWatcher, ASuccessorIsWatchedBesideTheEndThatIsNotYetTold) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  mac.exit(77, true);
  mac.add(77, 1'700'000'300, 9);
  ASSERT_EQ(add(8, 77, expects("1700000300.000009")).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(wait(1), Told{"ended 7"});
  EXPECT_EQ(wait(1), Told{});
  mac.exit(77);
  EXPECT_EQ(wait(), Told{"ended 8"});
}

TEST_P(MacWatcher, OneProcessUnderTwoIdsIsToldToBoth) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  ASSERT_EQ(add(8).outcome, ROLLCALL_WATCH_WATCHED);
  ASSERT_EQ(add(9).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(remove(7), ROLLCALL_OK);
  mac.exit(77);
  EXPECT_EQ(wait(), (Told{"ended 8", "ended 9"}));
}

TEST_P(MacWatcher, WhatCannotBeReadIsInDoubtAndNotWatched) {
  mac.at(77).refused = EPERM;
  const auto done = add(7);
  EXPECT_EQ(done.outcome, ROLLCALL_WATCH_UNVERIFIED);
  EXPECT_EQ(done.os_code, EPERM);
  mac.at(77).refused = 0;
  mac.exit(77);
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, AVerdictOfAliveWithoutAPresenceIsNotBelieved) {
  mac.exit(77);
  EXPECT_EQ(add(7, 77, [](const auto&) { return ROLLCALL_JUDGE_ALIVE; }).outcome,
            ROLLCALL_WATCH_UNVERIFIED);
}

TEST_P(MacWatcher, AnImpossibleNumberIsGone) {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    EXPECT_EQ(add(7, pid).outcome, ROLLCALL_WATCH_GONE) << pid;
  }
}

TEST_P(MacWatcher, WhatTheKernelHasNoMoreOfIsLimit) {
  before("kevent", 1, [&] { mac.refuse["kevent"] = ENOMEM; });
  auto done = add(7);
  EXPECT_EQ(done.outcome, ROLLCALL_WATCH_LIMIT);
  EXPECT_EQ(done.os_code, ENOMEM);
  mac.refuse["kevent"] = EACCES;
  done = add(7);
  EXPECT_EQ(done.outcome, ROLLCALL_WATCH_UNSUPPORTED);
  EXPECT_NE(done.reason.find("pid 77 cannot be watched: Permission denied"), std::string::npos)
      << done.reason;
}

TEST_P(MacWatcher, AnIdThatIsTakenIsRefused) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(add(7).code, ROLLCALL_E_EXISTS);
}

TEST_P(MacWatcher, ARemovedIdIsHeardOfNoMore) {
  const TempDir dir;
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  ASSERT_EQ(add(8, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(remove(7), ROLLCALL_OK);
  EXPECT_EQ(remove(8), ROLLCALL_OK);
  EXPECT_EQ(remove(8), ROLLCALL_E_NOT_FOUND);
  mac.exit(77);
  dir.write("a", "1");
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, TellsAFileThatIsMadeRenamedAndRemovedWithoutItsName) {
  const TempDir dir;
  ASSERT_EQ(add(7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  dir.write("a", "1");
  EXPECT_EQ(wait(), Told{"changed 7"});
  std::filesystem::rename(dir / "a", dir / "b");
  EXPECT_EQ(wait(), Told{"changed 7"});
  std::filesystem::remove(dir / "b");
  EXPECT_EQ(wait(), Told{"changed 7"});
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, AFolderThatIsRemovedIsLost) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  ASSERT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_WATCHED);
  std::filesystem::remove(dir / "folder");
  EXPECT_EQ(wait(), Told{"lost 7"});
  EXPECT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_GONE);
  EXPECT_EQ(remove(7), ROLLCALL_E_NOT_FOUND);
}

TEST_P(MacWatcher, AFolderThatIsRenamedIsLostAndCanBeAddedAnew) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  ASSERT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_WATCHED);
  std::filesystem::rename(dir / "folder", dir / "elsewhere");
  EXPECT_EQ(wait(), Told{"lost 7"});
  std::filesystem::create_directory(dir / "folder");
  ASSERT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_WATCHED);
  dir.write("folder/a", "1");
  dir.write("elsewhere/a", "1");
  EXPECT_EQ(wait(), Told{"changed 7"});
  EXPECT_EQ(wait(1), Told{});
}

TEST_P(MacWatcher, AddingAFolderAgainWatchesWhatStandsThereNow) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  ASSERT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_WATCHED);
  std::filesystem::rename(dir / "folder", dir / "elsewhere");
  std::filesystem::create_directory(dir / "folder");
  const int closed = mac.counts["close"];
  ASSERT_EQ(add(7, dir / "folder").outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(mac.counts["close"], closed + 1);
  dir.write("elsewhere/a", "1");
  EXPECT_EQ(wait(1), Told{});
  dir.write("folder/a", "1");
  EXPECT_EQ(wait(), Told{"changed 7"});
}

TEST_P(MacWatcher, ALinkToAFolderIsNotFollowed) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  std::filesystem::create_directory_symlink(dir / "folder", dir / "link");
  EXPECT_EQ(add(7, dir / "link").outcome, ROLLCALL_WATCH_UNSUPPORTED);
}

TEST_P(MacWatcher, AFolderThatIsNotThereIsGoneAndARelativePathIsRefused) {
  const TempDir dir;
  EXPECT_EQ(add(7, dir / "none").outcome, ROLLCALL_WATCH_GONE);
  for (const std::string& path : {std::string(), std::string("a"), "/" + std::string(5000, 'a')}) {
    EXPECT_EQ(add(7, path).code, ROLLCALL_E_INVALID) << path.size();
  }
}

TEST_P(MacWatcher, LeavesTheLastDescriptorsToOthers) {
  const TempDir dir;
  mac.next_descriptor = 256 - macos_backend::Watcher::kReserve - 1;
  EXPECT_EQ(add(7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  const int closed = mac.counts["close"];
  const auto done = add(8, dir.path());
  EXPECT_EQ(done.outcome, ROLLCALL_WATCH_LIMIT);
  EXPECT_EQ(done.os_code, EMFILE);
  EXPECT_EQ(mac.counts["close"], closed + 1) << "it is given back";
  mac.refuse["open"] = ENFILE;
  EXPECT_EQ(add(8, dir.path()).outcome, ROLLCALL_WATCH_LIMIT);
}

TEST_P(MacWatcher, GivesWhatHasRoomAndKeepsTheRest) {
  const TempDir dir;
  for (std::uint64_t id = 1; id <= 200; ++id) {
    mac.add(static_cast<int>(1000 + id), 1'700'000'100, 42);
    ASSERT_EQ(add(id, static_cast<std::int64_t>(1000 + id)).outcome, ROLLCALL_WATCH_WATCHED);
  }
  ASSERT_EQ(add(500, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  for (int pid = 1001; pid <= 1200; ++pid) mac.exit(pid);
  dir.write("a", "1");
  Told told;
  for (int i = 0; i < 41; ++i) {
    for (const auto& one : wait(1, 5)) told.push_back(one);
  }
  ASSERT_EQ(told.size(), 201U);
  EXPECT_EQ(told[0], "ended 1");
  EXPECT_EQ(told[199], "ended 200");
  EXPECT_EQ(told[200], "changed 500");
}

TEST_P(MacWatcher, IsWokenFromAnotherThread) {
  std::thread other([&] { backend.watch->wake(self_); });
  const std::int64_t deadline = mac.monotonic_ns + kLong * 1'000'000;
  EXPECT_EQ(wait(), Told{});
  other.join();
  EXPECT_LT(mac.monotonic_ns, deadline);
}

TEST_P(MacWatcher, AWakeThatCameFirstEndsTheNextWaitAndNoOther) {
  backend.watch->wake(self_);
  const std::int64_t from = mac.monotonic_ns;
  EXPECT_EQ(wait(), Told{});
  EXPECT_LT(mac.monotonic_ns, from + kLong * 1'000'000);
  EXPECT_EQ(wait(1), Told{});
  EXPECT_GE(mac.monotonic_ns, from + 1'000'000);
}

TEST_P(MacWatcher, MakesOneCallWhileItWaits) {
  ASSERT_EQ(add(7).outcome, ROLLCALL_WATCH_WATCHED);
  const std::size_t from = mac.calls.size();
  EXPECT_EQ(wait(30), Told{});
  EXPECT_EQ(mac.calls.size(), from + 1);
}

TEST_P(MacWatcher, AnInterruptedWaitIsNoError) {
  mac.refuse["kevent"] = EINTR;
  EXPECT_EQ(wait(), Told{});
}

TEST_P(MacWatcher, AWaitThatFailsSaysWhy) {
  mac.refuse["kevent"] = EBADF;
  rollcall_watch_event event = {};
  rollcall_watch_batch batch = {sizeof batch, sizeof event, 1, 0, &event};
  rollcall_error error = {};
  error.struct_size = sizeof error;
  EXPECT_EQ(backend.watch->wait(self_, &batch, nullptr, &error), ROLLCALL_E_IO);
  EXPECT_EQ(error.os_code, EBADF);
  EXPECT_STREQ(error.message, "cannot wait for events: Bad file descriptor");
}

TEST_P(MacWatcher, BoundsOfTheCallAreHeeded) {
  const TempDir dir;
  const auto call = cancelled();
  rollcall_watch_event event = {};
  rollcall_watch_batch batch = {sizeof batch, sizeof event, 1, 0, &event};
  EXPECT_EQ(backend.watch->wait(self_, &batch, &call, nullptr), ROLLCALL_E_CANCELLED);
  rollcall_watch_outcome out = {};
  out.struct_size = sizeof out;
  const std::string path = dir.path().string();
  EXPECT_EQ(
      backend.watch->add_directory(self_, 7, {path.data(), path.size()}, &out, &call, nullptr),
      ROLLCALL_E_CANCELLED);
}

TEST_P(MacWatcher, NullArgumentsAndShortStridesAreInvalid) {
  rollcall_watch_event event = {};
  rollcall_watch_batch batch = {sizeof batch, sizeof event - 1, 1, 0, &event};
  EXPECT_EQ(backend.watch->wait(self_, &batch, nullptr, nullptr), ROLLCALL_E_INVALID);
  batch = {sizeof batch, sizeof event, 0, 0, &event};
  EXPECT_EQ(backend.watch->wait(self_, &batch, nullptr, nullptr), ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.watch->wait(self_, nullptr, nullptr, nullptr), ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.watch->add_process(self_, 7, 77, nullptr, nullptr, nullptr, nullptr),
            ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.watch->add_directory(nullptr, 7, {}, nullptr, nullptr, nullptr),
            ROLLCALL_E_INVALID);
  EXPECT_EQ(backend.watch->remove(nullptr, 7, nullptr), ROLLCALL_E_INVALID);
}

TEST_P(MacWatcher, GivesItsDescriptorsBack) {
  const TempDir dir;
  ASSERT_EQ(add(7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  const int closed = mac.counts["close"];
  shut();
  EXPECT_EQ(mac.counts["close"], closed + 2);  // the folder and the queue
}

TEST_P(MacWatcher, WithoutAQueueThereIsNone) {
  shut();
  mac.refuse["kqueue"] = EMFILE;
  const macos_backend::Watcher watcher(mac.system());
  EXPECT_EQ(watcher.ready().code, ROLLCALL_E_IO);
  EXPECT_EQ(watcher.ready().message.view(), "cannot make a watcher: Too many open files");
}

ROLLCALL_BOTH_BUILDS(MacWatcher);

}  // namespace
}  // namespace rollcall::testing
