#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugin/check.hpp"
#include "plugin/shared_library.hpp"
#include "rollcall/host.hpp"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::vector<std::string> libraries() {
  std::vector<std::string> files;
  for (const char* folder : {test::kPluginDir, ROLLCALL_TEST_EXAMPLE_DIR}) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".so") files.push_back(entry.path().string());
    }
  }
  return files;
}

TEST(EveryPlugin, ExportsOneSymbol) {
  const auto files = libraries();
  EXPECT_GE(files.size(), 7U);  // the backend, four doors and two examples
  for (const std::string& file : files) {
    const auto names = loader::exported_symbols(file);
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_THAT(*names, ElementsAre("rollcall_plugin_v1")) << file;
  }
}

TEST(EveryPlugin, PassesTheConformanceSuite) {
  for (const std::string& file : libraries()) {
    const auto report = check_in_child(ROLLCALL_TEST_CHECK_HELPER, {file}, file);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->ending, "") << file;
    for (const CheckStep& step : report->steps) {
      EXPECT_NE(step.outcome, CheckOutcome::kFailed)
          << file << ": " << step.rule << ": " << step.text;
    }
    EXPECT_GE(report->steps.size(), 6U) << file;
  }
}

TEST(BuildTree, IsFoundByAHostThatLooksNowhereElse) {
  auto host = Host::open({.use_environment = false});
  ASSERT_TRUE(host);
  const auto probe = (*host)->platform_probe();
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_TRUE((*probe)->is_platform());
  EXPECT_TRUE((*host)->platform_control());
  for (const char* kind : {"a2a", "http", "tcp", "unix"}) {
    const auto door = (*host)->door_prober(kind);
    ASSERT_TRUE(door) << door.error().message;
    EXPECT_TRUE((*door)->may_have_token()) << kind;
  }
}

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
