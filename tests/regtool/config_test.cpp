#include "regtool/config.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/temp_dir.hpp"

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

class LoadConfig : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = dir_.path().string() + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  testing::TempDir dir_;
};

TEST_F(LoadConfig, LaysTheHomesOverTheSystems) {
  const std::string system = put("system.json", R"({"gone":{"days":1},"quarantine":{"days":2}})");
  const std::string home = put("home.json", R"({"gone":{"days":5}})");
  const auto config = load_config(home, system);
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->gone_days, 5);
  EXPECT_EQ(config->quarantine_days, 2);
  for (const Config::Source& source : config->sources) {
    const std::string from =
        source.key == "gone.days" ? home : (source.key == "quarantine.days" ? system : "default");
    EXPECT_EQ(source.from, from) << source.key;
  }
}

TEST_F(LoadConfig, TakesMissingFilesForNone) {
  EXPECT_TRUE(load_config(dir_.path().string() + "/none.json",
                          dir_.path().string() + "/nowhere/none.json"));
}

TEST_F(LoadConfig, RefusesAFileThatOthersCanWrite) {
  for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
    const auto config = load_config(put("c.json", "{}", mode), "");
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, "config");
    EXPECT_EQ(config.error().exit_code, kExitIo);
    EXPECT_NE(config.error().text.find("chmod go-w"), std::string::npos) << config.error().text;
  }
}

TEST_F(LoadConfig, RefusesAFolderThatOthersCanWrite) {
  const std::string path = put("c.json", "{}");
  chmod(dir_.path().c_str(), 0770);
  const auto config = load_config(path, "");
  chmod(dir_.path().c_str(), 0700);
  EXPECT_FALSE(config);
}

TEST_F(LoadConfig, RefusesASymlinkAndAFifo) {
  const std::string link = dir_.path().string() + "/link.json";
  ASSERT_EQ(symlink(put("c.json", "{}").c_str(), link.c_str()), 0);
  EXPECT_FALSE(load_config(link, ""));
  const std::string fifo = dir_.path().string() + "/fifo.json";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(load_config(fifo, ""));
}

TEST_F(LoadConfig, RefusesAHugeFile) {
  const auto config = load_config(put("c.json", std::string(70'000, ' ')), "");
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().text.find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
