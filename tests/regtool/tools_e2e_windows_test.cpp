#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "regtool/regtool_windows_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Tools : public RegtoolTest {};

TEST_F(Tools, ListsThePluginsThatWereLoaded) {
  const Ran ran = run({"plugins", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  bool backend = false;
  for (const auto& plugin : at(json, "plugins").GetArray()) {
    if (string_at(plugin, "id") != "rollcall.backend.windows") continue;
    backend = true;
    EXPECT_EQ(string_at(plugin, "state"), "loaded");
    EXPECT_TRUE(at(plugin, "reason").IsNull());
  }
  EXPECT_TRUE(backend) << ran.out;
  EXPECT_NE(run({"plugins", "list"}).out.find("rollcall.a2a_door"), std::string::npos);
}

TEST_F(Tools, SaysWhyAPluginWasRefused) {
  const auto file = testing::utf8(dir_.write("bad.dll", "not a library"));
  dir_.write("bad.rollcall.json", "{}");
  const Ran ran = run({"--plugin", file, "plugins", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  bool refused = false;
  for (const auto& plugin : at(json, "plugins").GetArray()) {
    if (string_at(plugin, "state") != "refused") continue;
    refused = true;
    EXPECT_NE(string_at(plugin, "reason"), "(none)");
  }
  EXPECT_TRUE(refused) << ran.out;
}

TEST_F(Tools, LoadsAPluginOfACCompilerAndSaysWhyAFaultyOneIsNot) {
  // Copies: who may write to the build tree is not this test's.
  const std::filesystem::path built = std::string(test::kBinDir) + "/../tests/c_plugins";
  std::vector<std::string> words;
  for (const char* name : {"c_probe", "c_faulty"}) {
    for (const char* end : {".dll", ".rollcall.json"}) {
      dir_.write(std::string(name) + end, testing::slurp(built / (std::string(name) + end)));
    }
    words.insert(words.end(), {"--plugin", testing::utf8(dir_ / (std::string(name) + ".dll"))});
  }
  words.insert(words.end(), {"plugins", "--json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  std::map<std::string, std::string> found;
  for (const auto& plugin : at(json, "plugins").GetArray()) {
    found[string_at(plugin, "id")] =
        string_at(plugin, "state") + ": " + string_at(plugin, "reason");
  }
  EXPECT_EQ(found["com.example.c-probe"].rfind("loaded", 0), 0U) << ran.out;
  EXPECT_EQ(found["com.example.c-faulty"].rfind("refused", 0), 0U) << ran.out;
  EXPECT_NE(found["com.example.c-faulty"].find("ABI"), std::string::npos) << ran.out;
}

TEST_F(Tools, TakesNoPluginByARelativePath) {
  for (const char* file : {"door.dll", ".\\door.dll", "\\door.dll", "C:door.dll"}) {
    const Ran ran = run({"--plugin", file, "plugins", "--json"});
    EXPECT_EQ(ran.code, 2U) << file;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "usage");
  }
}

TEST_F(Tools, ChecksAPluginInAChild) {
  const std::string good = std::string(test::kPluginDir) + "/tcp_door.dll";
  const Ran ran = run({"plugins", "check", good, "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.out << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "schema"), "rollcall.plugin-check/1");
  const auto bad = testing::utf8(dir_.write("bad.dll", "not a library"));
  EXPECT_EQ(run({"plugins", "check", bad}).code, 1U);
}

TEST_F(Tools, DoctorTellsWhatThisMachineLetsRollcallSee) {
  const Ran ran = run({"doctor", "--json"});
  EXPECT_EQ(ran.code, 0U) << ran.out;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "home"), home_);
  std::set<std::string> topics;
  for (const auto& check : at(json, "checks").GetArray()) topics.insert(string_at(check, "topic"));
  for (const char* topic : {"system", "stop event", "job", "home", "records", "file system",
                            "backend", "boot id", "host id", "start time", "signals"}) {
    EXPECT_EQ(topics.count(topic), 1U) << topic;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "home"));
}

TEST_F(Tools, DoctorRefusesAHomeThatIsNone) {
  std::filesystem::create_directories(dir_ / "letters");
  dir_.write("letters/letter", "dear");
  const Ran ran = run({"--home", testing::utf8(dir_ / "letters"), "doctor"});
  EXPECT_EQ(ran.code, 1U);
  EXPECT_NE(ran.out.find("it is no home of Rollcall and not empty (it holds letter)"),
            std::string::npos)
      << ran.out;
}

TEST_F(Tools, ReadsTheConfigurationOfTheHome) {
  put_record_of("s-1", Child::sleeper());
  std::ofstream(dir_ / "home/config.json", std::ios::binary)
      << "\xEF\xBB\xBF{\"gone\":{\"days\":3}}";
  const auto json = parse_json(run({"doctor", "--json"}).out);
  bool read = false;
  for (const auto& source : at(json, "config").GetArray()) {
    if (string_at(source, "key") == "gone.days") read = string_at(source, "value") == "3";
  }
  EXPECT_TRUE(read);
}

TEST_F(Tools, KnowsNoOtherUsersHomes) {
  const Ran ran = run({"--user", "somebody", "ps", "--json"});
  EXPECT_EQ(ran.code, 5U);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "capability_unavailable");
}

TEST_F(Tools, FindsAVariableInLettersOfAnyCase) {
  set("Rollcall_Case", "here");
  Child child = Child::sleeper();
  set("Rollcall_Case", std::nullopt);
  put_record_of("s-1", child);
  EXPECT_EQ(run({"env", "s-1", "Rollcall_Case"}).out, "here\n");
  EXPECT_EQ(run({"env", "s-1", "ROLLCALL_CASE"}).out, "here\n");
  EXPECT_EQ(run({"env", "s-1", "ROLLCALL_CAS"}).code, 1U);
}

TEST_F(Tools, HasNoTerminalsAndSaysSo) {
  Child child = Child::sleeper();
  put_record_of("s-1", child);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "terminal", "s-1"},
        std::vector<std::string>{"--json", "type", "s-1", "--", "Enter"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 5U) << words[1] << ran.err;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "capability_unavailable");
  }
  const auto json = parse_json(run({"doctor", "--json"}).out);
  std::set<std::string> missing;
  for (const auto& act : at(json, "acts").GetArray()) {
    if (string_at(act, "state") == "unsupported") missing.insert(string_at(act, "act"));
  }
  for (const char* act : {"terminal", "type", "stop --tree", "kill --signal STOP"}) {
    EXPECT_EQ(missing.count(act), 1U) << act;
  }
}

TEST_F(Tools, TakesTheHomeDirectoryOfTheProfile) {
  set("ROLLCALL_HOME", std::nullopt);
  set("USERPROFILE", testing::utf8(dir_.path()));
  const auto json = parse_json(run({"doctor", "--json"}).out);
  EXPECT_EQ(std::filesystem::path(string_at(json, "home")).filename(), ".rollcall");
  EXPECT_EQ(string_at(json, "home").rfind(testing::utf8(dir_.path()), 0), 0U);
}

TEST_F(Tools, RefusesAHomeThatIsNotAbsolute) {
  for (const char* home : {"rollcall", "\\rollcall", "C:rollcall"}) {
    set("ROLLCALL_HOME", std::string(home));
    EXPECT_EQ(run({"ps"}).code, 2U) << home;
  }
}

TEST_F(Tools, TakesNoOtherHomeForOneThatIsNoText) {
  put_record_of("s-1", Child::sleeper());
  set("USERPROFILE", testing::utf8(dir_.path()));
  std::filesystem::rename(dir_ / "home", dir_ / ".rollcall");
  const std::wstring half = (dir_ / "home").wstring() + L'\xD800';
  ::SetEnvironmentVariableW(L"ROLLCALL_HOME", half.c_str());
  const Ran ran = run({"prune", "--json"});
  EXPECT_EQ(ran.code, 5U) << ran.out;
  EXPECT_EQ(string_at(parse_json(ran.out), "schema"), "rollcall.error/1");
  EXPECT_TRUE(std::filesystem::exists(dir_ / ".rollcall/running/s-1.json"));
}

TEST_F(Tools, WritesPlainTextOffAConsole) {
  set("NO_COLOR", std::nullopt);
  set("TERM", std::string("xterm-256color"));
  put_record_of("s-1", Child::sleeper());
  EXPECT_EQ(run({"ps", "--no-prune"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({"--version"}).out.find('\r'), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
