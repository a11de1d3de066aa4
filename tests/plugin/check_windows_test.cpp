// `plugins check`: children that are no check at all.
#include <windows.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/handle_windows.hpp"
#include "core/text_windows.hpp"
#include "plugin/check.hpp"
#include "plugin/support.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

std::string command_shell() {
  wchar_t folder[MAX_PATH] = {};
  ::GetSystemDirectoryW(folder, MAX_PATH);
  return core::narrow_lossy(folder) + "\\cmd.exe";
}

TEST(PluginsCheck, SaysThatTheProgramCouldNotBeStarted) {
  const std::string program = below_top({"nonexistent", "regtool.exe"});
  const auto report = check_in_child(program, {}, "x.dll");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("cannot start " + program));
}

TEST(PluginsCheck, DoesNotBelieveAChildThatReportsNothing) {
  const auto report = check_in_child(command_shell(), {"/c", "exit 0"}, "x.dll");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->passed());
  EXPECT_THAT(report->ending, HasSubstr("exit code 0, before anything of it was tried"));
}

TEST(PluginsCheck, TellsAnExceptionFromAnExitCode) {
  const auto report = check_in_child(command_shell(), {"/c", "exit -1073741819"}, "x.dll");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->ending, HasSubstr("exception 0xc0000005 (access violation)"));
  const auto minus_one = check_in_child(command_shell(), {"/c", "exit -1"}, "x.dll");
  ASSERT_TRUE(minus_one) << minus_one.error().message;
  EXPECT_THAT(minus_one->ending, HasSubstr("exit code -1"));
}

TEST(PluginsCheck, IsNotHeldUpByAGrandchildThatKeepsThePipeAndEndsIt) {
  const auto report = check_in_child(ROLLCALL_TEST_PARENT, {}, "x.dll");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->ending, HasSubstr("exit code 7"));
  const std::size_t at = report->ending.find("grandchild ");
  ASSERT_NE(at, std::string::npos) << report->ending;
  const auto pid = static_cast<DWORD>(std::stoul(report->ending.substr(at + 11)));
  const core::Handle grandchild(::OpenProcess(SYNCHRONIZE, FALSE, pid));
  if (!grandchild.valid()) return;  // gone, its number with it
  EXPECT_EQ(::WaitForSingleObject(grandchild.get(), 20'000), WAIT_OBJECT_0);
}

}  // namespace
}  // namespace rollcall::testing
