// `plugins check`: children that are no check at all, and files by their mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/check.hpp"
#include "plugin/support.hpp"
#include "support/process.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

TEST(PluginsCheck, FindsAFileThatCannotBeTrusted) {
  PluginFolder folder;
  folder.add("fault_none");
  PluginFolder::set_mode(folder.library("fault_none"), 0775);
  const CheckReport report = check_plugin(folder.library("fault_none"), {});
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.steps.front().text, HasSubstr("is writable by the group"));
}

TEST(PluginsCheck, SaysThatTheProgramCouldNotBeStarted) {
  const auto report = check_in_child("/nonexistent/regtool", {}, "x.so");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("cannot start /nonexistent/regtool"));
}

TEST(PluginsCheck, DoesNotBelieveAChildThatReportsNothing) {
  const auto report = check_in_child("/bin/sh", {"-c", "exit 0"}, "x.so");
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->passed());
  EXPECT_THAT(report->ending, HasSubstr("exit code 0, before anything of it was tried"));
}

TEST(PluginsCheck, IsNotHeldUpByAGrandchildThatKeepsThePipeAndEndsIt) {
  const TempDir temp;
  const std::string note = (temp / "pid").string();
  const auto report =
      check_in_child("/bin/sh", {"-c", "sleep 60 & echo $! > '" + note + "'; exit 7"}, "x.so");
  ASSERT_TRUE(report);
  EXPECT_THAT(report->ending, HasSubstr("exit code 7"));
  const pid_t grandchild = std::stoi(slurp(note));
  EXPECT_TRUE(wait_until([&] {
    const char state = state_of(grandchild);
    return state == '\0' || state == 'Z';
  }));
}

}  // namespace
}  // namespace rollcall::testing
