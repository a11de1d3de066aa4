// env and tree: what a session's process was started with, and what stands below it.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <string>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

using namespace std::string_literals;

class Env : public RegtoolTest {
 protected:
  // A process with exactly these variables, recorded as `id`.
  Child recorded(const std::string& id, std::vector<std::string> variables,
                 const std::string& name = "sleep") {
    std::vector<char*> envp;
    for (auto& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    std::string text = name;
    std::string seconds = "600";
    char* argv[] = {text.data(), seconds.data(), nullptr};
    Child child = Child::run([&] {
      ::execve("/bin/sleep", argv, envp.data());
      return 99;
    });
    EXPECT_TRUE(wait_until([&] {
      return testing::slurp("/proc/" + std::to_string(child.pid()) + "/comm") == "sleep\n";
    }));
    put_record_of(id, child.pid());
    return child;
  }
};

TEST_F(Env, ShowsTheVariablesAndHidesSecrets) {
  const Child child = recorded("s-1", {"A=1", "API_TOKEN=abc123", "URL=http://u:pw77@h/", "B="});
  const Ran ran = run({"env", "s-1"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_EQ(ran.out, "A=1\nAPI_TOKEN=(hidden)\nURL=(hidden)\nB=\n");
  const Ran json = run({"env", "s-1", "--json"});
  const auto document = parse_json(json.out);
  EXPECT_EQ(string_at(document, "schema"), "rollcall.env/1");
  EXPECT_EQ(string_at(document, "variables.1.value"), "(hidden)");
  EXPECT_TRUE(at(document, "variables.1.hidden").GetBool());
  EXPECT_EQ(json.out.find("abc123"), std::string::npos);
  EXPECT_EQ(json.out.find("pw77"), std::string::npos);
  EXPECT_EQ(run({"env", "s-1", "API_TOKEN", "--show-secrets"}).out, "abc123\n");
}

TEST_F(Env, GivesOneValueAndSaysWhereThereIsNone) {
  const Child child = recorded("s-1", {"A=first", "A=second", "=x", "nothing"});
  EXPECT_EQ(run({"env", "s-1", "A"}).out, "first\n");
  const Ran none = run({"env", "s-1", "NOPE", "--json"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "no_variable");
  const auto document = parse_json(run({"env", "s-1", "--json"}).out);
  EXPECT_EQ(number_at(document, "repeated"), 1);
  EXPECT_EQ(number_at(document, "nameless"), 2);
}

TEST_F(Env, StaysCleanWhateverTheBytes) {
  const Child child = recorded("s-1", {"A=\x1b[2J\xff\nB=2", "C=\xe2\x80\xae"}, "n\n\xff\x1b]0;x");
  expect_clean(run({"env", "s-1"}).out);
  const auto document = parse_json(run({"env", "s-1", "--json"}).out);
  EXPECT_EQ(string_at(document, "variables.0.value"), "\x1b[2J\\xff\nB=2");
  const Ran exact = run({"env", "s-1", "--show-secrets", "--null"});
  EXPECT_EQ(exact.out, "A=\x1b[2J\xff\nB=2\0C=\xe2\x80\xae\0"s);
  EXPECT_EQ(run({"env", "s-1", "--null"}).code(), 2);
  expect_clean(run({"show", "s-1"}).out);
  EXPECT_EQ(string_at(parse_json(run({"show", "s-1", "--json"}).out), "command.1"), "600");
}

TEST_F(Env, ReadsMegabytes) {
  std::vector<std::string> variables;
  for (int i = 0; i < 24; ++i) {
    variables.push_back("V" + std::to_string(i) + "=" + std::string(125'000, 'x'));
  }
  rlimit stack{};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &stack), 0);
  if (stack.rlim_cur != RLIM_INFINITY && stack.rlim_cur / 4 < 3'100'000) {
    stack.rlim_cur = std::min<rlim_t>(stack.rlim_max, 64U << 20U);
    if (::setrlimit(RLIMIT_STACK, &stack) != 0) GTEST_SKIP() << "a process may not hold 3 MB here";
  }
  const Child child = recorded("s-1", variables);
  const Ran ran = run({"env", "s-1", "V23"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_EQ(ran.out, std::string(125'000, 'x') + "\n");
}

TEST_F(Env, SaysThatThereIsNoneWhereItIsEmpty) {
  const Child child = recorded("s-1", {});
  const Ran ran = run({"env", "s-1"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("the environment of s-1 is empty"), std::string::npos) << ran.err;
}

TEST_F(Env, IsNotReadOfAnotherProcessOrOfNone) {
  const Child stranger = recorded("s-1", {"A=1"});
  const std::string token = testing::start_token_of(stranger.pid());
  put_record("s-2", record("s-2", stranger.pid(), std::to_string(std::stoll(token) - 1)));
  const Ran gone = run({"env", "s-2", "--json"});
  EXPECT_EQ(gone.code(), 1);
  EXPECT_EQ(string_at(parse_json(gone.out), "error.code"), "session_not_found");
  put_record("s-3", record("s-3", stranger.pid(), token, R"(,"host_id":"00ff-elsewhere")"));
  const Ran untold = run({"env", "s-3", "--json"});
  EXPECT_EQ(untold.code(), 4);
  EXPECT_EQ(string_at(parse_json(untold.out), "error.code"), "refused");
  EXPECT_EQ(run({"env", "nobody"}).code(), 1);
}

TEST_F(Env, SaysWhereTheSystemRefusesIt) {
  if (::geteuid() == 0) {
    if (!testing::is_open_to_others(program())) GTEST_SKIP() << testing::kClosedBuild;
    // A process that root may not read either: another root's view is the same, so be nobody.
    Child target = Child::sleeper();
    put_record_of("s-1", target.pid());
    ::chmod(dir_.path().c_str(), 0777);
    Child reader = Child::run([&] {
      std::error_code error;
      for (const auto& entry : std::filesystem::recursive_directory_iterator(home_, error)) {
        if (::chown(entry.path().c_str(), 65534, 65534) != 0) return 97;
      }
      if (::chown(home_.c_str(), 65534, 65534) != 0 || !testing::become_nobody()) return 98;
      const Ran ran = run({"env", "s-1"});
      if (ran.out.empty() && ran.err.find("s-1") != std::string::npos) return ran.code();
      return 99;
    });
    const auto status = reader.wait();
    ASSERT_TRUE(status);
    EXPECT_EQ(WEXITSTATUS(*status), 5);
  } else {
    put_record_of("s-1", 1);
    EXPECT_EQ(run({"env", "s-1"}).code(), 5);
  }
}

class Tree : public RegtoolTest {};

TEST_F(Tree, ShowsASessionWithWhatIsBelowIt) {
  auto live = session("s-1", {"sh", "-c", "sleep 600 & echo up; wait"});
  ASSERT_EQ(read_line(live.out), "up\n");
  const Ran ran = run({"tree", "s-1", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  const auto document = parse_json(ran.out);
  EXPECT_EQ(string_at(document, "schema"), "rollcall.tree/1");
  EXPECT_EQ(number_at(document, "processes.0.pid"), live.child.pid());
  EXPECT_EQ(number_at(document, "processes.0.depth"), 0);
  EXPECT_EQ(string_at(document, "processes.0.sessions.0"), "s-1");
  EXPECT_EQ(string_at(document, "processes.0.start_token"),
            testing::start_token_of(live.child.pid()));
  EXPECT_EQ(number_at(document, "processes.1.pid"), command_pid("s-1"));
  EXPECT_EQ(number_at(document, "processes.1.parent"), live.child.pid());
  EXPECT_EQ(string_at(document, "processes.2.name"), "sleep");
  EXPECT_EQ(number_at(document, "processes.2.depth"), 2);
  const Ran text = run({"tree", "s-1"});
  EXPECT_NE(text.out.find("s-1"), std::string::npos);
  EXPECT_NE(text.out.find("      sleep\n"), std::string::npos) << text.out;
}

TEST_F(Tree, ShowsEveryProcessOnceAndMarksSessions) {
  auto live = session("s-1", {"sleep", "600"});
  const auto document = parse_json(run({"tree", "--json"}).out);
  std::map<std::int64_t, int> seen;
  bool marked = false;
  for (const auto& process : at(document, "processes").GetArray()) {
    ++seen[number_at(process, "pid")];
    marked = marked || string_at(process, "sessions.0") == "s-1";
  }
  EXPECT_TRUE(marked);
  EXPECT_EQ(seen[live.child.pid()], 1);
  EXPECT_EQ(seen[::getpid()], 1);
  for (const auto& [pid, times] : seen) EXPECT_EQ(times, 1) << pid;
}

TEST_F(Tree, StaysCleanWhateverAProcessIsNamed) {
  const Child odd = Child::run([] {
    ::prctl(PR_SET_NAME, "a\n\x1b[2J\xff");
    ::pause();
    return 0;
  });
  ASSERT_TRUE(wait_until(
      [&] { return testing::slurp("/proc/" + std::to_string(odd.pid()) + "/comm")[0] == 'a'; }));
  expect_clean(run({"tree"}).out);
  (void)parse_json(run({"tree", "--json"}).out);
}

TEST_F(Tree, OfASessionThatIsGoneIsNone) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const Ran ran = run({"tree", "s-dead", "--json"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "session_not_found");
}

}  // namespace
}  // namespace rollcall::regtool
