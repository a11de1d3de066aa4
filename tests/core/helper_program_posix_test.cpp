#include "core/helper_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/process.hpp"

namespace rollcall::core {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

Result<HelperOutput> run(const std::string& script, HelperLimits limits = {}) {
  return run_helper({"sh", "-c", script}, limits, *system_clock(), {});
}

TEST(Helper, GivesWhatTheProgramWrote) {
  const auto output = run("echo out; echo err >&2; cat");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_FALSE(output->cut);
}

TEST(Helper, DrainsBothPipesTogetherAndCutsThem) {
  const auto output =
      run("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo end", {.max_bytes = 1000});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out.size(), 1000U);
  EXPECT_EQ(output->err.size(), 1000U);
  EXPECT_TRUE(output->cut);
}

TEST(Helper, FailsWithWhatTheProgramSaid) {
  const auto output = run("printf '  no server\\033[2J  \\n' >&2; exit 3");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kIo);
  EXPECT_THAT(output.error().message, HasSubstr("sh failed with exit code 3: no server\\x1b[2J"));
  const auto killed = run("kill -9 $$");
  EXPECT_THAT(killed.error().message, HasSubstr("sh was ended by signal 9"));
}

TEST(Helper, SaysThatThereIsNoSuchProgram) {
  const auto output = run_helper({"no-such-program-here"}, {}, *system_clock(), {});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(output.error().message, HasSubstr("cannot run no-such-program-here"));
  EXPECT_EQ(run_helper({}, {}, *system_clock(), {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(run_helper({"echo", std::string("a\0b", 3)}, {}, *system_clock(), {}).error().code,
            ErrorCode::kInvalid);
}

TEST(Helper, KillsAProgramThatDoesNotEndWithItsGroup) {
  const testing::TempDir dir;
  const std::string file = (dir / "pid").string();
  const auto output = run("sleep 600 & echo $! > " + file + "; wait", {.total_ms = 300});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kTimeout);
  const auto child = static_cast<pid_t>(std::stoi(testing::slurp(file)));
  EXPECT_TRUE(wait_until([&] {
    const char state = testing::state_of(child);
    return state == '\0' || state == 'Z';
  }));
}

TEST(Helper, IsGivenUpWhenTheCallIs) {
  Call call;
  call.cancel.cancel();
  const auto output = run_helper({"sleep", "600"}, {}, *system_clock(), call);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace rollcall::core
