#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

// A copy of the program without the plugins that belong to it.
class NoBackend : public RegtoolTest {
 protected:
  NoBackend() {
    std::filesystem::create_directories(dir_ / "alone/bin");
    ::chmod((dir_ / "alone").c_str(), 0755);
    ::chmod((dir_ / "alone/bin").c_str(), 0755);
    program_ = (dir_ / "alone/bin/regtool").string();
    std::filesystem::copy_file(RegtoolTest::program(), program_);
    put_record_of("web", ::getpid());
  }

  void add_plugins() {
    std::filesystem::create_directories(dir_ / "alone/lib/rollcall");
    plugins_ = (dir_ / "alone/lib/rollcall/plugins").string();
    std::filesystem::copy(test::kPluginDir, plugins_, std::filesystem::copy_options::recursive);
  }

  // Exit 5, capability_unavailable, and the record still there.
  std::string expect_unavailable(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    words.emplace_back("--json");
    const Ran ran = run(words);
    EXPECT_EQ(ran.code(), 5) << arguments.front() << ": " << ran.out << ran.err;
    const auto json = parse_json(ran.out);
    EXPECT_EQ(string_at(json, "error.code"), "capability_unavailable") << arguments.front();
    EXPECT_TRUE(has_record("web")) << arguments.front();
    return string_at(json, "error.text");
  }

  void expect_all_unavailable() {
    const std::string pid = std::to_string(::getpid());
    const std::vector<std::vector<std::string>> commands = {
        {"verify", "web"},
        {"ps"},
        {"stop", "web"},
        {"kill", "web"},
        {"prune"},
        {"wait", "web", "--timeout", "1s"},
        {"show", "web"},
        {"forget", "web"},
        {"register", "--session", "new", "--pid", pid}};
    for (const auto& command : commands) expect_unavailable(command);
  }

  std::string plugins_;
};

TEST_F(NoBackend, IsExit5AndNeverASessionThatIsGone) { expect_all_unavailable(); }

TEST_F(NoBackend, SaysWhereItWasLookedFor) {
  const std::string text = expect_unavailable({"verify", "web"});
  EXPECT_NE(text.find("rollcall.process-probe/1"), text.npos) << text;
  EXPECT_NE(text.find("alone/bin/../lib/rollcall/plugins (no such folder)"), text.npos) << text;
}

TEST_F(NoBackend, InAFolderThatOthersMayWriteSaysSo) {
  add_plugins();
  ::chmod(plugins_.c_str(), 0775);
  expect_all_unavailable();
  const std::string text = expect_unavailable({"verify", "web"});
  EXPECT_NE(text.find("writable by the group"), text.npos) << text;
}

TEST_F(NoBackend, IsNotSaidWhereThePluginsStand) {
  add_plugins();
  ::chmod(plugins_.c_str(), 0755);
  EXPECT_EQ(run({"ps"}).code(), 0);
}

TEST_F(RegtoolTest, ASecondOpinionThatIsNotThereIsExit5) {
  put_record_of("web", ::getpid());
  ::chmod(home_.c_str(), 0700);
  std::ofstream(home_ + "/config.json") << R"({"plugins":{"second_opinion":"com.example.nobody"}})";
  ::chmod((home_ + "/config.json").c_str(), 0600);
  for (const char* command : {"verify", "stop", "kill"}) {
    const Ran ran = run({command, "web", "--json"});
    EXPECT_EQ(ran.code(), 5) << ran.out << ran.err;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "capability_unavailable");
  }
}

}  // namespace
}  // namespace rollcall::regtool
