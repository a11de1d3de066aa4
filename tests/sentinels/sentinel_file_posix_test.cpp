// Sentinel files on a POSIX system: zombies, links, modes, and many starters at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"
#include "sentinels/one_winner.hpp"
#include "sentinels/sentinel_file_fixture.hpp"

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

bool as_it_is() { return true; }

TEST_F(SentinelFile, HasOneWinnerOfManyStarters) { expect_one_winner(rig, file, as_it_is); }

TEST_F(SentinelFile, HasOneWinnerOfManyStartersInPlaceOfADeadOne) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  child.kill();
  child.wait();
  expect_one_winner(rig, file, as_it_is);
}

}  // namespace
}  // namespace rollcall
