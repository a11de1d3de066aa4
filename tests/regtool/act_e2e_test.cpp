#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <sstream>
#include <string>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Act : public RegtoolTest {
 protected:
  // A process that notes each SIGTERM in `log` and stays.
  Child stubborn() const {
    Child child = Child::exec({"sh", "-c",
                               "trap 'echo TERM >> " + log() + "' TERM; echo ready > " + log() +
                                   "; while :; do sleep 0.02; done"});
    EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\n"; }));
    return child;
  }
  [[nodiscard]] std::string log() const { return (dir_ / "log").string(); }
};

TEST_F(Act, StopEndsASessionAndItsRecordGoes) {
  auto live = session("s-live", {"sleep", "60"});
  const Ran ran = run({"stop", "s-live", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.stop/1");
  EXPECT_EQ(string_at(json, "session_id"), "s-live");
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  ASSERT_EQ(at(json, "signals").Size(), 1U);
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
  EXPECT_TRUE(at(json, "reason").IsNull());
  EXPECT_GE(number_at(json, "elapsed_ms"), 0);
  EXPECT_FALSE(has_record("s-live"));
}

TEST_F(Act, StopSendsTwoTermsAndNeverKills) {
  Child child = stubborn();
  put_record_of("s-stubborn", child.pid());
  const Ran ran = run({"stop", "s-stubborn", "--after", "150", "--total", "400", "--json"});
  EXPECT_EQ(ran.code(), 1);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "still_there");
  EXPECT_EQ(at(json, "signals").Size(), 2U);
  EXPECT_NE(string_at(json, "reason"), "(none)");
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\nTERM\nTERM\n"; }))
      << testing::slurp(log());
  EXPECT_TRUE(child.alive());
  EXPECT_TRUE(has_record("s-stubborn"));
}

TEST_F(Act, StopByForceSendsOneKill) {
  Child child = stubborn();
  put_record_of("s-stubborn", child.pid());
  const Ran ran = run({"stop", "s-stubborn", "--force", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  ASSERT_EQ(at(json, "signals").Size(), 1U);
  EXPECT_EQ(string_at(json, "signals.0"), "SIGKILL");
  const auto status = child.wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
}

TEST_F(Act, StopSparesAStrangerOnTheSamePid) {
  Child stranger = Child::sleeper();
  const std::string token = testing::start_token_of(stranger.pid());
  put_record("s-forged", record("s-forged", stranger.pid(), std::to_string(std::stoll(token) - 1)));
  const Ran ran = run({"stop", "s-forged", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "already_gone");
  EXPECT_EQ(at(json, "signals").Size(), 0U);
  EXPECT_TRUE(stranger.alive());
}

TEST_F(Act, RefusesWhatCannotBeTold) {
  Child child = Child::sleeper();
  put_record("s-no-token", record("s-no-token", child.pid(), ""));
  put_record_of("s-foreign", child.pid(), R"(,"host_id":"00ff-elsewhere")");
  for (const char* id : {"s-no-token", "s-foreign"}) {
    for (const char* command : {"stop", "kill"}) {
      const Ran ran = run({command, id, "--json"});
      EXPECT_EQ(ran.code(), 4) << command << " " << id << ran.out << ran.err;
      const auto json = parse_json(ran.out);
      EXPECT_EQ(string_at(json, "outcome"), "refused");
      EXPECT_EQ(at(json, "signals").Size(), 0U);
      EXPECT_NE(string_at(json, "reason"), "(none)");
      EXPECT_TRUE(has_record(id));
    }
  }
  EXPECT_TRUE(child.alive());
}

TEST_F(Act, CallsAZombieGone) {
  Child zombie = Child::zombie();
  put_record_of("s-zombie", zombie.pid());
  const Ran ran = run({"stop", "s-zombie", "--json"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(string_at(parse_json(ran.out), "outcome"), "already_gone");
}

TEST_F(Act, KillSendsOneKillByDefault) {
  Child child = stubborn();
  put_record_of("s-1", child.pid());
  const Ran ran = run({"kill", "s-1", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.kill/1");
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_EQ(string_at(json, "signals.0"), "SIGKILL");
}

TEST_F(Act, KillSendsTheSignalThatWasNamed) {
  Child child = Child::exec({"sh", "-c",
                             "trap 'echo USR1 > " + log() + "; exit 0' USR1; echo r > " + log() +
                                 "; while :; do sleep 0.02; done"});
  ASSERT_TRUE(wait_until([&] { return testing::slurp(log()) == "r\n"; }));
  put_record_of("s-1", child.pid());
  const Ran ran = run({"kill", "s-1", "--signal", "USR1", "--json"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(string_at(parse_json(ran.out), "signals.0"), "SIGUSR1");
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "USR1\n"; }));
}

TEST_F(Act, KillSendsNothingForANonsenseSignal) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  for (const char* signal : {"0", "SIGFOO", "65", "term", "SIGTERM ", "", "9"}) {
    EXPECT_EQ(run({"kill", "s-1", "--signal", signal}).code(), 2) << signal;
  }
  EXPECT_EQ(run({"kill", "s-1", "-9"}).code(), 2);
  EXPECT_TRUE(child.alive());
}

TEST_F(Act, RefusesARowAndNamesTheIdThatWasMeant) {
  Child child = Child::sleeper();
  put_record_of("s-first", child.pid());
  for (const char* command : {"stop", "kill", "forget"}) {
    const Ran ran = run({command, "@1"});
    EXPECT_EQ(ran.code(), 4) << command;
    EXPECT_NE(ran.err.find("s-first"), std::string::npos) << ran.err;
  }
  EXPECT_TRUE(child.alive());
  EXPECT_TRUE(has_record("s-first"));
}

TEST_F(Act, SaysThatASuspendedProcessKeepsTheSignalWaiting) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  child.signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(child.pid()) == 'T'; }));
  const Ran ran = run({"stop", "s-1", "--after", "50", "--total", "150", "--json"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_NE(string_at(parse_json(ran.out), "reason").find("suspended"), std::string::npos);
  EXPECT_EQ(run({"stop", "s-1", "--force"}).code(), 0);
}

TEST_F(Act, RefusesAProcessThatWeMayNotSignal) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to have another user's process";
  if (!testing::is_open_to_others(program())) GTEST_SKIP() << testing::kClosedBuild;
  Child roots = Child::sleeper();
  // The test's directory is root's: the other user gets a home of its own there.
  ::chmod(dir_.path().c_str(), 0755);
  put_record_of("s-1", roots.pid());
  constexpr uid_t kNobody = 65534;
  for (const auto& path : {home_, home_ + "/running", record_path("s-1")}) {
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  }
  const std::string out = (dir_ / "out").string();
  Child nobody = Child::run([&] {
    const int fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ::dup2(fd, 1);
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return 90;
    ::execl(program().c_str(), "regtool", "--home", home_.c_str(), "stop", "s-1", "--json",
            nullptr);
    return 91;
  });
  const auto status = nobody.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 4) << testing::slurp(out);
  const auto json = parse_json(testing::slurp(out));
  EXPECT_EQ(string_at(json, "outcome"), "refused");
  EXPECT_NE(string_at(json, "reason").find("ermi"), std::string::npos) << testing::slurp(out);
  EXPECT_TRUE(roots.alive());
}

TEST_F(Act, WaitSeesTheEnd) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  const Ran still = run({"wait", "s-1", "--timeout", "100ms", "--json"});
  EXPECT_EQ(still.code(), 1);
  EXPECT_EQ(string_at(parse_json(still.out), "result"), "still_there");
  Started waiting = start({"wait", "s-1", "--json"});
  child.signal(SIGKILL);
  const Ran ended = finish(std::move(waiting));
  EXPECT_EQ(ended.code(), 0);
  EXPECT_EQ(string_at(parse_json(ended.out), "result"), "ended");
}

TEST_F(Act, WaitDiesAtOnceOfAnInterrupt) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  Started waiting = start({"wait", "s-1"});
  const pid_t pid = waiting.child.pid();
  ASSERT_TRUE(wait_until([&] {
    return testing::slurp("/proc/" + std::to_string(pid) + "/comm") == "regtool\n" &&
           testing::state_of(pid) == 'S';
  }));
  waiting.child.signal(SIGINT);
  EXPECT_EQ(finish(std::move(waiting)).code(), -SIGINT);
}

TEST_F(Act, ForgetKeepsWhatRunsUnlessForced) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  EXPECT_EQ(run({"forget", "s-1"}).code(), 4);
  EXPECT_TRUE(has_record("s-1"));
  const Ran forced = run({"forget", "s-1", "--force", "--json"});
  EXPECT_EQ(forced.code(), 0);
  EXPECT_EQ(string_at(parse_json(forced.out), "schema"), "rollcall.forget/1");
  EXPECT_FALSE(has_record("s-1"));
  EXPECT_TRUE(child.alive());
  EXPECT_EQ(run({"forget", "s-1"}).code(), 1);
}

TEST_F(Act, StopByDefaultSendsAgainAfterASecondAndGivesUpAfterThree) {
  Child child = Child::exec({"sh", "-c",
                             "trap 'date +%s%N >> " + log() + "' TERM; echo ready > " + log() +
                                 "; while :; do sleep 0.02; done"});
  ASSERT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\n"; }));
  put_record_of("s-1", child.pid());
  const auto now_ns = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const std::int64_t begun = now_ns();
  const Ran ran = run({"stop", "s-1", "--json"});
  EXPECT_EQ(ran.code(), 1);
  const std::int64_t elapsed = number_at(parse_json(ran.out), "elapsed_ms");
  EXPECT_GE(elapsed, 2900);
  EXPECT_LT(elapsed, 10'000);
  std::istringstream lines(testing::slurp(log()));
  std::string ready;
  std::int64_t first = 0;
  std::int64_t second = 0;
  lines >> ready >> first >> second;
  ASSERT_GT(second, first) << testing::slurp(log());
  EXPECT_LT(first - begun, 900'000'000);
  EXPECT_GT(second - first, 600'000'000);
  EXPECT_LT(second - first, 2'500'000'000);
  std::string third;
  EXPECT_FALSE(lines >> third) << third;
}

TEST_F(Act, StopSignalsTheRecordedProcessWhateverItsCardClaims) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = "\"http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "\"";
  Child victim = Child::sleeper();
  const std::string claimed = std::to_string(victim.pid());
  const std::string body =
      R"({"pid":)" + claimed +
      R"(,"capabilities":{"extensions":[{"uri":"urn:rollcall:ext:session:1","params":)" +
      R"({"sessionId":"s-a","pid":)" + claimed + "}}]}}";
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                             "\r\nConnection: close\r\n\r\n" + body;
  Child server = Child::run([&] {
    for (;;) {
      const int peer = ::accept(listener, nullptr, nullptr);
      std::array<char, 4096> request{};
      (void)!::read(peer, request.data(), request.size());
      (void)!::write(peer, answer.data(), answer.size());
      ::close(peer);
    }
    return 0;
  });
  ::close(listener);
  put_record_of("s-a", server.pid(), R"(,"metadata":{"command_pid":")" + claimed + R"("})", url);
  EXPECT_EQ(run({"verify", "s-a"}).out, "s-a: live\n");
  EXPECT_EQ(run({"stop", "s-a"}).code(), 0);
  const auto status = server.wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM);
  EXPECT_TRUE(victim.alive());
}

TEST_F(Act, PruneTellsBeforeItActsAndCanBeUndone) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const Ran dry = run({"prune", "--dry-run", "--json"});
  EXPECT_EQ(dry.code(), 0);
  const auto json = parse_json(dry.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.prune/1");
  EXPECT_EQ(string_at(json, "pruned.0.session_id"), "s-dead");
  EXPECT_TRUE(has_record("s-dead"));
  EXPECT_NE(run({"prune"}).out.find("pruned: s-dead: no process holds pid"), std::string::npos);
  EXPECT_FALSE(has_record("s-dead"));
  EXPECT_EQ(run({"prune", "--undo", "dead"}).code(), 0);
  EXPECT_TRUE(has_record("s-dead"));
  EXPECT_EQ(run({"prune", "--undo", "never-was"}).code(), 1);
}

TEST_F(Act, PruneSparesWhatRunsAndWhatCannotBeTold) {
  Child child = Child::sleeper();
  put_record_of("s-runs", child.pid());
  put_record("s-foreign",
             record("s-foreign", testing::free_pid(), "1", R"(,"host_id":"00ff-elsewhere")"));
  EXPECT_EQ(run({"prune"}).out, "nothing to prune\n");
  EXPECT_TRUE(has_record("s-runs"));
  EXPECT_TRUE(has_record("s-foreign"));
}

TEST_F(Act, PruneSaysThatWhatIsGoneCouldNotBeRemoved) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  std::ofstream(home_ + "/gone") << "no folder";
  const Ran ran = run({"prune"});
  EXPECT_EQ(ran.out, "nothing was pruned: the warnings say why\n");
  EXPECT_NE(ran.err.find("s-dead"), std::string::npos) << ran.err;
  EXPECT_TRUE(has_record("s-dead"));
}

TEST_F(Act, PruneSetsAnOldTornFileAside) {
  put_record("torn", "{");
  put_record("young", "{");
  const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, record_path("torn").c_str(), old, 0), 0);
  const auto dry = parse_json(run({"prune", "--dry-run", "--json"}).out);
  ASSERT_EQ(at(dry, "quarantined").Size(), 1U);
  EXPECT_EQ(string_at(dry, "quarantined.0"), "torn.json");
  EXPECT_EQ(run({"prune", "--dry-run"}).out, "would quarantine: torn.json\n");
  EXPECT_TRUE(has_record("torn"));
  const auto json = parse_json(run({"prune", "--json"}).out);
  ASSERT_EQ(at(json, "quarantined").Size(), 1U);
  EXPECT_EQ(string_at(json, "quarantined.0"), "torn.json");
  EXPECT_FALSE(has_record("torn"));
  EXPECT_TRUE(has_record("young"));
}

}  // namespace
}  // namespace rollcall::regtool
