// sentinel and sweep, end to end; and the init script of the documents.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;

class SentinelCommand : public RegtoolTest {
 protected:
  [[nodiscard]] int check() const { return run({"sentinel", "check", file_}).code(); }
  [[nodiscard]] pid_t named() const {
    return static_cast<pid_t>(std::atoi(testing::slurp(file_).c_str()));
  }
  std::string file_ = (dir_ / "web.pid").string();
};

TEST_F(SentinelCommand, ChecksWithTheStatusCodesOfAnInitScript) {
  EXPECT_EQ(check(), 3);
  Child child = Child::sleeper();
  ASSERT_EQ(run({"sentinel", "write", "--pid", std::to_string(child.pid()), file_}).code(), 0);
  EXPECT_EQ(check(), 0);
  child.signal(SIGKILL);
  child.wait();
  EXPECT_EQ(check(), 1);
  dir_.write("web.pid", "nonsense");
  EXPECT_EQ(check(), 4);
  dir_.write("web.pid", "");
  EXPECT_EQ(check(), 4);
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_EQ(check(), 4);
}

TEST_F(SentinelCommand, AnswersInJson) {
  Child child = Child::sleeper();
  const Ran wrote =
      run({"sentinel", "write", "--pid", std::to_string(child.pid()), file_, "--json"});
  const auto written = parse_json(wrote.out);
  EXPECT_EQ(string_at(written, "schema"), "rollcall.sentinel-write/1");
  EXPECT_EQ(string_at(written, "sentinel") + "\n", testing::slurp(file_));
  const auto json = parse_json(run({"sentinel", "check", file_, "--json"}).out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.sentinel/1");
  EXPECT_EQ(string_at(json, "state"), "alive");
  EXPECT_TRUE(at(json, "reason").IsNull());
  EXPECT_EQ(number_at(json, "pid"), child.pid());
  dir_.write("web.pid", "5\n");
  const auto unknown = parse_json(run({"sentinel", "check", file_, "--json"}).out);
  EXPECT_EQ(string_at(unknown, "state"), "unknown");
  EXPECT_EQ(string_at(unknown, "reason.code"), "unreadable");
}

TEST_F(SentinelCommand, IsUnknownWhereNothingCanBeLookedAt) {
  dir_.write("home/config.json", "{ broken");
  fs::permissions(home_, fs::perms::owner_all);
  EXPECT_EQ(check(), 4);
  EXPECT_EQ(run({"sentinel", "check"}).code(), 2);
}

TEST_F(SentinelCommand, WritesDownWhoStartedItUnlessToldOtherwise) {
  ASSERT_EQ(run({"sentinel", "write", file_}).code(), 0);
  EXPECT_EQ(named(), ::getpid());
  EXPECT_EQ(run({"sentinel", "write", file_}).code(), 0) << "once more is no harm";
}

TEST_F(SentinelCommand, RefusesToTakeThePlaceOfOneThatRuns) {
  Child child = Child::sleeper();
  const std::string pid = std::to_string(child.pid());
  ASSERT_EQ(run({"sentinel", "write", "--pid", pid, file_}).code(), 0);
  EXPECT_EQ(run({"sentinel", "write", file_}).code(), 4);
  EXPECT_EQ(run({"sentinel", "run", file_, "--", "true"}).code(), 125);
  EXPECT_EQ(named(), child.pid());
  EXPECT_EQ(run({"sentinel", "write", "--replace", file_}).code(), 0);
  EXPECT_EQ(run({"sentinel", "write", "--pid", "0", file_}).code(), 2);
  EXPECT_EQ(run({"sentinel", "write", "--pid", std::to_string(testing::free_pid()), file_}).code(),
            4);
}

TEST_F(SentinelCommand, RunBecomesTheCommandAndIsItsPidAndStart) {
  // The shell shows its own pid, and that a check from within finds it.
  const Ran ran = run({"sentinel", "run", file_, "--", "sh", "-c",
                       "echo $$; cut -d' ' -f22 /proc/$$/stat; \"$0\" sentinel check \"$1\" "
                       ">/dev/null && echo found; exit 7",
                       program(), file_});
  EXPECT_EQ(ran.code(), 7) << ran.err;
  const std::string bytes = testing::slurp(file_);
  const std::string pid = bytes.substr(0, bytes.find(':'));
  std::string token = bytes.substr(bytes.rfind(':') + 1);
  EXPECT_EQ(ran.out, pid + "\n" + token + "found\n");
  EXPECT_EQ(check(), 1);
}

TEST_F(SentinelCommand, RunGivesTheCommandWhatItWasGiven) {
  const Ran ran =
      run({"sentinel", "run", file_, "--", "sh", "-c",
           "ulimit -n; ulimit -c; cat /proc/self/status | grep -E "
           "'^Sig(Ign|Blk)' ; set -- /proc/$$/fd/*; echo $#; cat /proc/$$/coredump_filter"});
  environment_["X"] = "1";
  program_ = "/bin/sh";
  const Ran plain =
      run({"-c",
           "ulimit -n; ulimit -c; cat /proc/self/status | grep -E "
           "'^Sig(Ign|Blk)' ; set -- /proc/$$/fd/*; echo $#; cat /proc/$$/coredump_filter"});
  EXPECT_EQ(ran.out, plain.out);
}

TEST_F(SentinelCommand, RunTakesTheFileBackWhereNothingCouldBeRun) {
  EXPECT_EQ(run({"sentinel", "run", file_, "--", "/no/such/command"}).code(), 127);
  EXPECT_EQ(run({"sentinel", "run", file_, "--", "/etc/passwd"}).code(), 126);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(run({"sentinel", "run", file_}).code(), 2);
  EXPECT_EQ(run({"sentinel", "run"}).code(), 2);
}

TEST_F(SentinelCommand, RunTakesACommandWordForWord) {
  const Ran ran = run({"sentinel", "run", file_, "--", "echo", "[a,b]", "--json", "--", "-x", ""});
  EXPECT_EQ(ran.out, "[a,b] --json -- -x \n");
  EXPECT_EQ(run({"sentinel", "run", "--replace", file_, "echo", "-n", "x"}).out, "x");
}

TEST_F(SentinelCommand, SweepsFoldersOnProofOnly) {
  Child child = Child::sleeper();
  const std::string dead = std::to_string(testing::free_pid());
  const std::string alive = std::to_string(child.pid());
  dir_.write("work/" + dead + "-77/file", "x");
  dir_.write("work/" + alive + "-" + testing::start_token_of(child.pid()) + "/file", "x");
  dir_.write("work/notes/file", "x");
  const std::string work = (dir_ / "work").string();
  const auto told = parse_json(run({"sweep", work, "--dry-run", "--json"}).out);
  EXPECT_EQ(string_at(told, "schema"), "rollcall.sweep/1");
  if (string_at(told, "kept.0.code") == "foreign-view") GTEST_SKIP() << "TMPDIR is shared";
  EXPECT_EQ(string_at(told, "removed.0.name"), dead + "-77");
  EXPECT_EQ(string_at(told, "removed.0.code"), "no-process");
  EXPECT_EQ(number_at(told, "kept.0.pid"), child.pid());
  EXPECT_TRUE(fs::exists(work + "/" + dead + "-77"));
  const Ran swept = run({"sweep", work});
  EXPECT_EQ(swept.code(), 0);
  EXPECT_NE(swept.out.find("removed: " + dead + "-77: no process holds pid"), std::string::npos);
  EXPECT_FALSE(fs::exists(work + "/" + dead + "-77"));
  EXPECT_TRUE(fs::exists(work + "/notes/file"));
  EXPECT_EQ(run({"sweep", work + "/none"}).out, "nothing to sweep\n");
}

// docs/examples/web.init with a daemon of its own.
class InitScript : public SentinelCommand {
 protected:
  InitScript() {
    dir_.write("daemon", "#!/bin/sh\necho $$ >>'" + log_ + "'\nexec sleep 600\n");
    fs::permissions(dir_ / "daemon", fs::perms::owner_all);
    environment_["DAEMON"] = (dir_ / "daemon").string();
    environment_["PIDFILE"] = file_;
    environment_["REGTOOL"] = program();
    environment_["WAIT"] = "30";
    program_ = std::string(test::kSourceDir) + "/docs/examples/web.init";
  }
  ~InitScript() override {
    if (named() > 1 && status() == 0) ::kill(named(), SIGKILL);
    program_ = program();
  }
  [[nodiscard]] int status() const { return run({"status"}).code(); }
  // How many daemons were started ever.
  [[nodiscard]] std::size_t started() const {
    const std::string log = testing::slurp(log_);
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  }
  std::string log_ = (dir_ / "started").string();
};

TEST_F(InitScript, StartsStopsAndRestarts) {
  EXPECT_EQ(status(), 3);
  EXPECT_EQ(run({"stop"}).code(), 0) << "stopping what does not run is no failure";
  ASSERT_EQ(run({"start"}).code(), 0);
  EXPECT_EQ(status(), 0);
  const pid_t first = named();
  EXPECT_EQ(testing::state_of(first) != '\0', true);
  EXPECT_EQ(run({"start"}).code(), 0) << "starting what runs is no failure";
  EXPECT_EQ(started(), 1U);
  ASSERT_EQ(run({"restart"}).code(), 0);
  EXPECT_EQ(started(), 2U);
  EXPECT_NE(named(), first);
  ASSERT_EQ(run({"stop"}).code(), 0);
  EXPECT_EQ(status(), 3);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(run({"nonsense"}).code(), 2);
}

TEST_F(InitScript, SeesADaemonThatWasKilledAndStartsItAnew) {
  ASSERT_EQ(run({"start"}).code(), 0);
  ::kill(named(), SIGKILL);
  EXPECT_TRUE(wait_until([&] { return status() == 1; }));
  ASSERT_EQ(run({"start"}).code(), 0);
  EXPECT_EQ(status(), 0);
  EXPECT_EQ(run({"stop"}).code(), 0);
}

TEST_F(InitScript, NeverStopsAnotherProcessOnThePid) {
  if (!testing::can_force_pids()) GTEST_SKIP() << "this user may not choose pids";
  Child child = Child::sleeper();
  const pid_t pid = child.pid();
  const std::string token = testing::start_token_of(pid);
  dir_.write("web.pid", std::to_string(pid) + ":" + boot_id() + ":" + token + "\n");
  EXPECT_EQ(status(), 0);
  child.signal(SIGKILL);
  child.wait();
  // The start is counted in ticks of 10 ms: the next process has to begin in another one.
  Child stranger;
  ASSERT_TRUE(wait_until([&] {
    stranger = Child();
    stranger = testing::sleeper_with_pid(pid);
    return stranger.pid() == pid && testing::start_token_of(pid) != token;
  }));
  EXPECT_EQ(status(), 1);
  EXPECT_EQ(run({"stop"}).code(), 0);
  EXPECT_TRUE(stranger.alive());
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(InitScript, DoesNothingWhereItCannotBeTold) {
  dir_.write("web.pid", "4242\n");
  EXPECT_EQ(status(), 4);
  EXPECT_EQ(run({"start"}).code(), 1);
  EXPECT_EQ(run({"stop"}).code(), 1);
  EXPECT_EQ(started(), 0U);
  EXPECT_EQ(testing::slurp(file_), "4242\n");
}

}  // namespace
}  // namespace rollcall::regtool
