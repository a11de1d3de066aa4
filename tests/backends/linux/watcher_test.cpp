// The watcher over the real kernel, and over one that runs out.
#include "backends/linux/watcher.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::linux_backend {
namespace {

using testing::Child;

rollcall_judge judge_that(std::uint32_t (*says)(void*, const rollcall_observation*)) {
  return {sizeof(rollcall_judge), ROLLCALL_WANT_START_TOKEN, nullptr, says};
}
std::uint32_t alive(void*, const rollcall_observation* seen) {
  return seen->presence == ROLLCALL_PRESENCE_PRESENT ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
}

rollcall_watch_outcome add(Watcher& watcher, std::uint64_t id, pid_t pid) {
  const rollcall_judge raw = judge_that(&alive);
  rollcall_watch_outcome out{};
  const auto status = watcher.add_process(id, pid, plugin::Judge(&raw), out, plugin::Call(nullptr));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}
rollcall_watch_outcome add(Watcher& watcher, std::uint64_t id, const std::filesystem::path& path) {
  rollcall_watch_outcome out{};
  const auto status = watcher.add_directory(id, path.string(), out, plugin::Call(nullptr));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}
std::string why(const rollcall_watch_outcome& out) { return {out.reason, out.reason_size}; }

// What one wait of at most `ms` gives.
std::vector<rollcall_watch_event> wait(Watcher& watcher, std::int64_t ms, std::size_t room = 64) {
  std::vector<rollcall_watch_event> events(room);
  rollcall_watch_batch raw{sizeof(rollcall_watch_batch), sizeof(rollcall_watch_event), room, 0,
                           events.data()};
  rollcall_call call{};
  call.struct_size = sizeof(call);
  call.deadline_ns = plugin::now_ns() + ms * 1'000'000;
  plugin::WatchBatch batch(raw);
  const auto status = watcher.wait(batch, plugin::Call(&call));
  EXPECT_TRUE(status.ok()) << status.message();
  events.resize(raw.count);
  return events;
}
std::string name_of(const rollcall_watch_event& event) { return {event.name, event.name_size}; }

TEST(Watcher, GivesWhatHasRoomAndKeepsTheRest) {
  Watcher watcher{plugin::Settings()};
  const testing::TempDir dir;
  ASSERT_EQ(add(watcher, 7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  for (const char* name : {"a", "b", "c"}) dir.write(name, "1");
  std::string names;
  for (int i = 0; i < 3; ++i) {
    const auto events = wait(watcher, 20'000, 1);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, ROLLCALL_WATCH_EVENT_CHANGED);
    names += name_of(events[0]);
  }
  EXPECT_EQ(names, "abc");
  EXPECT_TRUE(wait(watcher, 1).empty()) << "what a writer does to one file is one event";
}

TEST(Watcher, OneFolderUnderTwoIdsIsToldToBoth) {
  Watcher watcher{plugin::Settings()};
  const testing::TempDir dir;
  ASSERT_EQ(add(watcher, 7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  ASSERT_EQ(add(watcher, 8, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  dir.write("a", "1");
  EXPECT_EQ(wait(watcher, 20'000).size(), 2U);
  ASSERT_TRUE(watcher.remove(7).ok());
  dir.write("b", "1");
  const auto events = wait(watcher, 20'000);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, 8U);
}

TEST(Watcher, AFolderThatGoesIsLostAndCanBeAddedAnew) {
  Watcher watcher{plugin::Settings()};
  const testing::TempDir dir;
  const auto folder = dir / "folder";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(add(watcher, 7, folder).outcome, ROLLCALL_WATCH_WATCHED);
  std::filesystem::rename(folder, dir / "elsewhere");
  const auto events = wait(watcher, 20'000);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, ROLLCALL_WATCH_EVENT_LOST);
  EXPECT_EQ(add(watcher, 7, folder).outcome, ROLLCALL_WATCH_GONE);
  std::filesystem::create_directory(folder);
  ASSERT_EQ(add(watcher, 7, folder).outcome, ROLLCALL_WATCH_WATCHED);
  std::ofstream(folder / "a") << "1";
  EXPECT_EQ(name_of(wait(watcher, 20'000).at(0)), "a");
}

TEST(Watcher, ALinkToAFolderIsNotFollowed) {
  Watcher watcher{plugin::Settings()};
  const testing::TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  std::filesystem::create_directory_symlink(dir / "folder", dir / "link");
  EXPECT_EQ(add(watcher, 7, dir / "link").outcome, ROLLCALL_WATCH_UNSUPPORTED);
}

TEST(Watcher, IsNotWokenByAReaderOfWhatChanged) {
  Watcher watcher{plugin::Settings()};
  const testing::TempDir dir;
  dir.write("a", "1");
  ASSERT_EQ(add(watcher, 7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  EXPECT_EQ(testing::slurp(dir / "a"), "1");
  EXPECT_TRUE(wait(watcher, 20).empty());
}

TEST(Watcher, ARemovedIdIsHeardOfNoMore) {
  Watcher watcher{plugin::Settings()};
  Child child = Child::sleeper();
  ASSERT_EQ(add(watcher, 7, child.pid()).outcome, ROLLCALL_WATCH_WATCHED);
  ASSERT_TRUE(watcher.remove(7).ok());
  EXPECT_EQ(watcher.remove(7).code(), ROLLCALL_E_NOT_FOUND);
  child.signal(SIGKILL);
  ASSERT_TRUE(child.wait());
  EXPECT_TRUE(wait(watcher, 20).empty());
}

TEST(Watcher, AnIdThatIsTakenIsRefused) {
  Watcher watcher{plugin::Settings()};
  Child child = Child::sleeper();
  ASSERT_EQ(add(watcher, 7, child.pid()).outcome, ROLLCALL_WATCH_WATCHED);
  const rollcall_judge raw = judge_that(&alive);
  rollcall_watch_outcome out{};
  EXPECT_EQ(
      watcher.add_process(7, child.pid(), plugin::Judge(&raw), out, plugin::Call(nullptr)).code(),
      ROLLCALL_E_EXISTS);
}

TEST(Watcher, AWakeThatCameFirstEndsTheNextWait) {
  Watcher watcher{plugin::Settings()};
  watcher.wake();
  EXPECT_TRUE(wait(watcher, 60'000).empty());
}

TEST(Watcher, ClosesWhatItOpened) {
  const std::size_t before = testing::open_descriptors();
  Child child = Child::sleeper();
  {
    Watcher watcher{plugin::Settings()};
    const testing::TempDir dir;
    ASSERT_EQ(add(watcher, 7, child.pid()).outcome, ROLLCALL_WATCH_WATCHED);
    ASSERT_EQ(add(watcher, 8, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  }
  EXPECT_EQ(testing::open_descriptors(), before);
}

System changed(void (*change)(System&)) {
  System system = linux_system();
  change(system);
  return system;
}

TEST(Watcher, SaysThatWatchesAreUsedUp) {
  static const System system = changed([](System& one) {
    one.inotify_add_watch = [](int, const char*, std::uint32_t) {
      errno = ENOSPC;
      return -1;
    };
  });
  Watcher watcher(plugin::Settings(), system);
  const auto out = add(watcher, 7, std::filesystem::path("/"));
  EXPECT_EQ(out.outcome, ROLLCALL_WATCH_LIMIT);
  EXPECT_NE(why(out).find("max_user_watches"), std::string::npos) << why(out);
}

TEST(Watcher, WatchesProcessesWhereThereIsNoInotify) {
  static const System system = changed([](System& one) {
    one.inotify_init1 = [](int) {
      errno = EMFILE;
      return -1;
    };
  });
  Watcher watcher(plugin::Settings(), system);
  EXPECT_EQ(add(watcher, 7, std::filesystem::path("/")).outcome, ROLLCALL_WATCH_LIMIT);
  Child child = Child::sleeper();
  ASSERT_EQ(add(watcher, 8, child.pid()).outcome, ROLLCALL_WATCH_WATCHED);
  child.signal(SIGKILL);
  EXPECT_EQ(wait(watcher, 20'000).at(0).kind, ROLLCALL_WATCH_EVENT_ENDED);
}

TEST(Watcher, LeavesDescriptorsToOthers) {
  static const System system = changed([](System& one) {
    one.getrlimit = [](int, struct rlimit* out) {
      *out = {70, 70};
      return 0;
    };
  });
  Watcher watcher(plugin::Settings(), system);  // of which 64 are others'
  Child child = Child::sleeper();
  const std::size_t before = testing::open_descriptors();
  const auto out = add(watcher, 7, child.pid());
  EXPECT_EQ(out.outcome, ROLLCALL_WATCH_LIMIT);
  EXPECT_NE(why(out).find("ulimit -n"), std::string::npos) << why(out);
  EXPECT_EQ(testing::open_descriptors(), before);
}

TEST(Watcher, SaysThatThisKernelCannotPin) {
  static const System system = changed([](System& one) {
    one.pidfd_open = [](pid_t, unsigned) {
      errno = ENOSYS;
      return -1;
    };
  });
  Watcher watcher(plugin::Settings(), system);
  Child child = Child::sleeper();
  const auto out = add(watcher, 7, child.pid());
  EXPECT_EQ(out.outcome, ROLLCALL_WATCH_UNSUPPORTED);
  EXPECT_EQ(out.os_code, ENOSYS);
}

TEST(Watcher, AnOverflowIsToldAsOne) {
  static const System system = changed([](System& one) {
    one.inotify_add_watch = [](int fd, const char* path, std::uint32_t mask) {
      return ::inotify_add_watch(fd, path, mask);
    };
    one.read = [](int fd, void* buffer, std::size_t size) -> ssize_t {
      const ssize_t got = ::read(fd, buffer, size);
      if (got < static_cast<ssize_t>(sizeof(inotify_event))) return got;
      auto* event = static_cast<inotify_event*>(buffer);
      *event = {};
      event->wd = -1;
      event->mask = IN_Q_OVERFLOW;
      return sizeof(inotify_event);
    };
  });
  Watcher watcher(plugin::Settings(), system);
  const testing::TempDir dir;
  ASSERT_EQ(add(watcher, 7, dir.path()).outcome, ROLLCALL_WATCH_WATCHED);
  dir.write("a", "1");
  const auto events = wait(watcher, 20'000);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, ROLLCALL_WATCH_EVENT_OVERFLOW);
  EXPECT_EQ(events[0].id, 0U);
}

}  // namespace
}  // namespace rollcall::linux_backend
