// Sentinel files on a POSIX system: zombies, reused pids, links, modes, and many starters at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"
#include "sentinels/sentinel_file_fixture.hpp"
#include "support/forced_pid.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(SentinelFile, OfAZombieIsDead) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  child.kill();
  ASSERT_TRUE(wait_until([&] { return state_of(child.pid()) == 'Z'; }));
  EXPECT_EQ(check().state, SentinelState::kDead);
}

TEST_F(SentinelFile, IsNotFooledByAnotherProcessOnThePid) {
  if (!can_force_pids()) GTEST_SKIP() << "this user may not choose pids";
  Child child = Child::sleeper();
  const pid_t pid = child.pid();
  ASSERT_TRUE(write(pid));
  const std::string token = start_token_of(pid);
  child.kill();
  child.wait();
  // The start is counted in ticks of 10 ms: the next process has to begin in another one.
  Child next;
  ASSERT_TRUE(wait_until([&] {
    next = Child();
    next = sleeper_with_pid(pid);
    return next.pid() == pid && start_token_of(pid) != token;
  }));
  const auto report = check();
  EXPECT_EQ(report.state, SentinelState::kDead) << report.reason;
  EXPECT_EQ(report.code, Reason::kOtherProcess);
}

TEST_F(SentinelFile, ThatCannotBeReadIsUnknownAndNeverWaitedFor) {
  const auto is_unknown = [&] {
    const auto begun = std::chrono::steady_clock::now();
    const auto report = check();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    fs::remove(file);
    return report.state == SentinelState::kUnknown && !report.reason.empty();
  };
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_TRUE(is_unknown());
  fs::create_symlink("/dev/zero", file);
  EXPECT_TRUE(is_unknown());
  put("");
  fs::resize_file(file, std::uintmax_t{10} << 30);
  EXPECT_TRUE(is_unknown());
  dir.write("real", format_sentinel(self).value());
  fs::create_symlink(dir / "real", file);
  EXPECT_TRUE(is_unknown()) << "not through a link";
}

TEST_F(SentinelFile, WithoutPermissionIsUnknown) {
  put("x");
  ::chmod(file.c_str(), 0);
  const int code =
      run_as_ordinary_user(dir, [&] { return check().state == SentinelState::kUnknown ? 0 : 1; });
  EXPECT_EQ(code, 0);
}

TEST_F(SentinelFile, ReplacesALinkAndNeverItsTarget) {
  dir.write("victim", "precious");
  fs::create_symlink(dir / "victim", file);
  EXPECT_FALSE(write(self.pid));
  ASSERT_TRUE(write(self.pid, SentinelReplace::kAlways));
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(slurp(dir / "victim"), "precious");
}

TEST_F(SentinelFile, ReplacesNoFifo) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(write(self.pid, SentinelReplace::kAlways).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(fs::is_fifo(file));
}

TEST_F(SentinelFile, IsReadableByOthersLessTheUmask) {
  const mode_t before = ::umask(022);
  ASSERT_TRUE(write(self.pid));
  ::umask(before);
  EXPECT_EQ(mode_of(file), 0644U);
}

TEST_F(SentinelFile, OfAFullDiskIsAnErrorAndTheOldOneStays) {
  put("old");
  Child child = Child::run([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    return write(self.pid, SentinelReplace::kAlways) ? 1 : 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(slurp(file), "old");
  EXPECT_EQ(names_in(dir.path()), std::vector<std::string>{"web.pid"});
}

// `special`: whether the file system swaps names and renames without replacing.
void expect_one_winner(const SentinelFile&, const test::Rig& rig, const std::string& file,
                       bool special) {
  constexpr int kStarters = 20;
  std::array<int, 2> said{};
  std::array<int, 2> done{};
  ASSERT_EQ(::pipe(said.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  std::vector<Child> starters;
  for (int i = 0; i < kStarters; ++i) {
    starters.push_back(Child::run([&] {
      ::close(done[1]);
      if (!special && !deny_special_renames()) return 3;
      const auto self = identify_self(*rig.probe, {}).value();
      const auto written = write_sentinel(file, self, SentinelReplace::kIfDead, *rig.probe, {});
      const char word = written ? 'w' : 'l';
      if (::write(said[1], &word, 1) != 1) return 1;
      char end = 0;
      (void)!::read(done[0], &end, 1);
      return 0;
    }));
  }
  ::close(done[0]);
  std::string words;
  for (int i = 0; i < kStarters; ++i) {
    char word = 0;
    ASSERT_EQ(::read(said[0], &word, 1), 1);
    words += word;
  }
  EXPECT_EQ(std::count(words.begin(), words.end(), 'w'), 1) << words;
  EXPECT_EQ(check_sentinel(file, *rig.probe, {}).state, SentinelState::kAlive);
  ::close(done[1]);
  for (Child& starter : starters) EXPECT_EQ(starter.wait(), 0);
  ::close(said[0]);
  ::close(said[1]);
}

TEST_F(SentinelFile, HasOneWinnerOfManyStarters) { expect_one_winner(*this, rig, file, true); }

TEST_F(SentinelFile, HasOneWinnerOfManyStartersInPlaceOfADeadOne) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  child.kill();
  child.wait();
  expect_one_winner(*this, rig, file, true);
}

TEST_F(SentinelFile, HasOneWinnerWhereNoNamesAreSwapped) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  child.kill();
  child.wait();
  expect_one_winner(*this, rig, file, false);
}

}  // namespace
}  // namespace rollcall
