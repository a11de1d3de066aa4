#include <gtest/gtest.h>

#include <set>
#include <string>

#include "regtool/regtool_fixture.hpp"
#include "support/paths.hpp"

namespace rollcall::regtool {
namespace {

class Tools : public RegtoolTest {};

TEST_F(Tools, ListsThePluginsThatWereLoaded) {
  const Ran ran = run({"plugins", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.plugins/1");
  bool backend = false;
  for (const auto& plugin : at(json, "plugins").GetArray()) {
    if (string_at(plugin, "id") != "rollcall.backend.linux") continue;
    backend = true;
    EXPECT_EQ(string_at(plugin, "state"), "loaded");
    EXPECT_TRUE(at(plugin, "reason").IsNull());
    EXPECT_EQ(string_at(plugin, "file").front(), '/');
  }
  EXPECT_TRUE(backend);
  EXPECT_NE(run({"plugins", "list"}).out.find("rollcall.a2a_door"), std::string::npos);
}

TEST_F(Tools, SaysWhyAPluginWasRefused) {
  const auto file = dir_.write("open.so", "not a library");
  ::chmod(file.c_str(), 0666);
  const Ran ran = run({"--plugin", file.string(), "plugins", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  bool refused = false;
  for (const auto& plugin : at(json, "plugins").GetArray()) {
    if (string_at(plugin, "state") == "refused") {
      refused = true;
      EXPECT_NE(string_at(plugin, "reason"), "(none)");
    }
  }
  EXPECT_TRUE(refused) << ran.out;
}

TEST_F(Tools, TakesNoPluginByARelativePath) {
  directory_ = dir_.path().string();
  for (const char* file : {"door.so", "./door.so", "../door.so"}) {
    const Ran ran = run({"--plugin", file, "plugins", "--json"});
    EXPECT_EQ(ran.code(), 2) << file;
    const auto json = parse_json(ran.out);
    EXPECT_EQ(string_at(json, "error.code"), "usage");
    EXPECT_NE(string_at(json, "error.text").find("give --plugin /"), std::string::npos) << ran.out;
  }
}

TEST_F(Tools, ChecksAPluginInAChild) {
  const std::string good = std::string(test::kPluginDir) + "/tcp_door.so";
  const Ran ran = run({"plugins", "check", good, "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "schema"), "rollcall.plugin-check/1");
  const auto bad = dir_.write("bad.so", "not a library");
  EXPECT_EQ(run({"plugins", "check", bad.string()}).code(), 1);
  EXPECT_EQ(run({"plugins", "check"}).code(), 2);
}

TEST_F(Tools, DoctorTellsWhatAppliesAndFromWhere) {
  std::filesystem::create_directories(home_);
  ::chmod(home_.c_str(), 0700);
  std::ofstream(home_ + "/config.json") << R"({"gone":{"days":3}})";
  ::chmod((home_ + "/config.json").c_str(), 0600);
  const Ran ran = run({"doctor", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.doctor/1");
  EXPECT_EQ(string_at(json, "home"), home_);
  std::set<std::string> topics;
  for (const auto& check : at(json, "checks").GetArray()) topics.insert(string_at(check, "topic"));
  for (const char* topic : {"pidfd", "pidfs", "/proc", "hidepid", "descriptors", "home", "records",
                            "file system", "backend", "boot id", "host id", "signals"}) {
    EXPECT_EQ(topics.count(topic), 1U) << topic;
  }
  for (const auto& source : at(json, "config").GetArray()) {
    if (string_at(source, "key") == "gone.days") {
      EXPECT_EQ(string_at(source, "value"), "3");
      EXPECT_EQ(string_at(source, "from"), home_ + "/config.json");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(home_ + "/running"));
}

TEST_F(Tools, DoctorFindsAHomeThatIsASymlink) {
  std::filesystem::create_directories(home_);
  std::filesystem::create_directory_symlink(dir_.path(), home_ + "/running");
  EXPECT_EQ(run({"doctor"}).code(), 1);
}

TEST_F(Tools, SaysItsVersion) {
  EXPECT_EQ(run({"--version"}).out.rfind("regtool ", 0), 0U);
  const auto json = parse_json(run({"--version", "--json"}).out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.version/1");
  EXPECT_EQ(string_at(json, "version"), ROLLCALL_VERSION);
}

TEST_F(Tools, BeginsHelpWithExamples) {
  const Ran ran = run({"ps", "--help"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out.rfind("Examples:", 0), 0U);
}

TEST_F(Tools, LogsOnlyWhenAsked) {
  EXPECT_EQ(run({"ps"}).err, "");
  environment_["ROLLCALL_LOG"] = "debug";
  expect_clean(run({"ps"}).err);
}

}  // namespace
}  // namespace rollcall::regtool
