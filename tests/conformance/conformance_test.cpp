#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/check.hpp"
#include "plugin/shared_library.hpp"
#include "rollcall/host.hpp"
#include "support/paths.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

#if defined(_WIN32)
constexpr const char* kSuffix = ".dll";
constexpr std::size_t kAtLeast = 5;  // the backend and four doors
#elif defined(__APPLE__)
constexpr const char* kSuffix = ".dylib";
constexpr std::size_t kAtLeast = 5;
#else
constexpr const char* kSuffix = ".so";
constexpr std::size_t kAtLeast = 7;  // and two examples
#endif

std::vector<std::string> libraries() {
  std::vector<std::string> files;
  for (const char* folder : {test::kPluginDir, ROLLCALL_TEST_EXAMPLE_DIR}) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == kSuffix) files.push_back(entry.path().string());
    }
  }
  return files;
}

TEST(EveryPlugin, ExportsOneSymbol) {
  const auto files = libraries();
  EXPECT_GE(files.size(), kAtLeast);
  for (const std::string& file : files) {
    const auto names = loader::exported_symbols(file);
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_THAT(*names, ElementsAre("rollcall_plugin_v1")) << file;
  }
}

TEST(EveryPlugin, PassesTheConformanceSuite) {
  for (const std::string& file : libraries()) {
    // Whoever may write to the build tree and what is above it.
    const auto report =
        check_in_child(ROLLCALL_TEST_CHECK_HELPER, {file, "--accept-untrusted"}, file);
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
#if defined(_WIN32)
  if (!probe && probe.error().message.find("is writable by") != std::string::npos) {
    GTEST_SKIP() << "the build tree stands where others may write: " << probe.error().message;
  }
#endif
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_TRUE((*probe)->is_platform());
  EXPECT_TRUE((*host)->platform_control());
  for (const char* kind : {"a2a", "http", "tcp", "unix"}) {
    const auto door = (*host)->door_prober(kind);
    ASSERT_TRUE(door) << door.error().message;
    EXPECT_TRUE((*door)->may_have_token()) << kind;
  }
}

}  // namespace
}  // namespace rollcall::testing
