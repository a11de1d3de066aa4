// `plugins check`: what a candidate does in its child is put into a sentence.
#include "plugin/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/check_suite.hpp"
#include "plugin/support.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

// Long enough for a child to come to where it hangs, on a busy machine too.
#if defined(_WIN32)
constexpr std::int64_t kHangNs = 10'000'000'000;
#else
constexpr std::int64_t kHangNs = 2'000'000'000;
#endif

CheckReport check(const std::string& plugin, std::int64_t limit_ns = kCheckLimitNs) {
  PluginFolder folder;
  folder.add(plugin);
  const std::string file = folder.library(plugin);
  auto report = check_in_child(ROLLCALL_TEST_CHECK_HELPER, {file}, file, limit_ns);
  if (!report) throw std::runtime_error(report.error().message);
  return *report;
}

std::string failures(const CheckReport& report) {
  std::string text;
  for (const CheckStep& step : report.steps) {
    if (step.outcome == CheckOutcome::kFailed) text += step.rule + ": " + step.text + "\n";
  }
  return text;
}

TEST(PluginsCheck, PassesAGoodPlugin) {
  const CheckReport report = check("fault_none");
  EXPECT_TRUE(report.passed()) << report.ending << failures(report);
  EXPECT_EQ(report.id, "com.example.fault.none");
  EXPECT_EQ(report.version, "1.0.0");
  EXPECT_EQ(report.abi, "1.0");
  EXPECT_GT(report.steps.size(), 10U);
}

TEST(PluginsCheck, PassesAPluginThatACompilerOfCBuilt) {
  const CheckReport report = check("plain_c");
  EXPECT_TRUE(report.passed()) << report.ending << failures(report);
  PluginFolder folder;
  folder.add("plain_c");
  const auto probe = open_host(folder)->probe("com.example.plain");
  ASSERT_TRUE(probe) << probe.error().message;
  const Ask ask{.pid = loader::own_pid(), .wants = kWantStartToken};
  Observation out;
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));
  EXPECT_EQ(out.presence, Presence::kPresent);
  EXPECT_EQ(out.start_token.view(), "1");
}

TEST(PluginsCheck, FindsAStaticConstructorThatThrows) {
  const CheckReport report = check("fault_static_throws");
  EXPECT_FALSE(report.passed());
  // It aborts the child, or comes through the dynamic linker: that is the toolchain's matter.
  EXPECT_THAT(report.ending + failures(report), HasSubstr("a static constructor threw"));
}

TEST(PluginsCheck, FindsAStaticConstructorThatExits) {
  const CheckReport report = check("fault_static_exits");
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.ending, HasSubstr("exit code 3"));
  EXPECT_THAT(report.ending, HasSubstr("a static constructor called exit()"));
}

TEST(PluginsCheck, FindsAStaticConstructorThatHangs) {
  const CheckReport report = check("fault_static_hangs", kHangNs);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.ending, HasSubstr("hung and was killed after " +
                                       std::to_string(kHangNs / 1'000'000'000) + " s"));
  EXPECT_THAT(report.ending, HasSubstr("a static constructor or its init does not return"));
}

TEST(PluginsCheck, FindsASlotThatAborts) {
  const CheckReport report = check("fault_observe_aborts");
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.ending, HasSubstr(kAborted));
  EXPECT_THAT(report.ending, HasSubstr("process-probe: "));
}

TEST(PluginsCheck, FindsAFactoryThatExits) {
  const CheckReport report = check("fault_create_exits");
  EXPECT_FALSE(report.passed());
#if defined(ROLLCALL_SANITIZED)
  const char* code = "";  // a sanitizer that finds the exit untidy gives another one
#else
  const char* code = " 3";
#endif
  EXPECT_THAT(report.ending, HasSubstr(std::string("ended the process with exit code") + code));
  EXPECT_THAT(report.ending, HasSubstr("process-probe: "));
}

TEST(PluginsCheck, FindsAFactoryThatHangs) {
  const CheckReport report = check("fault_create_hangs", kHangNs);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.ending, HasSubstr("hung and was killed"));
  EXPECT_THAT(report.ending, HasSubstr("process-probe: "));
}

TEST(PluginsCheck, TrustsNoFileThatIsNotThere) {
  PluginFolder folder;
  const CheckReport report = check_plugin(folder.library("nosuch"), {});
  ASSERT_EQ(report.steps.size(), 2U);
  EXPECT_EQ(report.steps[0].outcome, CheckOutcome::kFailed);
  EXPECT_THAT(report.steps[0].text, HasSubstr("cannot find " + folder.library("nosuch")));
  EXPECT_EQ(report.steps[1].outcome, CheckOutcome::kSkipped);
}

TEST(PluginsCheck, TrustsNoManifestThatIsNotThere) {
  PluginFolder folder;
  folder.add("fault_none");
  std::filesystem::remove(folder.manifest("fault_none"));
  for (const bool accept_untrusted : {false, true}) {
    const CheckReport report =
        check_plugin(folder.library("fault_none"), {.accept_untrusted = accept_untrusted});
    ASSERT_EQ(report.steps.size(), 2U);
    EXPECT_EQ(report.steps[0].outcome, CheckOutcome::kFailed);
    EXPECT_THAT(report.steps[0].text, HasSubstr("cannot find " + folder.manifest("fault_none")));
    EXPECT_EQ(report.steps[1].outcome, CheckOutcome::kSkipped);
  }
}

TEST(PluginsCheck, FindsASlotThatHangs) {
  const CheckReport report = check("fault_observe_hangs", kHangNs);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.ending, HasSubstr("hung and was killed"));
  EXPECT_THAT(report.ending, HasSubstr("process-probe: "));
}

TEST(PluginsCheck, FindsReadingsThatAreWild) {
  const CheckReport report = check("fault_readings_are_wild");
  EXPECT_TRUE(report.ending.empty()) << report.ending;
  EXPECT_THAT(failures(report), HasSubstr("a running process is never absent or exited"));
  EXPECT_THAT(failures(report), HasSubstr("a pid outside 1..2147483647 is absent"));
}

TEST(PluginsCheck, FindsWhatTheLoaderRefuses) {
  EXPECT_THAT(failures(check("fault_abi_next")), HasSubstr("upgrade Rollcall"));
  EXPECT_THAT(failures(check("fault_missing_symbol")), HasSubstr(kMissingSymbol));
  EXPECT_THAT(failures(check("fault_init_throws")), HasSubstr("init threw"));
}

TEST(PluginsCheck, FindsSymbolsTooMany) {
  EXPECT_THAT(failures(check("twin_castor")), HasSubstr("and nothing else: it exports "));
  EXPECT_THAT(failures(check("twin_castor")), HasSubstr("rollcall_test_twin_helper"));
}

TEST(PluginsCheck, WritesAReportThatReadsBack) {
  CheckReport report;
  report.file = "/x/\xff.so";
  report.id = "com.example.x";
  report.interfaces = {"rollcall.process-probe/1"};
  report.steps = {{"a rule", CheckOutcome::kPassed, ""},
                  {"another", CheckOutcome::kSkipped, "why\n\"quoted\""}};
  report.ending = "it ended";
  const auto read = parse_check_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->file, "/x/\\xff.so");
  EXPECT_EQ(read->id, report.id);
  EXPECT_EQ(read->interfaces, report.interfaces);
  ASSERT_EQ(read->steps.size(), 2U);
  EXPECT_EQ(read->steps[1].outcome, CheckOutcome::kSkipped);
  EXPECT_EQ(read->steps[1].text, report.steps[1].text);
  EXPECT_EQ(read->ending, "it ended");
}

TEST(PluginsCheck, ReadsNoReportThatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"schema":"rollcall.plugin-check/2"})",
                           R"({"schema":"rollcall.plugin-check/1"})",
                           R"({"schema":"rollcall.plugin-check/1","interfaces":[],"steps":[1]})"}) {
    EXPECT_FALSE(parse_check_report(text)) << text;
  }
}

}  // namespace
}  // namespace rollcall::testing
