#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>

#include <algorithm>
#include <set>
#include <string>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitized = true;
#else
constexpr bool kThreadSanitized = false;
#endif

class Run : public RegtoolTest {
 protected:
  static bool has_ended(pid_t pid) {
    const char state = testing::state_of(pid);
    return state == '\0' || state == 'Z' || state == 'X';
  }
};

TEST_F(Run, PassesTheExitCodeOn) {
  EXPECT_EQ(run({"run", "--", "true"}).code(), 0);
  EXPECT_EQ(run({"run", "--", "sh", "-c", "exit 7"}).code(), 7);
  EXPECT_EQ(run({"run", "--", "sh", "-c", "exit 125"}).code(), 125);
  EXPECT_EQ(run({"run", "--", "sh", "-c", "kill -9 $$"}).code(), 128 + SIGKILL);
  EXPECT_EQ(run({"run", "--", "sh", "-c", "kill -TERM $$"}).code(), 128 + SIGTERM);
}

TEST_F(Run, GivesTheCodesOfEnvForWhatCannotBeRun) {
  const Ran none = run({"run", "--json", "--", "no-such-command-here"});
  EXPECT_EQ(none.code(), 127);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "no_command");
  EXPECT_EQ(run({"run", "--", "/no/such/file"}).code(), 127);
  EXPECT_EQ(run({"run", "--", "/etc/passwd"}).code(), 126);
  EXPECT_EQ(run({"run", "--", "/etc"}).code(), 126);
  const auto broken = dir_.write("broken", "#!/no/such/interpreter\n");
  ::chmod(broken.c_str(), 0755);
  EXPECT_EQ(run({"run", "--session", "s-broken", "--", broken.string()}).code(), 127);
  EXPECT_FALSE(has_record("s-broken"));
  EXPECT_EQ(run({"run", "--workdir", "/no/such/folder", "--", "true"}).code(), 125);
}

TEST_F(Run, RunsAScriptWithoutAnInterpreterLineByTheShell) {
  const auto script = dir_.write("script", "exit 9\n");
  ::chmod(script.c_str(), 0755);
  EXPECT_EQ(run({"run", "--", script.string()}).code(), 9);
}

TEST_F(Run, PassesInputAndOutputThrough) {
  const Ran ran = run({"run", "--", "sh", "-c", "cat; echo to-err >&2"}, "from-stdin");
  EXPECT_EQ(ran.out, "from-stdin");
  EXPECT_EQ(ran.err, "to-err\n");
}

TEST_F(Run, KeepsItsOwnMemoryOutOfDumpsAndLeavesTheCommandsAlone) {
  const std::string inherited = testing::slurp("/proc/self/coredump_filter");
  if (inherited.empty()) GTEST_SKIP() << "this kernel makes no core dumps";
  const Ran ran = run({"run", "--auth", "--", "sh", "-c",
                       "cat /proc/$PPID/coredump_filter /proc/self/coredump_filter"});
  EXPECT_EQ(ran.out, "00000000\n" + inherited);
}

TEST_F(Run, LetsTheCommandFindItsOwnSession) {
  const Ran ran = run({"run", "--session", "s-1", "--", "sh", "-c",
                       program() + " verify \"$ROLLCALL_SESSION_ID\""});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_EQ(ran.out, "s-1: live\n");
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Run, MakesAnIdThatSortsByTime) {
  const Ran ran = run({"run", "--", "sh", "-c", "echo $ROLLCALL_SESSION_ID"});
  EXPECT_EQ(ran.out.size(), 37U);
  EXPECT_EQ(ran.out.rfind("ses_", 0), 0U);
}

TEST_F(Run, NeverHandsTheTokenToTheCommand) {
  const Ran ran =
      run({"run", "--session", "s-1", "--auth", "--", "sh", "-c",
           "env; tr '\\0' ' ' < /proc/self/cmdline; cat \"$ROLLCALL_HOME/running/s-1.json\" "
           "> " +
               (dir_ / "record").string()});
  const std::string bytes = testing::slurp(dir_ / "record");
  rapidjson::Document document;
  document.Parse(bytes.data(), bytes.size());
  ASSERT_FALSE(document.HasParseError());
  const std::string token = string_at(document, "door_token");
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ(ran.out.find(token), std::string::npos);
  EXPECT_NE(ran.out.find("ROLLCALL_SESSION_ID=s-1"), std::string::npos);
}

TEST_F(Run, ProvesAnAuthenticatedDoorLive) {
  auto live = session("s-1", {"sleep", "60"}, {"--auth"});
  EXPECT_EQ(run({"verify", "s-1"}).code(), 0);
  std::string bytes = testing::slurp(record_path("s-1"));
  const std::size_t token = bytes.find("\"door_token\"");
  ASSERT_NE(token, std::string::npos);
  const std::size_t value = bytes.find('"', bytes.find(':', token));
  bytes[value + 1] = bytes[value + 1] == '0' ? '1' : '0';
  put_record("s-1", bytes);
  const Ran wrong = run({"verify", "s-1", "--json"});
  EXPECT_EQ(wrong.code(), 3) << wrong.out;
}

TEST_F(Run, RecordsNoDoorWhenAskedForNone) {
  auto live = session("s-1", {"sleep", "60"}, {"--no-door"});
  const auto json = parse_json(run({"ps", "--json"}).out);
  EXPECT_TRUE(at(json, "sessions.0.url").IsNull());
  EXPECT_EQ(string_at(json, "sessions.0.status"), "live");
}

TEST_F(Run, GivesTheCommandACleanStart) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit core{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &core), 0);
  auto live = session("s-1", {"sleep", "60"});
  const pid_t command = command_pid("s-1");
  ASSERT_TRUE(wait_until(
      [&] { return testing::slurp("/proc/" + std::to_string(command) + "/comm") == "sleep\n"; }));
  const std::string status = testing::slurp("/proc/" + std::to_string(command) + "/status");
  const std::string own = testing::slurp("/proc/self/status");
  for (const char* field : {"SigBlk:", "SigIgn:", "SigCgt:"}) {
    const std::size_t where = status.find(field);
    ASSERT_NE(where, std::string::npos);
    const std::string expected = field == std::string_view("SigIgn:")
                                     ? own.substr(own.find(field) + 8, 16)
                                     : "0000000000000000";
    EXPECT_EQ(status.substr(where + 8, 16), expected) << field;
  }
  rlimit theirs{};
  ASSERT_EQ(::prlimit(command, RLIMIT_NOFILE, nullptr, &theirs), 0);
  EXPECT_EQ(theirs.rlim_cur, limit.rlim_cur);
  ASSERT_EQ(::prlimit(command, RLIMIT_CORE, nullptr, &theirs), 0);
  EXPECT_EQ(theirs.rlim_cur, core.rlim_cur);
  EXPECT_EQ(::getpgid(command), command);
  EXPECT_NE(::getpgid(live.child.pid()), command);
}

TEST_F(Run, LeavesNoDescriptorToTheCommand) {
  // What regtool itself was started with is the command's too: only what it opened is not.
  std::set<std::string> given;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    given.insert(entry.path().filename().string());
  }
  auto live = session("s-1", {"sleep", "60"});
  const pid_t command = command_pid("s-1");
  ASSERT_TRUE(wait_until(
      [&] { return testing::slurp("/proc/" + std::to_string(command) + "/comm") == "sleep\n"; }));
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(command) + "/fd")) {
    EXPECT_TRUE(given.count(entry.path().filename().string()) > 0) << entry.path();
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry, error).string();
    EXPECT_EQ(target.find(home_), std::string::npos) << target;
    EXPECT_EQ(target.find("socket:"), std::string::npos) << target;
    EXPECT_EQ(target.find("pidfd"), std::string::npos) << target;
  }
}

TEST_F(Run, PassesSignalsThrough) {
  for (const auto& [number, name] : std::vector<std::pair<int, std::string>>{{SIGTERM, "TERM"},
                                                                             {SIGINT, "INT"},
                                                                             {SIGHUP, "HUP"},
                                                                             {SIGQUIT, "QUIT"},
                                                                             {SIGUSR1, "USR1"},
                                                                             {SIGUSR2, "USR2"},
                                                                             {SIGWINCH, "WINCH"}}) {
    Started live = start({"run", "--session", "s-1", "--", "sh", "-c",
                          "trap 'echo " + name + "; exit 3' " + name +
                              "; echo ready; while :; do sleep 0.02; done"});
    ASSERT_EQ(read_line(live.out), "ready\n");
    live.child.signal(number);
    EXPECT_EQ(read_line(live.out), name + "\n");
    EXPECT_EQ(finish(std::move(live)).code(), 3) << name;
  }
}

TEST_F(Run, LeavesIgnoredWhatItWasStartedWithAsIgnored) {
  const Ran ran = run({"run", "--", "sh", "-c",
                       "trap '' TERM INT PIPE; exec " + program() +
                           " run -- sh -c 'kill -TERM $$; kill -INT $$; kill -PIPE $$; echo on'"});
  EXPECT_EQ(ran.out, "on\n");
  EXPECT_EQ(ran.code(), 0);
}

TEST_F(Run, PassesNoSignalOnThatItWasStartedWithAsIgnored) {
  Started live = start({"run", "--", "sh", "-c",
                        "trap '' USR1; exec " + program() +
                            " run --session s-1 -- env --default-signal=USR1 sh -c 'trap \"echo "
                            "usr1\" USR1; trap \"echo usr2; exit\" USR2; echo ready; while :; do "
                            "sleep 0.02; done'"});
  ASSERT_EQ(read_line(live.out), "ready\n");
  const Ran sent = run({"kill", "s-1", "--signal", "USR1"});
  EXPECT_EQ(sent.code(), 0) << sent.err;
  EXPECT_EQ(run({"kill", "s-1", "--signal", "USR2"}).code(), 0);
  EXPECT_EQ(finish(std::move(live)).out, "usr2\n");
}

TEST_F(Run, DiesOfTheInterruptThatItPassedOn) {
  for (const int signal : {SIGINT, SIGQUIT}) {
    Started live = start({"run", "--session", "s-1", "--", "sh", "-c", "echo up; exec sleep 60"});
    ASSERT_EQ(read_line(live.out), "up\n");
    live.child.signal(signal);
    EXPECT_EQ(finish(std::move(live)).code(), -signal);
    EXPECT_FALSE(has_record("s-1"));
  }
}

TEST_F(Run, RunsUnrecordedWhereNoFileMayGrow) {
  if (kThreadSanitized) GTEST_SKIP() << "the sanitizer writes a file of its own as it starts";
  const Ran ran =
      run({"run", "--", "sh", "-c", "ulimit -f 0; exec " + program() + " run -- sh -c 'echo ran'"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out, "ran\n");
  EXPECT_NE(ran.err.find("unrecorded"), std::string::npos) << ran.err;
}

TEST_F(Run, RegisterFailsWhereNoFileMayGrow) {
  if (kThreadSanitized) GTEST_SKIP() << "the sanitizer writes a file of its own as it starts";
  const Ran ran = run({"run", "--no-door", "--", "sh", "-c",
                       "ulimit -f 0; exec " + program() + " register --session s-1 --pid $PPID"});
  EXPECT_EQ(ran.code(), 5) << ran.err;
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Run, WritesAllIntoAPipeThatDoesNotBlock) {
  const std::string help = run({"run", "--help"}).out;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), 0);
  // Full but for less than the help's size: a write cannot be done at once.
  const std::string filler(4096, 'f');
  std::size_t filled = 0;
  for (ssize_t put = 0; (put = ::write(pipe[1], filler.data(), filler.size())) > 0;) {
    filled += static_cast<std::size_t>(put);
  }
  Started started = start({"run", "--help"}, pipe[1]);
  ::close(pipe[1]);
  // It waits, since nobody has read yet; then it finds room again and again.
  EXPECT_TRUE(wait_until([&] {
    const auto state = testing::state_of(started.child.pid());
    return state == 'S' || state == 'Z';
  }));
  std::string seen;
  std::array<char, 4096> block{};
  EXPECT_TRUE(wait_until([&] {
    const ssize_t got = ::read(pipe[0], block.data(), block.size());
    if (got > 0) seen.append(block.data(), static_cast<std::size_t>(got));
    return got == 0;
  }));
  ::close(pipe[0]);
  EXPECT_EQ(seen.substr(std::min(filled, seen.size())), help);
  EXPECT_EQ(finish(std::move(started)).code(), 0);
}

TEST_F(Run, DetachedTellsThePidOfWhatRunsUnrecorded) {
  std::filesystem::create_directories(home_);
  std::ofstream(home_ + "/running") << "a file";
  const Ran ran = run({"run", "--detach", "--", "sleep", "60"});
  EXPECT_EQ(ran.code(), 0);
  const std::size_t where = ran.err.find("; its pid is ");
  ASSERT_NE(where, std::string::npos) << ran.err;
  const pid_t command = std::atoi(ran.err.c_str() + where + 13);
  ASSERT_GT(command, 1);
  EXPECT_TRUE(wait_until(
      [&] { return testing::slurp("/proc/" + std::to_string(command) + "/comm") == "sleep\n"; }));
  ::kill(command, SIGKILL);
}

TEST_F(Run, KeepsTheCommandsGroupApart) {
  // The script shares regtool's group: a signal that ends the command leaves the script alone.
  const Ran ran = finish([&] {
    Started started = start({"run", "--", "sh", "-c",
                             "trap 'echo script-got-it' TERM INT; " + program() +
                                 " run -- sh -c 'kill -TERM 0; sleep 10'; echo code $?"});
    return started;
  }());
  EXPECT_EQ(ran.out, "code 143\n");
}

TEST_F(Run, StopsAndGoesOnWithTheCommand) {
  auto live = session("s-1", {"sleep", "60"});
  const pid_t wrapper = live.child.pid();
  const pid_t command = command_pid("s-1");
  ASSERT_GT(command, 0);
  for (int round = 0; round < 3; ++round) {
    ::kill(command, SIGSTOP);
    ASSERT_TRUE(wait_until([&] { return testing::state_of(wrapper) == 'T'; }));
    EXPECT_EQ(run({"verify", "s-1"}).code(), 3);
    ::kill(command, SIGCONT);
    ASSERT_TRUE(wait_until([&] { return testing::state_of(wrapper) == 'S'; }));
  }
  EXPECT_TRUE(wait_until([&] { return run({"verify", "s-1"}).code() == 0; }));
}

TEST_F(Run, WakesTheCommandWhenItIsWoken) {
  auto live = session("s-1", {"sleep", "60"});
  const pid_t command = command_pid("s-1");
  ::kill(command, SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(live.child.pid()) == 'T'; }));
  live.child.signal(SIGCONT);
  EXPECT_TRUE(wait_until([&] { return testing::state_of(command) == 'S'; }));
}

TEST_F(Run, EndsWhenItsStoppedCommandIsKilled) {
  auto live = session("s-1", {"sleep", "60"});
  const pid_t command = command_pid("s-1");
  ::kill(command, SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(live.child.pid()) == 'T'; }));
  ::kill(command, SIGKILL);
  EXPECT_EQ(finish(std::move(live)).code(), 128 + SIGKILL);
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Run, TakesTheCommandAlongWhenItIsKilled) {
  auto live = session("s-1", {"sleep", "60"});
  const pid_t command = command_pid("s-1");
  ASSERT_GT(command, 0);
  live.child.signal(SIGKILL);
  ASSERT_TRUE(live.child.wait());
  EXPECT_TRUE(wait_until([&] { return has_ended(command); }));
  EXPECT_TRUE(has_record("s-1"));
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.out, "no running sessions\n");
  EXPECT_EQ(ran.err.rfind("pruned: s-1: no process holds pid ", 0), 0U) << ran.err;
}

TEST_F(Run, RefusesAnIdThatIsTakenBeforeItRunsAnything) {
  auto live = session("s-1", {"sleep", "60"});
  const auto mark = dir_ / "mark";
  const Ran ran = run({"run", "--session", "s-1", "--json", "--", "touch", mark.string()});
  EXPECT_EQ(ran.code(), 125);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "already_registered");
  EXPECT_FALSE(std::filesystem::exists(mark));
  EXPECT_EQ(run({"verify", "s-1"}).code(), 0);
}

TEST_F(Run, RunsTheCommandWithTheDefaultsWhereTheConfigurationCannotBeUsed) {
  std::filesystem::create_directories(home_);
  std::ofstream(home_ + "/config.json") << "{ no json";
  ::chmod((home_ + "/config.json").c_str(), 0600);
  const std::string recorded = "test -e '" + home_ + "/running/s-1.json' && exit 7";
  const Ran ran = run({"run", "--session", "s-1", "--", "sh", "-c", recorded});
  EXPECT_EQ(ran.code(), 7) << ran.err;
  EXPECT_NE(ran.err.find("the configuration cannot be used"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("the defaults apply"), std::string::npos) << ran.err;
  const Ran detached = run({"run", "--detach", "--session", "s-2", "--", "true"});
  EXPECT_EQ(detached.code(), 0) << detached.err;
  EXPECT_EQ(detached.out, "s-2\n");
  EXPECT_NE(detached.err.find("the defaults apply"), std::string::npos) << detached.err;
}

TEST_F(Run, ExitsWithItsOwnCodeWhereItFailedItself) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  EXPECT_EQ(finish(start({"run", "--detach", "--", "true"}, full)).code(), 125);
  ::close(full);
  environment_["ROLLCALL_HOME"] = "";
  environment_["HOME"] = "";
  const Ran ran = run({"run", "--user", "root", "--json", "--", "true"});
  EXPECT_EQ(ran.code(), 125) << ran.err;
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "refused");
}

TEST_F(Run, HasOneOwnerOfAnIdHoweverManyRaceForIt) {
  constexpr int kRacers = 8;
  std::vector<Started> racers;
  for (int i = 0; i < kRacers; ++i) {
    racers.push_back(start({"run", "--session", "s-1", "--", "sh", "-c",
                            "echo ran >> " + (dir_ / "ran").string() + "; sleep 60"}));
  }
  int refused = 0;
  EXPECT_TRUE(wait_until([&] {
    refused = 0;
    for (Started& racer : racers) refused += racer.child.alive() ? 0 : 1;
    return refused == kRacers - 1 && testing::slurp(dir_ / "ran") == "ran\n";
  })) << refused
      << testing::slurp(dir_ / "ran");
  EXPECT_EQ(run({"verify", "s-1"}).code(), 0);
}

TEST_F(Run, RunsTheCommandThatCannotBeRecorded) {
  std::filesystem::create_directories(home_);
  std::ofstream(home_ + "/running") << "a file";
  environment_["ROLLCALL_SESSION_ID"] = "an-outer-session";
  const Ran ran = run({"run", "--", "sh", "-c", "echo ran ${ROLLCALL_SESSION_ID-unset}; exit 4"});
  EXPECT_EQ(ran.code(), 4);
  EXPECT_EQ(ran.out, "ran unset\n");
  EXPECT_NE(ran.err.find("unrecorded"), std::string::npos) << ran.err;
}

TEST_F(Run, DetachesAndPrintsTheId) {
  const Ran ran = run({"run", "--detach", "--session", "s-1", "--", "sleep", "60"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out, "s-1\n");
  const auto json = parse_json(run({"ps", "--json"}).out);
  ASSERT_EQ(string_at(json, "sessions.0.status"), "live");
  EXPECT_TRUE(at(json, "sessions.0.detached").IsTrue());
  const auto wrapper = static_cast<pid_t>(number_at(json, "sessions.0.pid"));
  EXPECT_NE(::getsid(wrapper), ::getsid(0));
  const pid_t command = command_pid("s-1");
  for (const char* fd : {"0", "1", "2"}) {
    std::error_code error;
    EXPECT_EQ(
        std::filesystem::read_symlink("/proc/" + std::to_string(command) + "/fd/" + fd, error),
        "/dev/null");
  }
  EXPECT_EQ(run({"stop", "s-1"}).code(), 0);
  EXPECT_TRUE(wait_until([&] { return has_ended(command); }));
}

TEST_F(Run, DetachedWritesItsOutputToALog) {
  const auto log = dir_ / "log";
  const Ran ran = run({"run", "--detach", "--log", log.string(), "--json", "--", "sh", "-c",
                       "echo out; echo err >&2"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.run/1");
  EXPECT_GT(number_at(json, "command_pid"), 0);
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log) == "out\nerr\n"; }));
  struct stat info {};
  ASSERT_EQ(::stat(log.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(Run, DetachedReportsWhatCannotBeRun) {
  const Ran ran = run({"run", "--detach", "--json", "--", "no-such-command-here"});
  EXPECT_EQ(ran.code(), 127);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "no_command");
  auto live = session("s-1", {"sleep", "60"});
  EXPECT_EQ(run({"run", "--detach", "--session", "s-1", "--", "true"}).code(), 125);
}

TEST_F(Run, RunsWhereItWasTold) {
  const Ran ran = run({"run", "--workdir", "/usr", "--", "pwd"});
  EXPECT_EQ(ran.out, "/usr\n");
}

// A terminal of the test's own, with a shell-like leader that runs regtool in the foreground.
class OnATerminal : public Run {
 protected:
  // A member of the foreground job `group` (0: a new one) whose descriptor `to` is `from`.
  static pid_t start_member(pid_t group, int to, int from, const std::string& script) {
    const pid_t pid = ::fork();
    ::setpgid(pid, group);
    if (pid != 0) return pid;
    if (group == 0) ::tcsetpgrp(STDIN_FILENO, ::getpid());
    ::signal(SIGTTOU, SIG_DFL);
    ::dup2(from, to);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(97);
  }
  // Runs a shell script in a new session whose terminal is ours to drive. Without one it returns in
  // the child, with child_ empty.
  void open(const std::string& script) {
    const pid_t pid = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid == 0) {
      ::setenv("ROLLCALL_HOME", home_.c_str(), 1);
      ::setenv("PS1", "", 1);
      if (script.empty()) return;
      ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      ::_exit(99);
    }
    ASSERT_GT(pid, 0);
    child_ = Child(pid);
  }
  // `regtool run -- sh -c SCRIPT | cat` as one foreground job with `stty tostop`, of a parent that
  // waits for the ends of both and does not mind stops, as shells with jobs do. It says
  // "ended A B", the wait statuses, when both have ended.
  void open_piped(const std::string& script) {
    open({});
    if (child_.pid() > 0) return;
    ::signal(SIGTTOU, SIG_IGN);
    termios mode{};
    ::tcgetattr(STDIN_FILENO, &mode);
    mode.c_lflag |= TOSTOP;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) ::_exit(98);
    const std::string wrapper = program() + " run --no-door -- sh -c '" + script + "'";
    const pid_t first = start_member(0, STDOUT_FILENO, pipe[1], "exec " + wrapper);
    const pid_t second = start_member(first, STDIN_FILENO, pipe[0], "exec cat");
    ::close(pipe[0]);
    ::close(pipe[1]);
    int a = -1;
    int b = -1;
    ::waitpid(first, &a, 0);
    ::waitpid(second, &b, 0);
    ::dprintf(STDOUT_FILENO, "ended %d %d\n", a, b);
    ::sleep(60);  // until the terminal is closed
    ::_exit(0);
  }
  ~OnATerminal() override {
    if (terminal_ >= 0) ::close(terminal_);
  }
  bool see(const std::string& text) {
    return wait_until([&] {
      pollfd polled{terminal_, POLLIN, 0};
      std::array<char, 4096> block{};
      if (::poll(&polled, 1, 20) > 0) {
        const ssize_t got = ::read(terminal_, block.data(), block.size());
        if (got > 0) seen_.append(block.data(), static_cast<std::size_t>(got));
      }
      return seen_.find(text) != std::string::npos;
    });
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  int terminal_ = -1;
  Child child_;
  std::string seen_;
};

TEST_F(OnATerminal, GivesTheTerminalToTheCommandAndTakesItBack) {
  open(program() +
       " run -- sh -c 'echo ask; read answer; echo got $answer'; echo code $?; "
       "read more; echo then $more");
  ASSERT_TRUE(see("ask")) << seen_;
  type("yes\n");
  ASSERT_TRUE(see("got yes")) << seen_;
  ASSERT_TRUE(see("code 0")) << seen_;
  type("on\n");
  EXPECT_TRUE(see("then on")) << seen_;
}

TEST_F(OnATerminal, TellsTheScriptOfTheInterruptKey) {
  open("trap 'echo script-interrupted' INT; " + program() +
       " run --session s-1 -- sh -c 'echo up; exec sleep 60'; echo code $?");
  ASSERT_TRUE(see("up")) << seen_;
  // "up" is written before exec: the key comes when the command holds the terminal already.
  type("\x03");
  EXPECT_TRUE(see("code 130")) << seen_;
  EXPECT_NE(seen_.find("script-interrupted"), std::string::npos) << seen_;
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(OnATerminal, EndsTheLoopAroundItByOneKey) {
  for (const std::string shell : {"sh", "bash"}) {
    for (const std::string key : {"\x03", "\x1c"}) {
      if (shell == "bash" && key == "\x1c") continue;  // which ignores that one itself
      // Also where the command does not hold the terminal: the key is ours then, and passed on.
      for (const std::string output : {"", " | cat"}) {
        seen_.clear();
        open("stty -echo; trap : INT QUIT; " + shell + " -c 'for i in 1 2 3; do " + program() +
             " run -- sh -c \"echo up-\\$0; exec sleep 60\" $i" + output +
             "; done; echo loop-went-on'; echo after $?");
        ASSERT_TRUE(see("up-1")) << seen_;
        type(key);
        EXPECT_TRUE(see("after ")) << seen_;
        EXPECT_EQ(seen_.find("up-2"), std::string::npos) << seen_;
        EXPECT_EQ(seen_.find("loop-went-on"), std::string::npos) << seen_;
        ::close(std::exchange(terminal_, -1));
      }
    }
  }
}

TEST_F(OnATerminal, LendsTheTerminalToACommandWithoutItWhenItAsks) {
  const std::string run = program() + " run --no-door -- ";
  for (const std::string& script : std::vector<std::string>{
           "y=$(" + run + "sh -c 'echo up >&2; read z; echo $z'); echo got $y",
           run + "sh -c 'echo up >&2; read z; echo got $z' | cat",
           "echo hi | " + run + "sh -c 'cat; echo up >&2; read z </dev/tty; echo got $z'",
           run + "sh -c 'echo up >&2; read z </dev/tty; echo got $z >&2' > /dev/null",
           run + "sh -c '" + program() +
               " run -- sh -c \"echo up >&2; read z; echo got \\$z\" | cat' | cat"}) {
    seen_.clear();
    open(script + "; echo code $?; read more; echo then $more");
    ASSERT_TRUE(see("up")) << script << seen_;
    type("it\n");
    ASSERT_TRUE(see("got it")) << script << seen_;
    ASSERT_TRUE(see("code 0")) << script << seen_;
    type("on\n");
    EXPECT_TRUE(see("then on")) << script << seen_;
    ::close(std::exchange(terminal_, -1));
  }
}

TEST_F(OnATerminal, LendsTheTerminalWhereTheSignalsThatAskForItWereIgnored) {
  open("trap '' TTIN TTOU; " + program() +
       " run --no-door -- sh -c 'echo up >&2; read z; echo got $z >&2' | cat; echo code $?");
  ASSERT_TRUE(see("up")) << seen_;
  type("it\n");
  EXPECT_TRUE(see("got it")) << seen_;
  EXPECT_TRUE(see("code 0")) << seen_;
}

TEST_F(OnATerminal, LendsTheTerminalToWhoMayNotWriteToItFromTheBackground) {
  open("stty tostop; " + program() + " run --no-door -- sh -c 'echo err >&2' | cat; echo code $?");
  ASSERT_TRUE(see("code 0")) << seen_;
  EXPECT_NE(seen_.find("err"), std::string::npos) << seen_;
}

TEST_F(OnATerminal, LetsTheRestOfThePipelineWriteToTheTerminal) {
  // More than a pipe holds: the command waits for cat, which may not write in the background.
  open_piped("echo err >&2; yes | head -n 50000; echo err >&2");
  ASSERT_TRUE(see("ended 0 0")) << seen_.size();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = seen_.find("y\r\n", at)) != std::string::npos; at += 3) ++lines;
  EXPECT_EQ(lines, 50000U);
}

TEST_F(OnATerminal, LendsTheTerminalToOneAfterTheOther) {
  open("r() { " + program() +
       " run --no-door -- sh -c 'read z </dev/tty; echo $0 got $z' $1; }; echo up; r a & r b & "
       "wait; echo end");
  ASSERT_TRUE(see("up")) << seen_;
  type("one\n");
  ASSERT_TRUE(see("got one")) << seen_;
  type("two\n");
  EXPECT_TRUE(see("got two")) << seen_;
  EXPECT_TRUE(see("end")) << seen_;
}

TEST_F(OnATerminal, StopsInTheBackgroundWithACommandThatAsksForTheTerminal) {
  open("set -m; " + program() +
       " run --no-door --session s-1 -- sh -c 'read z </dev/tty; echo got $z' & "
       "read go; fg; echo code $?");
  ASSERT_TRUE(wait_until([&] { return has_record("s-1"); }));
  const std::string bytes = testing::slurp(record_path("s-1"));
  rapidjson::Document document;
  document.Parse(bytes.data(), bytes.size());
  const auto wrapper = static_cast<pid_t>(number_at(document, "pid"));
  ASSERT_TRUE(wait_until([&] { return testing::state_of(wrapper) == 'T'; }));
  EXPECT_EQ(testing::state_of(command_pid("s-1")), 'T');
  type("go\n");
  type("it\n");
  EXPECT_TRUE(see("got it")) << seen_;
  EXPECT_TRUE(see("code 0")) << seen_;
}

TEST_F(OnATerminal, StopsWithTheKeyAndComesBackWithFg) {
  open("set -m; " + program() +
       " run --session s-1 -- sh -c 'echo up; read line; echo got $line'; "
       "echo stopped; fg; echo code $?");
  ASSERT_TRUE(see("up")) << seen_;
  type("\x1a");
  ASSERT_TRUE(see("stopped")) << seen_;
  type("again\n");
  EXPECT_TRUE(see("got again")) << seen_;
  EXPECT_TRUE(see("code 0")) << seen_;
}

TEST_F(OnATerminal, IgnoresTheStopKeyWhereNobodyCouldWakeIt) {
  open("exec " + program() + " run -- sh -c 'echo up; read line; echo got $line'");
  ASSERT_TRUE(see("up")) << seen_;
  type("\x1a");
  type("still here\n");
  EXPECT_TRUE(see("got still here")) << seen_;
}

}  // namespace
}  // namespace rollcall::regtool
