#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "registry/staging_name.hpp"
#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

// fsync(2) ends the calling process, and what it executes, from now on.
bool kill_at_fsync() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  constexpr rlimit kNoCore{0, 0};
  return ::setrlimit(RLIMIT_CORE, &kNoCore) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class Register : public RegtoolTest {
 protected:
  std::vector<std::string> words(const std::string& id, pid_t pid,
                                 std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"register", "--session", id, "--pid", std::to_string(pid)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(Register, RecordsARunningProcess) {
  const Child child = Child::sleeper();
  const Ran ran = run(words("s-1", child.pid(), {"--label", "a=b", "--json"}));
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(string_at(parse_json(ran.out), "start_token"), testing::start_token_of(child.pid()));
  const auto json = parse_json(run({"show", "s-1", "--json"}).out);
  EXPECT_EQ(string_at(json, "verdict"), "live");
  EXPECT_EQ(string_at(json, "record.name"), "sleep");
  EXPECT_EQ(string_at(json, "record.workdir"), std::filesystem::current_path().string());
  EXPECT_EQ(string_at(json, "record.process_start"), testing::start_token_of(child.pid()));
  EXPECT_TRUE(at(json, "record.url").IsNull());
  struct stat info {};
  ASSERT_EQ(::stat(record_path("s-1").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  ASSERT_EQ(::stat((home_ + "/running").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
}

TEST_F(Register, LeavesNothingForEverWhenItIsKilledWhileItWrites) {
  const Child session = Child::sleeper();
  const auto token = dir_.write("token", std::string(3000, 't'));
  std::vector<std::string> words = {program(),      "--home",
                                    home_,          "register",
                                    "--session",    "s-1",
                                    "--pid",        std::to_string(session.pid()),
                                    "--url",        "127.0.0.1:4242",
                                    "--token-file", token.string()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // The system kills it once the file is written, and before it gets its name.
  Child killed = Child::run([&] {
    if (!kill_at_fsync()) return 77;
    ::execv(argv[0], argv.data());
    return 99;
  });
  const pid_t pid = killed.pid();
  const auto status = killed.wait(std::chrono::seconds(60));
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 77) GTEST_SKIP() << "no seccomp here";
  ASSERT_TRUE(status && WIFSIGNALED(*status)) << status.value_or(-1);
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(home_ + "/running")) {
    left.push_back(entry.path());
  }
  ASSERT_EQ(left.size(), 1U);
  EXPECT_NE(testing::slurp(left[0]).find("ttt"), std::string::npos);
  const auto writer = registry::staging_writer(left[0].filename().string());
  ASSERT_TRUE(writer) << left[0];
  EXPECT_EQ(writer->pid, pid);
  EXPECT_EQ(run({"prune"}).code(), 0);
  EXPECT_TRUE(std::filesystem::exists(left[0])) << "it may be in the making";
  std::filesystem::last_write_time(
      left[0], std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  EXPECT_EQ(run({"prune"}).code(), 0);
  EXPECT_FALSE(std::filesystem::exists(left[0]));
}

TEST_F(Register, ReplacesALinkInItsRecordsPlace) {
  const Child session = Child::sleeper();
  const auto victim = dir_.write("victim", "untouched");
  put_record("other", "{}");
  std::filesystem::create_symlink(victim, record_path("s-1"));
  const Ran ran = run(words("s-1", session.pid()));
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_FALSE(std::filesystem::is_symlink(record_path("s-1")));
  EXPECT_EQ(testing::slurp(victim), "untouched");
}

TEST_F(Register, RefusesADirectoryThatIsNoHomeAndLeavesItAsItIs) {
  const Child session = Child::sleeper();
  dir_.write("home/notes.txt", "mine");
  ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
  const Ran ran = run(words("s-1", session.pid()));
  EXPECT_EQ(ran.code(), 5) << ran.err;
  EXPECT_NE(ran.err.find("as a home"), std::string::npos) << ran.err;
  struct stat info {};
  ASSERT_EQ(::stat(home_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0755U);
}

TEST_F(Register, RefusesAPidThatNobodyHolds) {
  const Ran ran = run(words("s-1", testing::free_pid(), {"--json"}));
  EXPECT_EQ(ran.code(), 4);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "no_process");
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Register, RefusesAZombie) {
  const Child zombie = Child::zombie();
  EXPECT_EQ(run(words("s-1", zombie.pid())).code(), 4);
}

TEST_F(Register, RefusesAnotherProcessThanExpected) {
  const Child child = Child::sleeper();
  const std::string token = testing::start_token_of(child.pid());
  EXPECT_EQ(run(words("s-1", child.pid(), {"--expect-start", token + "0"})).code(), 4);
  EXPECT_FALSE(has_record("s-1"));
  EXPECT_EQ(run(words("s-1", child.pid(), {"--expect-start", token})).code(), 0);
}

TEST_F(Register, RefusesADoorThatIsNotOnLoopback) {
  const Child child = Child::sleeper();
  for (const char* url : {"http://localhost:80@evil.example/", "http://127.0.0.1@evil.example/",
                          "http://localhost.evil.example/", "http://127.0.0.1.evil.example:80",
                          "localhostile:80", "http://user@127.0.0.1:80/", "10.0.0.1:80",
                          "0.0.0.0:80", "https://127.0.0.1:80", "127.0.0.1", "nonsense", ""}) {
    const Ran ran = run(words("s-1", child.pid(), {"--url", url}));
    EXPECT_EQ(ran.code(), 4) << url;
    EXPECT_FALSE(has_record("s-1")) << url;
  }
}

TEST_F(Register, TakesATokenFromAFileOrStandardInputAndNeverShowsIt) {
  const Child child = Child::sleeper();
  const std::string file = dir_.write("token", "tok-from-file\n").string();
  const Ran by_file =
      run(words("s-1", child.pid(), {"--url", "127.0.0.1:9", "--token-file", file}));
  EXPECT_EQ(by_file.code(), 0) << by_file.err;
  const Ran by_input = run(words("s-2", child.pid(), {"--url", "127.0.0.1:9", "--token-file", "-"}),
                           "tok-from-stdin\n");
  EXPECT_EQ(by_input.code(), 0) << by_input.err;
  EXPECT_NE(testing::slurp(record_path("s-1")).find("\"tok-from-file\""), std::string::npos);
  EXPECT_NE(testing::slurp(record_path("s-2")).find("\"tok-from-stdin\""), std::string::npos);
  for (const Ran* ran : {&by_file, &by_input}) {
    EXPECT_EQ((ran->out + ran->err).find("tok-"), std::string::npos);
  }
}

TEST_F(Register, RefusesATokenThatCouldInjectAHeader) {
  const Child child = Child::sleeper();
  for (const char* token : {"a b", "a\r\nX: y", "", "\n", "t\xc3\xa9"}) {
    const Ran ran = run(words("s-1", child.pid(), {"--url", "127.0.0.1:9", "--token-file", "-"}),
                        std::string(token) + "\n");
    EXPECT_EQ(ran.code(), 2) << token;
    EXPECT_FALSE(has_record("s-1"));
  }
  EXPECT_EQ(run(words("s-1", child.pid(), {"--url", "127.0.0.1:9", "--token-file", "/nonexistent"}))
                .code(),
            5);
  EXPECT_EQ(run(words("s-1", child.pid(), {"--door", "unix", "--door-set", "token=x"})).code(), 4);
}

TEST_F(Register, RefusesAnIdThatIsTakenUnlessAskedToReplace) {
  const Child one = Child::sleeper();
  const Child two = Child::sleeper();
  ASSERT_EQ(run(words("s-1", one.pid())).code(), 0);
  const Ran again = run(words("s-1", two.pid(), {"--json"}));
  EXPECT_EQ(again.code(), 4);
  EXPECT_EQ(string_at(parse_json(again.out), "error.code"), "already_registered");
  EXPECT_EQ(run(words("S-1", two.pid())).code(), 4);  // the same file where case does not count
  EXPECT_EQ(run(words("s-1", two.pid(), {"--replace"})).code(), 0);
  EXPECT_EQ(number_at(parse_json(run({"show", "s-1", "--json"}).out), "record.pid"), two.pid());
}

TEST_F(Register, ReplacesWhatIsGone) {
  put_record("s-1", record("s-1", testing::free_pid(), "1"));
  const Child child = Child::sleeper();
  EXPECT_EQ(run(words("s-1", child.pid())).code(), 0);
}

TEST_F(Register, RecordsADoorOfAnotherKind) {
  const Child child = Child::sleeper();
  ASSERT_EQ(
      run(words("s-1", child.pid(), {"--door", "unix", "--door-set", "path=/nonexistent"})).code(),
      0);
  const auto json = parse_json(run({"show", "s-1", "--json"}).out);
  EXPECT_EQ(string_at(json, "record.door.kind"), "unix");
  EXPECT_EQ(string_at(json, "record.door.path"), "/nonexistent");
  EXPECT_EQ(string_at(json, "verdict"), "unreachable");
  const Ran none = run(words("s-2", child.pid(), {"--door", "org.example.none"}));
  ASSERT_EQ(none.code(), 0);
  EXPECT_NE(none.err.find("warning: no plugin speaks to doors of kind org.example.none"),
            std::string::npos)
      << none.err;
  EXPECT_EQ(string_at(parse_json(run({"verify", "s-2", "--json"}).out), "door.outcome"),
            "no-plugin");
}

TEST_F(Register, TheKindOfADoorIsShown) {
  const Child child = Child::sleeper();
  ASSERT_EQ(run(words("s-1", child.pid(), {"--door", "tcp", "--url", "127.0.0.1:9"})).code(), 0);
  ASSERT_EQ(run(words("s-2", child.pid(), {"--url", "127.0.0.1:9"})).code(), 0);
  const std::string wide = run({"ps", "--wide"}).out;
  EXPECT_NE(wide.find("KIND"), std::string::npos) << wide;
  EXPECT_NE(wide.find("tcp"), std::string::npos) << wide;
  EXPECT_NE(wide.find("a2a"), std::string::npos) << wide;
  const std::string shown = run({"show", "s-2"}).out;
  const std::size_t kind = shown.find("door.kind");
  ASSERT_NE(kind, std::string::npos) << shown;
  EXPECT_NE(shown.find("a2a", kind), std::string::npos) << shown;
  EXPECT_EQ(
      run({"register", "--session", "s-3", "--pid", std::to_string(child.pid()), "--door", "tcp"})
          .code(),
      2);
  EXPECT_FALSE(has_record("s-3"));
}

TEST_F(Register, LeavesNoDescriptorToAChildThatRegistersAgain) {
  // The session registers itself, runs a child, and is killed: the id is free at once.
  Child shell = Child::exec({"sh", "-c",
                             "export ROLLCALL_HOME=" + home_ + "; " + program() +
                                 " register --session s-1 --pid $$ > /dev/null; "
                                 "sleep 60 & echo $! > " +
                                 (dir_ / "sleep").string() + "; wait"});
  ASSERT_TRUE(
      wait_until([&] { return has_record("s-1") && !testing::slurp(dir_ / "sleep").empty(); }));
  const pid_t sleeper = std::atoi(testing::slurp(dir_ / "sleep").c_str());
  const std::string folder = "/proc/" + std::to_string(sleeper) + "/fd";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto target = std::filesystem::read_symlink(entry, error).string();
    EXPECT_EQ(target.find(home_), std::string::npos) << target;
  }
  shell.signal(SIGKILL);
  shell.wait();
  const Child other = Child::sleeper();
  EXPECT_EQ(run(words("s-1", other.pid())).code(), 0);
  ::kill(sleeper, SIGKILL);
}

}  // namespace
}  // namespace rollcall::regtool
