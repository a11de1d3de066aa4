// The guard on a POSIX system: only in the process that made it, whatever was forked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>

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
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
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
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(inner) + "/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error);
    EXPECT_EQ(target.find(home.path().string()), std::string::npos) << target;
  }
  session.signal(SIGKILL);
  ASSERT_TRUE(session.wait());
  const auto store = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 5'000; });
  const auto stored = store->read("a", {}).value();
  EXPECT_TRUE(store->replace_if("a", stored.version, record_bytes("a", "next"), {}));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(ProcessMark, KnowsAForkedChild) {
  const core::ProcessMark mark;
  EXPECT_TRUE(mark.in_same_process());
  auto child = Child::run([&] { return mark.in_same_process() ? 1 : 0; });
  EXPECT_EQ(child.wait(), 0);
}

TEST(ProcessMark, KnowsAChildThatHasTheSamePidInItsOwnNamespace) {
  auto outer = Child::run([] {
    if (::unshare(CLONE_NEWPID) != 0) return 77;
    // The first child is pid 1 of a namespace; its own first child in another one is pid 1, too.
    auto first = Child::run([] {
      const core::ProcessMark mark;
      if (::unshare(CLONE_NEWPID) != 0) return 77;
      auto second = Child::run([&] {
        if (::getpid() != 1) return 78;
        return mark.in_same_process() ? 1 : 0;
      });
      const auto status = second.wait();
      return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 79;
    });
    const auto status = first.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 79;
  });
  const auto status = outer.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "a pid namespace of our own needs root";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

}  // namespace
}  // namespace rollcall
