// Sentinel files of real processes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sentinels/sentinel_file_fixture.hpp"
#include "support/fakes.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(SentinelFile, NamesAProcessForAsLongAsItRuns) {
  EXPECT_EQ(check().state, SentinelState::kNone);
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  EXPECT_EQ(slurp(file),
            std::to_string(child.pid()) + ":" + *self.boot_id + ":" + child.start_token() + "\n");
  EXPECT_EQ(check().state, SentinelState::kAlive);
  child.kill();
  ASSERT_TRUE(child.wait());
  EXPECT_EQ(check().state, SentinelState::kDead);
  EXPECT_EQ(check().code, Reason::kNoProcess);
}

// 86400: as a boot id, a text like any other; as a boot time, a day of 1970.
TEST_F(SentinelFile, OfAnotherBootIsDead) {
  put(std::to_string(self.pid) + ":86400:" + self.start_token);
  if (check().state == SentinelState::kUnknown) GTEST_SKIP() << "TMPDIR is on a shared system";
  EXPECT_EQ(check().state, SentinelState::kDead);
  EXPECT_EQ(check().code, Reason::kRebooted);
}

TEST_F(SentinelFile, WithABomBlanksAndCrLfIsRead) {
  const auto text = format_sentinel(self).value();
  put("\xEF\xBB\xBF  " + text + " \r\n\r\n");
  EXPECT_EQ(check().state, SentinelState::kAlive) << check().reason;
}

TEST_F(SentinelFile, ThatIsNoSentinelIsUnknown) {
  const std::string boot = *self.boot_id;
  for (const std::string& bytes : std::vector<std::string>{
           std::string(), std::string(4096, '\0'), std::string("4242\n"), std::string("4242:b"),
           "0:" + boot + ":1", "-1:" + boot + ":1", "+5:" + boot + ":1", "007:" + boot + ":1",
           "2147483648:" + boot + ":1", " 4 2:" + boot + ":1", "42::1", "42:" + boot + ":",
           "42:" + boot + ":1 2", "42:" + boot + ":1\n43:" + boot + ":2"}) {
    put(bytes);
    EXPECT_EQ(check().state, SentinelState::kUnknown) << bytes;
    EXPECT_NE(check().reason, "") << bytes;
  }
}

TEST_F(SentinelFile, InWhosePlaceAFolderStandsIsUnknownAndNotReplaced) {
  fs::create_directory(dir / "web.pid");
  EXPECT_EQ(check().state, SentinelState::kUnknown);
  EXPECT_EQ(write(self.pid, SentinelReplace::kAlways).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(fs::is_directory(dir / "web.pid"));
}

TEST_F(SentinelFile, IsUnknownWhereTheProbeCannotBeAsked) {
  class Broken : public test::FakeProbe {
   public:
    [[nodiscard]] Status observe(std::span<const Ask>, std::span<Observation>,
                                 const Call&) override {
      return fail(ErrorCode::kNotFound, "no such thing");
    }
  };
  Broken broken;
  ASSERT_TRUE(write(self.pid));
  EXPECT_EQ(check_sentinel(file, broken, {}).state, SentinelState::kUnknown);
}

TEST_F(SentinelFile, TakesThePlaceOfADeadOneOnly) {
  Child first = Child::sleeper();
  Child second = Child::sleeper();
  ASSERT_TRUE(write(first.pid()));
  const auto refused = write(second.pid());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  first.kill();
  first.wait();
  ASSERT_TRUE(write(second.pid()));
  EXPECT_EQ(check().identity->pid, second.pid());
  put("nonsense");
  EXPECT_FALSE(write(second.pid()));
  EXPECT_TRUE(write(second.pid(), SentinelReplace::kAlways));
  EXPECT_EQ(names_in(dir.path()), std::vector<std::string>{"web.pid"}) << "nothing is left over";
}

TEST_F(SentinelFile, IsRemovedByItsOwnProcessOnly) {
  Child child = Child::sleeper();
  ASSERT_TRUE(write(child.pid()));
  EXPECT_EQ(remove_sentinel(file, self).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(remove_sentinel(file, identity_of(child.pid())));
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace rollcall
