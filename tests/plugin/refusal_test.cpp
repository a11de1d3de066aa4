// Every fault has its own sentence, and the host and the other plugins go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "plugin/support.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

struct Fault {
  const char* plugin;
  const char* says;  // in the reason
};

class Refusal : public ::testing::TestWithParam<Fault> {};

TEST_P(Refusal, NamesTheFileAndTheFault) {
  PluginFolder folder;
  folder.add(GetParam().plugin);
  const PluginInfo info = only_plugin(folder);
  EXPECT_EQ(info.state, PluginState::kRefused) << info.reason;
  EXPECT_THAT(info.reason, HasSubstr(folder.library(GetParam().plugin)));
  EXPECT_THAT(info.reason, HasSubstr(GetParam().says));
}

constexpr Fault kRefusals[] = {
    {"fault_wrong_magic", "begins with 0102030405060708 and not with Rollcall's magic"},
    {"fault_short_struct", "its entry has 40 bytes and plugin ABI 1.0 has 80"},
    {"fault_long_struct", "says that it has 1073741824 bytes, and "},
    {"fault_abi_0", "speaks plugin ABI 0.0 and this Rollcall speaks 1.0: upgrade the plugin"},
    {"fault_abi_next", "speaks plugin ABI 2.0 and this Rollcall speaks 1.0: upgrade Rollcall"},
    {"fault_minor_required", "requires plugin ABI 1.1 and this Rollcall speaks 1.0: upgrade"},
    {"fault_null_get_interface", "no `get_interface`"},
    {"fault_null_id", "no id"},
    {"fault_null_slot", "process-probe table lacks `observe`"},
    {"fault_no_interface", "promises rollcall.process-probe/1 and the library does not offer it"},
    {"fault_other_version", "says version 1.0.0 and the library says 2.0.0"},
    {"fault_no_entry", "exports no `rollcall_plugin_v1`"},
    {"fault_init_fails", "its init failed with -3: init says no"},
    {"fault_init_throws", "its init failed with -12: init threw"},
    {"fault_missing_symbol", kMissingSymbol},
};

INSTANTIATE_TEST_SUITE_P(EachFault, Refusal, ::testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.plugin); });

TEST(Refusals, HaveASentenceEach) {
  std::set<std::string> sentences;
  for (const Fault& fault : kRefusals) {
    PluginFolder folder;
    folder.add(fault.plugin);
    std::string reason = only_plugin(folder).reason;
    sentences.insert(reason.substr(reason.rfind(std::string(kSuffix) + ":")));
  }
  EXPECT_EQ(sentences.size(), std::size(kRefusals));
}

TEST(Refusals, LeaveTheOtherPluginsAlone) {
  PluginFolder folder;
  folder.add("fault_missing_symbol");
  folder.add("fault_none");
  const auto host = open_host(folder);
  const auto probe = host->probe("com.example.fault.none");
  ASSERT_TRUE(probe) << probe.error().message;
  const auto refused = host->probe("com.example.fault.missing-symbol");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(kMissingSymbol));
}

TEST(Refusals, ArePutInTheLog) {
  PluginFolder folder;
  folder.add("fault_wrong_magic");
  std::string log;
  Host::Options options = quiet_options();
  options.plugin_dirs = {folder.path()};
  options.log = [&](int, std::string_view line) { log += line; };
  const auto host = open_host(std::move(options));
  (void)host->plugins(true);
  EXPECT_THAT(log, HasSubstr(std::string("fault_wrong_magic") + kSuffix));
}

TEST(Refusals, DoNotCoverANewerMinorThatRequiresNothingNew) {
  PluginFolder folder;
  folder.add("fault_newer_minor");
  const PluginInfo info = only_plugin(folder);
  EXPECT_EQ(info.state, PluginState::kLoaded) << info.reason;
  EXPECT_EQ(info.abi, "1.1");
}

TEST(Factory, ThatThrowsIsAnErrorWithItsWords) {
  PluginFolder folder;
  folder.add("fault_create_throws_std");
  const auto probe = open_host(folder)->probe("com.example.fault.create-throws-std");
  ASSERT_FALSE(probe);
  EXPECT_THAT(probe.error().message, HasSubstr("the factory threw"));
}

TEST(Factory, ThatThrowsNoStdExceptionIsAnError) {
  PluginFolder folder;
  folder.add("fault_create_throws_other");
  const auto probe = open_host(folder)->probe("com.example.fault.create-throws-other");
  ASSERT_FALSE(probe);
  EXPECT_THAT(probe.error().message, HasSubstr("no std::exception"));
}

TEST(Factory, ThatMakesNothingIsAnError) {
  PluginFolder folder;
  folder.add("fault_create_gives_null");
  const auto probe = open_host(folder)->probe("com.example.fault.create-gives-null");
  ASSERT_FALSE(probe);
  EXPECT_THAT(probe.error().message, HasSubstr("made nothing"));
}

TEST(Destructor, ThatThrowsIsCaught) {
  PluginFolder folder;
  folder.add("fault_destroy_throws");
  const auto host = open_host(folder);
  auto probe = host->probe("com.example.fault.destroy-throws");
  ASSERT_TRUE(probe) << probe.error().message;
  probe->reset();
  EXPECT_EQ(host->plugins().front().state, PluginState::kLoaded);
}

TEST(Slot, ThatThrowsIsAnErrorWithItsWords) {
  PluginFolder folder;
  folder.add("fault_observe_throws");
  const auto probe = open_host(folder)->probe("com.example.fault.observe-throws");
  ASSERT_TRUE(probe) << probe.error().message;
  const Ask ask{.pid = 7};
  Observation out;
  const Status status = (*probe)->observe({&ask, 1}, {&out, 1}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
  EXPECT_THAT(status.error().message, HasSubstr("observe threw"));
}

TEST(Readings, ThatMakeNoSenseAreUnreadable) {
  PluginFolder folder;
  folder.add("fault_readings_are_wild");
  const auto probe = open_host(folder)->probe("com.example.fault.readings-are-wild");
  ASSERT_TRUE(probe) << probe.error().message;
  const Ask ask{.pid = 7, .wants = kWantStartToken};
  Observation out;
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));
  EXPECT_EQ(out.presence, Presence::kUnreadable);
  EXPECT_TRUE(out.start_token.empty());
}

}  // namespace
}  // namespace rollcall::testing
