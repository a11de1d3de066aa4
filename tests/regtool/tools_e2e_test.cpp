#include <gtest/gtest.h>

#include <set>
#include <string>

#include "regtool/doctor.hpp"
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
  for (const char* topic :
       {"pidfd", "pidfs", "/proc", "hidepid", "descriptors", "home", "records", "file system",
        "backend", "boot id", "host id", "signals", "watching"}) {
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

TEST_F(Tools, DoctorRefusesAHomeThatEverybodyMayWriteTo) {
  const std::string shared = (dir_ / "shared").string();
  std::filesystem::create_directories(shared);
  ::chmod(shared.c_str(), 01777);
  const Ran ran = run({"--home", shared, "doctor"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_NE(ran.out.find("refusing to use " + shared + ": everybody may write to it"),
            std::string::npos)
      << ran.out;
  EXPECT_EQ(ran.out.find("chmod"), std::string::npos) << ran.out;
  ::chmod(shared.c_str(), 0755);
  std::ofstream(shared + "/letter") << "dear";
  const Ran other = run({"--home", shared, "doctor"});
  EXPECT_EQ(other.code(), 1);
  EXPECT_NE(other.out.find("refusing to use " + shared + " as a home: it is no home of Rollcall"),
            std::string::npos)
      << other.out;
}

TEST_F(Tools, DoctorAndTheStoreAgreeOnWhatIsAHome) {
  struct Row {
    const char* folder;
    bool is_home;
  };
  for (const auto& [folder, is_home] :
       {Row{"running", true}, Row{"live", true}, Row{"gone", true}, Row{"journal", false}}) {
    const std::string home = (dir_ / (std::string("h-") + folder)).string();
    std::filesystem::create_directories(home + "/" + folder);
    ::chmod(home.c_str(), 0700);
    std::ofstream(home + "/letter") << "dear";
    const Ran doctor = run({"--home", home, "doctor"});
    EXPECT_EQ(doctor.out.find("it is no home of Rollcall") == std::string::npos, is_home)
        << doctor.out;
    const Ran store =
        run({"--home", home, "register", "--session", "s-1", "--pid", std::to_string(::getpid())});
    EXPECT_EQ(store.code() == 0, is_home) << store.err;
  }
}

TEST_F(Tools, DoctorShowsABrokenConfigurationInItsTable) {
  std::filesystem::create_directories(home_);
  ::chmod(home_.c_str(), 0700);
  std::ofstream(home_ + "/config.json") << "{";
  ::chmod((home_ + "/config.json").c_str(), 0600);
  const Ran ran = run({"doctor", "--json"});
  EXPECT_EQ(ran.code(), 1);
  const auto json = parse_json(ran.out);
  bool told = false;
  for (const auto& check : at(json, "checks").GetArray()) {
    if (string_at(check, "topic") != "configuration") continue;
    told = true;
    EXPECT_EQ(string_at(check, "state"), "bad");
    EXPECT_NE(string_at(check, "text").find("config.json"), std::string::npos);
  }
  EXPECT_TRUE(told) << ran.out;
  EXPECT_GT(at(json, "checks").Size(), 10U);
}

TEST_F(Tools, DoctorTellsRecordsFromWhatIsNone) {
  const Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  put_record("torn", "{");
  const Ran ran = run({"doctor"});
  EXPECT_NE(ran.out.find("1 record, 1 file that is no record"), std::string::npos) << ran.out;
}

TEST_F(Tools, WarnsOfAllowedHostsThatAreNoAddresses) {
  environment_["ROLLCALL_DOORS_ALLOW_HOSTS"] = "db.example,10.0.0.7,fd00::1";
  const Ran ran = run({"ps"});
  EXPECT_NE(ran.err.find("db.example is no numeric address"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("10.0.0.7 is"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("fd00::1 is"), std::string::npos) << ran.err;
}

TEST(Hidepid, LimitsOrdinaryUsersOnly) {
  EXPECT_EQ(judge_hidepid("0", false).health, Health::kGood);
  EXPECT_EQ(judge_hidepid("invisible", false).health, Health::kLimited);
  EXPECT_EQ(judge_hidepid("invisible", true).health, Health::kGood);
}

TEST_F(Tools, DoctorJudgesTheHomeByTheUserThatIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for --user";
  const Ran ran = run({"--user", "nobody", "doctor"});
  EXPECT_EQ(ran.out.find("not to uid 0"), std::string::npos) << ran.out;
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

TEST_F(Tools, SaysWhatItDoesWhenAskedAndNeverASecret) {
  const Child child = Child::sleeper();
  put_record_of("s-1", child.pid(), R"(,"door_token":"tok-secret")", R"("127.0.0.1:9")");
  const Ran info = run({"-v", "ps"});
  for (const std::string& part :
       {std::string("info: home: ") + home_, std::string("config.json: not there"),
        std::string("info: plugin loaded: rollcall.backend.linux, /"),
        std::string("list: 1 records"), std::string("observe: 1 alive"),
        std::string("doors: 1 asked"), std::string("prune: 0 pruned")}) {
    EXPECT_NE(info.err.find(part), std::string::npos) << part << "\n" << info.err;
  }
  EXPECT_EQ(info.err.find("debug:"), std::string::npos) << info.err;
  const Ran debug = run({"-vv", "ps"});
  EXPECT_NE(debug.err.find("debug: s-1: process alive, door "), std::string::npos) << debug.err;
  EXPECT_EQ(debug.err.find("tok-secret"), std::string::npos);
  expect_clean(debug.err);
}

TEST_F(Tools, WarnsOfALogLevelThatIsNone) {
  environment_["ROLLCALL_LOG"] = "loud";
  EXPECT_NE(run({"ps"}).err.find("ROLLCALL_LOG=loud"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
