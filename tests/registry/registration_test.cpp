// The guard: it removes only what it wrote, and only in the process that made it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/process_mark.hpp"
#include "registry/store_fixture.hpp"
#include "rollcall/registration.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

Registration guard(const Home& home, std::string_view id, std::string_view name = "worker") {
  const auto store = home.open();
  EXPECT_TRUE(store->create_if_absent(id, record_bytes(id, name), {}));
  return Registration::adopt(store, std::string(id), store->read(id, {}).value().version);
}

TEST(Registration, StandsForAsLongAsItsGuardLives) {
  const Home home;
  {
    const Registration registration = guard(home, "a");
    EXPECT_TRUE(registration.active());
    EXPECT_EQ(registration.session_id(), "a");
    EXPECT_TRUE(fs::exists(home.record("a")));
  }
  EXPECT_FALSE(fs::exists(home.record("a")));
}

TEST(Registration, ReleasesOnceAndSaysSo) {
  const Home home;
  Registration registration = guard(home, "a");
  EXPECT_TRUE(registration.release());
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_FALSE(registration.active());
  EXPECT_FALSE(registration.release());
  EXPECT_TRUE(registration.session_id().empty());
}

TEST(Registration, RemovesItsRecordAlsoWhereALinkWasMadeToIt) {
  const Home home;
  Registration registration = guard(home, "a");
  const std::string version = home.open()->read("a", {})->version;
  const auto copy = home.dir().path() / "backup";
  fs::create_hard_link(home.record("a"), copy);
  // Whoever judged it before it changed has to judge it anew.
  EXPECT_EQ(home.open()->remove_if("a", version, {}).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(registration.release());
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_EQ(slurp(copy), record_bytes("a"));
}

TEST(Registration, LeavesARecordThatWasRewrittenInPlace) {
  const Home home;
  Registration registration = guard(home, "a");
  std::ofstream(home.record("a")) << record_bytes("a", "wOrker");  // as long as it was
  EXPECT_EQ(registration.release().error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "wOrker"));
}

TEST(Registration, MovesItsChargeAlong) {
  const Home home;
  Registration first = guard(home, "a");
  Registration second = std::move(first);
  EXPECT_FALSE(first.active());  // NOLINT(bugprone-use-after-move): what is asked
  EXPECT_TRUE(fs::exists(home.record("a")));
  second = guard(home, "b");
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_TRUE(fs::exists(home.record("b")));
}

TEST(Registration, LeavesTheRecordOnceDetached) {
  const Home home;
  {
    Registration registration = guard(home, "a");
    registration.detach();
    EXPECT_FALSE(registration.active());
  }
  EXPECT_TRUE(fs::exists(home.record("a")));
}

TEST(Registration, LeavesARecordAndATokenThatAnotherWroteSince) {
  const Home home;
  const auto store = home.open();
  Registration control = Registration::adopt_control(
      store, "s", store->write_control("s", "first", false, {}).value());
  Registration record = guard(home, "s", "first");
  // Another takes the id over: its token, then its record.
  ASSERT_TRUE(store->write_control("s", "second", true, {}));
  ASSERT_TRUE(
      store->replace_if("s", store->read("s", {})->version, record_bytes("s", "second"), {}));
  EXPECT_EQ(record.release().error().code, ErrorCode::kConflict);
  EXPECT_EQ(control.release().error().code, ErrorCode::kConflict);
  EXPECT_FALSE(record.active());
  EXPECT_EQ(slurp(home.record("s")), record_bytes("s", "second"));
  EXPECT_EQ(*store->read_control("s", {}), "second");
}

TEST(Registration, RemovesTheTokenWithTheRecordWhicheverGuardGoesFirst) {
  for (const bool record_first : {true, false}) {
    const Home home;
    const auto store = home.open();
    Registration control = Registration::adopt_control(
        store, "s", store->write_control("s", "t0ken", false, {}).value());
    Registration record = guard(home, "s");
    if (record_first) {
      EXPECT_TRUE(record.release());
      EXPECT_TRUE(names_in(home.running()).empty());
      EXPECT_EQ(control.release().error().code, ErrorCode::kNotFound);
    } else {
      EXPECT_TRUE(control.release());
      EXPECT_TRUE(record.release());
    }
    EXPECT_TRUE(names_in(home.running()).empty());
  }
}

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

TEST(Registration, TriesAgainWhereTheLockWasHeld) {
  const Home home;
  const auto store = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 10; });
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  Registration registration = Registration::adopt(store, "a", store->read("a", {}).value().version);
  auto holder = std::make_unique<Child>(Child::run([&] {
    const int lock = ::open((home.path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
    if (::flock(lock, LOCK_EX) != 0) return 1;
    ::pause();
    return 0;
  }));
  // The lock is held once our own attempt at it fails.
  ASSERT_TRUE(wait_until([&] {
    return store->remove_control_if("none", "v", {}).error().code == ErrorCode::kTimeout;
  }));
  EXPECT_EQ(registration.release().error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(registration.active());
  holder.reset();
  ASSERT_TRUE(wait_until([&] { return registration.release().has_value(); }));
  EXPECT_FALSE(fs::exists(home.record("a")));
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
