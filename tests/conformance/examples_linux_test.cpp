// The example plugins, which are written for Linux, in a host.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "rollcall/host.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;

// The example door, with a manifest that wants tokens or does not.
bool may_have_token(bool wants, bool allowed) {
  const TempDir temp;
  const std::string from = std::string(ROLLCALL_TEST_EXAMPLE_DIR) + "/banner_door";
  fs::copy_file(from + ".so", temp / "banner_door.so");
  std::string manifest = slurp(from + ".rollcall.json");
  if (wants) manifest.insert(manifest.find('{') + 1, "\"wants_token\": true,");
  const fs::path file = temp.write("banner_door.rollcall.json", manifest);
  fs::permissions(file, static_cast<fs::perms>(0644));
  fs::permissions(temp / "banner_door.so", static_cast<fs::perms>(0755));
  Host::Options options;
  options.plugin_dirs = {temp.path().string()};
  options.use_environment = false;
  options.use_builtin_dir = false;
  if (allowed) options.token_allowed = {"com.example.banner-door"};
  const auto host = Host::open(options);
  const auto door = (*host)->door_prober("banner");
  if (!door) throw std::runtime_error(door.error().message);
  return (*door)->may_have_token();
}

TEST(ThirdParty, GetsATokenOnlyIfItWantsOneAndTheOperatorAllowsIt) {
  EXPECT_TRUE(may_have_token(true, true));
  EXPECT_FALSE(may_have_token(true, false));
  EXPECT_FALSE(may_have_token(false, true));
}

TEST(ThirdParty, ProbeInCReadsThisProcess) {
  const auto host = Host::open({.plugin_dirs = {ROLLCALL_TEST_EXAMPLE_DIR},
                                .use_environment = false,
                                .use_builtin_dir = true});
  ASSERT_TRUE(host);
  const auto probe = (*host)->probe("com.example.stat-probe");
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_FALSE((*probe)->is_platform());
  const auto platform = (*host)->platform_probe();
  ASSERT_TRUE(platform) << platform.error().message;
  const auto me = (*platform)->whoami({});
  ASSERT_TRUE(me);
  const Ask ask{.pid = me->self.pid, .wants = kWantStartToken};
  Observation out;
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));
  EXPECT_EQ(out.presence, Presence::kPresent);
  EXPECT_EQ(out.start_token.view(), me->self.start_token);
}

}  // namespace
}  // namespace rollcall::testing
