// Where plugins are not looked for, and what a mode has to do with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "plugin/support.hpp"
#include "support/process.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

TEST(Host, CallsARefusedPluginUnsupportedAndSaysWhy) {
  PluginFolder folder;
  folder.add("fault_none");
  PluginFolder::set_mode(folder.library("fault_none"), 0775);
  const auto probe = open_host(folder)->probe("com.example.fault.none");
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(probe.error().message, HasSubstr("writable by the group"));
}

// Changes the working directory and the environment, so it does so in a child.
TEST(Search, LooksNeitherInTheWorkingDirectoryNorOnTheLoadersPath) {
  PluginFolder folder;
  folder.add("fault_none");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
    ::setenv("DYLD_LIBRARY_PATH", folder.path().c_str(), 1);
    ::setenv("ROLLCALL_PLUGIN_PATH", ":.:", 1);
    if (::chdir(folder.path().c_str()) != 0) ::_exit(2);
    Host::Options options;
    options.use_builtin_dir = false;
    options.plugin_files = {std::string("fault_none") + kSuffix};
    auto host = Host::open(std::move(options));
    if (!host) ::_exit(3);
    for (const auto& info : (*host)->plugins(true)) {
      if (info.state != PluginState::kRefused) ::_exit(4);
    }
    ::_exit((*host)->probe("com.example.fault.none") ? 5 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace rollcall::testing
