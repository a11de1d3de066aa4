// A third party's record store, from a trusted folder: its sessions among all the others, and what
// one that misbehaves cannot do.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;
using testing::slurp;
using testing::start_token_of;

constexpr const char* kLines = "com.example.line-store";
constexpr const char* kFaulty = "com.example.faulty-store";
constexpr const char* kToken = "Very-Secret-Token-of-a-store";

class PluginStoreTest : public RegtoolTest {
 protected:
  PluginStoreTest() {
    fs::create_directories(home_);
    ::chmod(home_.c_str(), 0700);
  }

  // Puts a plugin where it may be trusted, and that folder on the search path.
  void install(const std::string& from, const std::string& name) {
    const fs::path to = dir_ / "plugins";
    fs::create_directories(to);
    fs::permissions(to, static_cast<fs::perms>(0755));
    for (const std::string ending : {".so", ".rollcall.json"}) {
      fs::copy_file(fs::path(from) / (name + ending), to / (name + ending));
      fs::permissions(to / (name + ending), static_cast<fs::perms>(0644));
    }
    environment_["ROLLCALL_PLUGIN_PATH"] = to.string();
  }
  void configure(const std::string& json) const {
    const fs::path file = dir_.write("home/config.json", json);
    fs::permissions(file, static_cast<fs::perms>(0600));
  }

  // The example store, with these records.
  void put_lines(const std::vector<std::pair<std::string, std::string>>& records) {
    if (!fs::exists(dir_ / "plugins/line_store.so")) install(LINE_STORE_DIR, "line_store");
    std::string lines;
    for (const auto& [name, bytes] : records) lines.append(name).append("\t").append(bytes);
    const fs::path file = dir_.write("lines", lines);
    configure(R"({"stores":{"com.example.line-store":{"file":")" + file.string() + R"("}}})");
  }
  static std::string record_of(const std::string& id, pid_t pid) {
    return record(id, pid, start_token_of(pid), std::string(R"(,"door_token":")") + kToken + '"');
  }

  // A store that does `what`, and holds a record of a live process under the name "theirs".
  void put_faulty(const std::string& what) {
    install(FAULTY_STORE_DIR, "faulty_store");
    std::string quoted;
    for (const char c : record_of("theirs", theirs_.pid())) {
      if (c == '"') quoted += '\\';
      if (c != '\n') quoted += c;
    }
    configure(R"({"stores":{"com.example.faulty-store":{"does":")" + what + R"(","record":")" +
              quoted + R"("}}})");
  }

  // The own store's live session is shown, and the fault named, however the store behaved.
  void expect_the_rest(const std::string& fault) {
    put_record_of("own-live", own_.pid());
    const Ran ran = run({"ps", "--store", "all", "--json"});
    EXPECT_EQ(ran.code(), 5) << ran.err;
    EXPECT_NE(ran.err.find(fault), std::string::npos) << ran.err;
    const auto document = parse_json(ran.out);
    EXPECT_EQ(string_at(document, "sessions.0.session_id"), "own-live");
    EXPECT_EQ(string_at(document, "stores.6.store"), kFaulty);
    EXPECT_NE(string_at(document, "stores.6.problem"), "(none)");
  }

  Child own_ = Child::sleeper();
  Child theirs_ = Child::sleeper();
};

using PluginStore = PluginStoreTest;

TEST_F(PluginStore, IsListedByItsIdLiveAndGone) {
  put_lines({{"live", record("live", theirs_.pid(), start_token_of(theirs_.pid()))},
             {"other", record("other", theirs_.pid(), "1")}});
  const Ran ran = run({"ps", "--store", kLines, "--format", "{store} {session} {status}"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_EQ(ran.out, "com.example.line-store other unreachable\ncom.example.line-store live live\n")
      << "nothing is proven gone by a store that other machines may write to";
}

TEST_F(PluginStore, IsAmongAllTheStores) {
  put_record_of("own-live", own_.pid());
  put_lines({{"live", record("live", theirs_.pid(), start_token_of(theirs_.pid()))}});
  const Ran ran = run({"ps", "--store", "all", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  const auto document = parse_json(ran.out);
  ASSERT_EQ(at(document, "sessions").Size(), 2u);
  EXPECT_EQ(string_at(document, "sessions.1.store"), kLines);
  EXPECT_EQ(string_at(document, "sessions.1.session_id"), "live");
  EXPECT_EQ(at(document, "stores").Size(), 7u);
  EXPECT_EQ(
      at(parse_json(run({"ps", "--store", std::string(kLines) + ",all", "--json"}).out), "stores")
          .Size(),
      7u)
      << "named twice, counts once";
}

TEST_F(PluginStore, IsShownAndStoppedByItsSession) {
  put_lines({{"live", record("live", theirs_.pid(), start_token_of(theirs_.pid()))}});
  const std::string before = slurp(dir_ / "lines");
  EXPECT_EQ(run({"verify", "live", "--store", kLines}).code(), 0);
  EXPECT_EQ(run({"show", "live", "--store", kLines}).code(), 0);
  EXPECT_EQ(run({"verify", "nobody", "--store", kLines}).code(), 1);
  const Ran stopped = run({"stop", "live", "--store", kLines});
  EXPECT_EQ(stopped.code(), 0) << stopped.out << stopped.err;
  EXPECT_FALSE(theirs_.alive());
  EXPECT_EQ(slurp(dir_ / "lines"), before) << "it is another program's";
}

TEST_F(PluginStore, FromAFolderThatOthersWriteToIsNotRead) {
  put_lines({{"live", record("live", theirs_.pid(), start_token_of(theirs_.pid()))}});
  fs::permissions(dir_ / "plugins", static_cast<fs::perms>(0777));
  const Ran ran = run({"ps", "--store", kLines});
  EXPECT_NE(ran.code(), 0);
  EXPECT_NE(ran.err.find("refused"), std::string::npos) << ran.err;
  const Ran all = run({"ps", "--store", "all"});
  EXPECT_EQ(all.code(), 0) << "what is not trusted is no store: " << all.err;
  EXPECT_EQ(all.out.find("live"), std::string::npos);
}

TEST_F(PluginStore, NeverTellsATokenNorPassesOneOn) {
  put_lines({{"live", record_of("live", theirs_.pid())}});
  std::string printed;
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"ps", "--store", kLines, "-v", "-v", "--wide"},
                                             {"ps", "--store", "all"},
                                             {"show", "live", "--store", kLines},
                                             {"verify", "live", "--store", kLines, "--explain"},
                                             {"doctor"}}) {
    Ran ran = run(words);
    printed += ran.out + ran.err;
    words.emplace_back("--json");
    ran = run(words);
    printed += ran.out + ran.err;
  }
  EXPECT_NE(printed.find("live"), std::string::npos);
  EXPECT_EQ(printed.find("Very-Secret"), std::string::npos);
}

TEST_F(PluginStore, HasItsSettingsFromTheConfigurationWhichShowsNoValueOfThem) {
  put_lines({});
  configure(R"({"stores":{"com.example.line-store":{"file":"Very-Secret-Token"}}})");
  const Ran ran = run({"ps", "--store", kLines});
  EXPECT_EQ(ran.code(), 5) << ran.err;
  EXPECT_NE(ran.err.find("no absolute path"), std::string::npos) << ran.err;
  const Ran doctor = run({"doctor"});
  EXPECT_NE(doctor.out.find("stores.com.example.line-store.file"), std::string::npos) << doctor.out;
  EXPECT_EQ(doctor.out.find("Very-Secret"), std::string::npos);
  configure(R"({"stores":{"com.example.line-store":{"file":1}}})");
  EXPECT_EQ(run({"ps"}).code(), 5);
}

TEST_F(PluginStore, ThatLiesShowsItsLiesEscapedAndNothingOfThemActs) {
  put_faulty("lie");
  const Ran ran = run({"ps", "--store", kFaulty, "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  const auto document = parse_json(ran.out);
  ASSERT_EQ(at(document, "sessions").Size(), 1u);
  EXPECT_EQ(string_at(document, "sessions.0.session_id"), "theirs");
  EXPECT_EQ(at(document, "unreadable").Size(), 8u) << ran.out;
  expect_clean(ran.err);
  EXPECT_EQ(run({"stop", "other", "--store", kFaulty}).code(), 5) << "its record is another's";
  EXPECT_EQ(run({"stop", "../../etc/passwd", "--store", kFaulty}).code(), 2);
  EXPECT_TRUE(theirs_.alive());
}

TEST_F(PluginStore, ThatSaysYesToEveryChangeIsAskedForNone) {
  put_faulty("nothing");
  put_record_of("own-live", own_.pid());
  EXPECT_EQ(run({"prune", "--store", kFaulty}).code(), 2);
  EXPECT_EQ(run({"forget", "theirs", "--store", kFaulty, "--force"}).code(), 2);
  EXPECT_EQ(run({"ps", "--store", kFaulty}).code(), 0);
  EXPECT_TRUE(has_record("own-live"));
}

TEST_F(PluginStore, ThatFailsDoesNotHideTheRest) {
  put_faulty("fail");
  expect_the_rest("the store com.example.faulty-store could not be read");
  const Ran alone = run({"ps", "--store", kFaulty});
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.code(), 5);
}

TEST_F(PluginStore, ThatCannotBeMadeDoesNotHideTheRest) {
  put_faulty("fail-create");
  expect_the_rest("cannot make an instance");
}

TEST_F(PluginStore, ThatAnswersWithNoStatusDoesNotHideTheRest) {
  put_faulty("no-status");
  expect_the_rest("42, which is no status");
}

TEST_F(PluginStore, ThatHangsIsGivenUpAndDoesNotHideTheRest) {
  put_faulty("hang");
  expect_the_rest("unresponsive");
}

TEST_F(PluginStore, ThatHangsAtItsMakingIsGivenUpAndDoesNotHideTheRest) {
  put_faulty("hang-create");
  expect_the_rest("hangs while an instance is created");
}

TEST_F(PluginStore, ThatCrashesEndsTheCommandAndNothingElse) {
  put_faulty("crash");
  put_record_of("own-live", own_.pid());
  const Ran ran = run({"ps", "--store", kFaulty});
  EXPECT_EQ(ran.code(), -SIGABRT) << ran.err;
  EXPECT_TRUE(has_record("own-live"));
  EXPECT_TRUE(theirs_.alive());
  EXPECT_EQ(run({"ps"}).code(), 0) << "who does not choose it is not touched by it";
}

}  // namespace
}  // namespace rollcall::regtool
