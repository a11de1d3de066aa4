// The guard on a POSIX system: only in the process that made it, whatever was forked.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/close_on_exec_posix.hpp"
#include "core/process_mark.hpp"
#include "registry/posix_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(Registration, SurvivesAForkedChildThatReturnsOrCrashes) {
  const Home home;
  auto holder = std::make_unique<Registration>(guard(home, "a"));
  auto returning = Child::run([&] {
    holder.reset();  // as when main returns
    return fs::exists(home.record("a")) ? 0 : 1;
  });
  EXPECT_EQ(returning.wait(), 0);
  auto releasing = Child::run([&] {
    const auto released = holder->release();
    return !released && released.error().code == ErrorCode::kRefused ? 0 : 1;
  });
  EXPECT_EQ(releasing.wait(), 0);
  auto crashing = Child::run([]() -> int {
    ::signal(SIGABRT, SIG_DFL);
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_TRUE(crashing.wait());
  EXPECT_TRUE(fs::exists(home.record("a")));
  holder.reset();
  EXPECT_FALSE(fs::exists(home.record("a")));
}

TEST(Registration, LeavesTheIdFreeAfterItsProcessWasKilledBesideAProgramItStarted) {
  const Home home;
  int ready[2];
  ASSERT_EQ(core::open_pipe(ready), 0);
  auto session = Child::run([&] {
    const Registration registration = guard(home, "a");
    const auto inner = Child::sleeper();
    const pid_t pid = inner.pid();
    static_cast<void>(::write(ready[1], &pid, sizeof pid));
    ::pause();
    return 0;
  });
  pid_t inner = 0;
  ASSERT_EQ(::read(ready[0], &inner, sizeof inner), static_cast<ssize_t>(sizeof inner));
  for (const std::string& file : open_files_of(inner)) {
    EXPECT_EQ(file.find(home.path().string()), std::string::npos) << file;
  }
  session.signal(SIGKILL);
  ASSERT_TRUE(session.wait());
  const auto store = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 5'000; });
  const auto stored = store->read("a", {}).value();
  EXPECT_TRUE(store->replace_if("a", stored.version, record_bytes("a", "next"), {}));
  end_orphan(inner);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(ProcessMark, KnowsAForkedChild) {
  const core::ProcessMark mark;
  EXPECT_TRUE(mark.in_same_process());
  auto child = Child::run([&] { return mark.in_same_process() ? 1 : 0; });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace rollcall
