// Helper programs on Linux: what setsid(1) and /proc show of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/helper_program.hpp"

namespace rollcall::core {
namespace {

using ::testing::HasSubstr;

Result<HelperOutput> run_script(const std::string& script, HelperLimits limits = {}) {
  return run_helper({"sh", "-c", script}, limits, *system_clock(), {});
}

TEST(Helper, DoesNotWaitForAGrandchildThatHoldsThePipe) {
  const auto output = run_script("setsid sleep 30 & echo done", {.total_ms = 20'000});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "done\n");
}

TEST(Helper, HoldsNoDescriptorAndNoSignalOfOurs) {
  const auto output = run_script("ls /proc/self/fd; grep -E 'SigBlk|SigIgn' /proc/self/status");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_THAT(output->out, ::testing::StartsWith("0\n1\n2\n3\nSig"));  // 3: the listing itself
  EXPECT_THAT(output->out, HasSubstr("SigBlk:\t0000000000000000"));
}

}  // namespace
}  // namespace rollcall::core
