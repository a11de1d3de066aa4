#include "regtool/config.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rollcall::regtool {
namespace {

Config of(std::string_view text) {
  Config config;
  const auto entries = parse_config(text, "c.json");
  EXPECT_TRUE(entries) << entries.error().message;
  const auto applied = apply_config(config, *entries, "c.json");
  EXPECT_TRUE(applied) << applied.error().message;
  return config;
}

std::string problem(std::string_view text) {
  const auto entries = parse_config(text, "c.json");
  if (!entries) return entries.error().message;
  Config config;
  const auto applied = apply_config(config, *entries, "c.json");
  return applied ? "" : applied.error().message;
}

TEST(ParseConfig, JoinsNestedKeys) {
  const Config config = of(R"({"doors":{"allow_hosts":["10.0.0.1"],"total_timeout_ms":900},
                              "gone.days":1})");
  EXPECT_EQ(config.allow_hosts, std::vector<std::string>{"10.0.0.1"});
  EXPECT_EQ(config.total_timeout_ms, 900);
  EXPECT_EQ(config.gone_days, 1);
  EXPECT_EQ(config.connect_timeout_ms, 2000);
}

TEST(ParseConfig, SkipsAByteOrderMark) {
  EXPECT_EQ(of("\xef\xbb\xbf{\"gone\":{\"days\":3}}").gone_days, 3);
}

TEST(ParseConfig, NamesFileAndPlaceOfWhatIsBroken) {
  EXPECT_NE(problem("{\n  \"gone\": {\n    oops\n").find("c.json, line 3, column 5"),
            std::string::npos)
      << problem("{\n  \"gone\": {\n    oops\n");
  for (const char* broken :
       {"", "[]", "null", "{", "{} {}", R"({"a":1,"a":2})", R"({"gone":{"days":1},"gone.days":2})",
        R"({"gone":{"days":null}})", R"({"gone":{"days":1.5}})",
        R"({"doors":{"allow_hosts":[["x"]]}})", "{\"a\":\"\xff\"}"}) {
    EXPECT_NE(problem(broken).find("c.json"), std::string::npos) << broken;
  }
  EXPECT_NE(problem(std::string_view("{}\0{}", 5)).find("NUL"), std::string::npos);
}

TEST(ParseConfig, SurvivesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "{\"a\":";
  EXPECT_NE(problem(deep).find("nested too deeply"), std::string::npos);
  EXPECT_NE(problem(std::string(60'000, '[')), "");
}

TEST(ApplyConfig, WarnsOfUnknownKeys) {
  const Config config = of(R"({"doors":{"alow_hosts":["x"]}})");
  ASSERT_EQ(config.warnings.size(), 1U);
  EXPECT_EQ(config.warnings.front(), "c.json: unknown key doors.alow_hosts");
}

TEST(ApplyConfig, RefusesWrongTypesAndBounds) {
  EXPECT_NE(problem(R"({"gone":{"days":"7"}})").find("gone.days"), std::string::npos);
  EXPECT_NE(problem(R"({"gone":{"days":-1}})").find("gone.days"), std::string::npos);
  EXPECT_NE(problem(R"({"doors":{"allow_hosts":"x"}})").find("doors.allow_hosts"),
            std::string::npos);
  EXPECT_NE(problem(R"({"doors":{"total_timeout_ms":0}})").find("doors.total_timeout_ms"),
            std::string::npos);
}

TEST(ApplyEnvironment, HasTheLastWord) {
  Config config = of(R"({"gone":{"days":1}})");
  const auto variable = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "ROLLCALL_GONE_DAYS") return "9";
    if (std::string_view(name) == "ROLLCALL_DOORS_ALLOW_HOSTS") return "10.0.0.1,10.0.0.2";
    return std::nullopt;
  };
  ASSERT_TRUE(apply_environment(config, variable));
  EXPECT_EQ(config.gone_days, 9);
  EXPECT_EQ(config.allow_hosts, (std::vector<std::string>{"10.0.0.1", "10.0.0.2"}));
}

TEST(ApplyEnvironment, RefusesNonsense) {
  Config config;
  const auto variable = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "ROLLCALL_GONE_DAYS") return "soon";
    return std::nullopt;
  };
  const auto applied = apply_environment(config, variable);
  ASSERT_FALSE(applied);
  EXPECT_NE(applied.error().message.find("ROLLCALL_GONE_DAYS"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
