// Signalling and awaiting: only the judged process, only through its pidfd.
#include "backends/linux/control.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backend_support.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::testing {
namespace {

using linux_backend::Control;

// A host's judge, and what it was asked.
struct HostJudge {
  std::function<std::uint32_t(const rollcall_observation&)> verdict;
  std::uint32_t wants = kToken | kExact;
  int asked = 0;
  rollcall_observation seen = {};

  // Gone where it has gone or its token differs, as a record would have it.
  static HostJudge of_token(std::string token) {
    HostJudge judge;
    judge.verdict = [token](const rollcall_observation& seen) -> std::uint32_t {
      if (seen.presence == ROLLCALL_PRESENCE_UNREADABLE) return ROLLCALL_JUDGE_UNVERIFIED;
      if (seen.presence != ROLLCALL_PRESENCE_PRESENT) return ROLLCALL_JUDGE_GONE;
      if (token_of(seen).empty()) return ROLLCALL_JUDGE_UNVERIFIED;
      return token_of(seen) == token ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
    };
    return judge;
  }
  static HostJudge of_exact_id(std::uint64_t id) {
    HostJudge judge;
    judge.wants |= kSuffices;
    judge.verdict = [id](const rollcall_observation& seen) -> std::uint32_t {
      if (seen.presence == ROLLCALL_PRESENCE_UNREADABLE) return ROLLCALL_JUDGE_UNVERIFIED;
      if (seen.presence != ROLLCALL_PRESENCE_PRESENT) return ROLLCALL_JUDGE_GONE;
      if ((seen.flags & ROLLCALL_OBS_EXACT_ID) == 0) return ROLLCALL_JUDGE_UNVERIFIED;
      return seen.exact_id == id ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
    };
    return judge;
  }
  static HostJudge always(std::uint32_t answer) {
    HostJudge judge;
    judge.verdict = [answer](const rollcall_observation&) { return answer; };
    return judge;
  }

  [[nodiscard]] plugin::Judge plug() {
    const rollcall_judge raw = {
        sizeof raw, wants, this,
        [](void* context, const rollcall_observation* observation) -> std::uint32_t {
          auto& self = *static_cast<HostJudge*>(context);
          ++self.asked;
          self.seen = *observation;
          return self.verdict(*observation);
        }};
    return plugin::Judge(&raw);
  }
};

struct Sent {
  std::uint32_t outcome;
  std::string reason;
  std::int64_t os_code;
};

Sent signal(Control& control, std::int64_t pid, HostJudge& judge,
            std::uint32_t number = ROLLCALL_SIGNAL_TERM) {
  rollcall_signal_outcome out = {};
  const auto status = control.signal(pid, number, judge.plug(), out, unbounded());
  EXPECT_TRUE(status.ok()) << status.message();
  return {out.outcome, {out.reason, out.reason_size}, out.os_code};
}

struct Awaited {
  std::uint32_t outcome;
  std::uint32_t flags;
  std::string reason;
};

Awaited await(Control& control, std::int64_t pid, HostJudge& judge,
              std::chrono::milliseconds limit) {
  rollcall_await_outcome out = {};
  const auto status = control.await_exit(pid, judge.plug(), out, bounded(limit));
  EXPECT_TRUE(status.ok()) << status.message();
  return {out.outcome, out.flags, {out.reason, out.reason_size}};
}

HostJudge judge_of(const Child& child) { return HostJudge::of_token(start_token_of(child.pid())); }

Control real_control() { return Control(plugin::Settings()); }

TEST(Signal, ReachesTheJudgedProcess) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  EXPECT_EQ(signal(control, child.pid(), judge).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(judge.asked, 1);
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFSIGNALED(*status));
  EXPECT_EQ(WTERMSIG(*status), SIGTERM);
}

TEST(Signal, MeansTheSystemsOwnNumbers) {
  const std::pair<std::uint32_t, int> numbers[] = {
      {ROLLCALL_SIGNAL_TERM, SIGTERM}, {ROLLCALL_SIGNAL_INT, SIGINT},
      {ROLLCALL_SIGNAL_HUP, SIGHUP},   {ROLLCALL_SIGNAL_QUIT, SIGQUIT},
      {ROLLCALL_SIGNAL_KILL, SIGKILL}, {ROLLCALL_SIGNAL_USR1, SIGUSR1},
      {ROLLCALL_SIGNAL_USR2, SIGUSR2}};
  Control control = real_control();
  for (const auto& [ours, theirs] : numbers) {
    Child child = Child::sleeper();
    auto judge = judge_of(child);
    signal(control, child.pid(), judge, ours);
    const auto status = child.wait();
    ASSERT_TRUE(status && WIFSIGNALED(*status));
    EXPECT_EQ(WTERMSIG(*status), theirs);
  }
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  signal(control, child.pid(), judge, ROLLCALL_SIGNAL_STOP);
  EXPECT_TRUE(wait_until([&] { return state_of(child.pid()) == 'T'; }));
  signal(control, child.pid(), judge, ROLLCALL_SIGNAL_CONT);
  EXPECT_TRUE(wait_until([&] { return state_of(child.pid()) == 'S'; }));
}

TEST(Signal, RefusesUnknownNumbersBeforeAnythingElse) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  for (const std::uint32_t number : {0U, 10U, 15U, 65U, 4294967295U}) {
    rollcall_signal_outcome out = {};
    EXPECT_EQ(control.signal(child.pid(), number, judge.plug(), out, unbounded()).code(),
              ROLLCALL_E_INVALID);
  }
  EXPECT_EQ(judge.asked, 0);
  EXPECT_TRUE(child.alive());
}

TEST(Signal, IsWithheldUnlessTheVerdictIsAlive) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  auto gone = HostJudge::always(ROLLCALL_JUDGE_GONE);
  EXPECT_EQ(signal(control, child.pid(), gone).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  for (const std::uint32_t verdict : {ROLLCALL_JUDGE_UNVERIFIED, 3U, 4294967295U}) {
    auto judge = HostJudge::always(verdict);
    EXPECT_EQ(signal(control, child.pid(), judge).outcome, ROLLCALL_SIGNAL_REFUSED);
  }
  EXPECT_EQ(system.counts["pidfd_send_signal"], 0);
  EXPECT_TRUE(child.alive());
}

TEST(Signal, NeverReachesItselfWhateverTheVerdict) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  for (const std::uint32_t verdict : {ROLLCALL_JUDGE_ALIVE, ROLLCALL_JUDGE_UNVERIFIED, 3U}) {
    auto judge = HostJudge::always(verdict);
    const auto sent = signal(control, ::getpid(), judge, ROLLCALL_SIGNAL_KILL);
    EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED) << verdict;
    EXPECT_NE(sent.reason, "");
  }
  auto other = HostJudge::of_token("1");  // the recorded process had our number before us
  EXPECT_EQ(signal(control, ::getpid(), other, ROLLCALL_SIGNAL_KILL).outcome,
            ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(system.counts["pidfd_send_signal"], 0);
}

TEST(Signal, NeverReachesInitOrAnImpossiblePid) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  system.reset_counts();
  for (const std::int64_t pid :
       {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{-2},
        std::int64_t{INT32_MAX} + 1, INT64_MIN, INT64_MAX}) {
    auto judge = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
    const auto sent = signal(control, pid, judge, ROLLCALL_SIGNAL_KILL);
    EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED) << pid;
    EXPECT_NE(sent.reason, "");
  }
  EXPECT_EQ(system.total(), 0);
}

TEST(Signal, IsRefusedWithTheErrnoWhereNoPidfdIsToBeHad) {
  for (const int error : {ENOSYS, EPERM, EMFILE, ENFILE, ENOMEM, EINVAL}) {
    FakeSystem system;
    system.refuse["pidfd_open"] = error;
    Control control(plugin::Settings(), system.table());
    Child child = Child::sleeper();
    auto judge = judge_of(child);
    const auto sent = signal(control, child.pid(), judge);
    EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED) << error;
    EXPECT_EQ(sent.os_code, error);
    EXPECT_NE(sent.reason.find(linux_backend::error_text(error)), std::string::npos) << sent.reason;
    EXPECT_EQ(system.counts["kill"], 0);
    EXPECT_TRUE(child.alive());
  }
}

TEST(Signal, FindsAGoneProcessGoneEvenWithoutPidfds) {
  FakeSystem system;
  system.refuse["pidfd_open"] = ENOSYS;
  Control control(plugin::Settings(), system.table());
  Child zombie = Child::zombie();
  auto judge = judge_of(zombie);
  EXPECT_EQ(signal(control, zombie.pid(), judge).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
}

TEST(Signal, IsAlreadyGoneForAZombieAndForAFreePid) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  Child zombie = Child::zombie();
  auto judge = judge_of(zombie);
  EXPECT_EQ(signal(control, zombie.pid(), judge).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(signal(control, free_pid(), judge).outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(system.counts["pidfd_send_signal"], 0);
}

// A record of another host names a pid that is free here: the host's judge cannot tell.
TEST(Signal, AsksTheJudgeAboutAFreePidToo) {
  Control control = real_control();
  auto judge = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  EXPECT_EQ(signal(control, free_pid(), judge).outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(judge.asked, 1);
  EXPECT_EQ(judge.seen.presence, ROLLCALL_PRESENCE_ABSENT);
}

TEST(Signal, IsNotSentToTheOwnerOfAThreadId) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  Child child = Child::run([]() -> int {
    std::thread([] { pause_for_ever(); }).detach();
    return pause_for_ever();
  });
  pid_t thread = 0;
  ASSERT_TRUE(wait_until([&] {
    const std::filesystem::path tasks = "/proc/" + std::to_string(child.pid()) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
      const auto id = static_cast<pid_t>(std::stol(entry.path().filename().string()));
      if (id != child.pid()) thread = id;
    }
    return thread != 0;
  }));
  auto judge = HostJudge::of_token(start_token_of(thread));
  EXPECT_EQ(signal(control, thread, judge, ROLLCALL_SIGNAL_KILL).outcome,
            ROLLCALL_SIGNAL_ALREADY_GONE);
  auto reckless = HostJudge::always(ROLLCALL_JUDGE_ALIVE);
  EXPECT_EQ(signal(control, thread, reckless, ROLLCALL_SIGNAL_KILL).outcome,
            ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(system.counts["pidfd_send_signal"], 0);
  EXPECT_TRUE(child.alive());
}

TEST(Signal, IsRefusedWithTheSystemsWordsWherePermissionIsLacking) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  Child child = Child::sleeper();
  Child sender = Child::run([&]() -> int {
    if (!become_nobody()) return 99;
    Control control = real_control();
    auto judge = judge_of(child);
    const auto sent = signal(control, child.pid(), judge);
    if (sent.outcome != ROLLCALL_SIGNAL_REFUSED || sent.os_code != EPERM) return 1;
    return sent.reason.find("Operation not permitted") != std::string::npos ? 0 : 2;
  });
  EXPECT_EQ(sender.wait(), 0);
  EXPECT_TRUE(child.alive());
}

TEST(Signal, IsAlreadyGoneWhenTheProcessEndsAfterTheVerdict) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  system.before_send = [&] {
    child.signal(SIGKILL);
    child.wait();
  };
  const auto sent = signal(control, child.pid(), judge);
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_EQ(sent.os_code, ESRCH);
}

// A filter of system calls (seccomp) may be told to answer ESRCH.
TEST(Signal, IsRefusedWhereTheSystemKnowsNoProcessThatHasNotExited) {
  FakeSystem system;
  system.refuse["pidfd_send_signal"] = ESRCH;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  const auto sent = signal(control, child.pid(), judge);
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(sent.os_code, ESRCH);
  EXPECT_NE(sent.reason.find("has not exited"), std::string::npos) << sent.reason;
}

rollcall_stop_outcome stop(Control& control, const Child& child, std::uint32_t flags,
                           std::chrono::milliseconds limit) {
  auto judge = judge_of(child);
  const rollcall_shot shot = {ROLLCALL_SIGNAL_TERM, 0, 0};
  const rollcall_stop_plan plan = {sizeof plan, flags, &shot, 1};
  const rollcall_stop_sink sink = {
      sizeof sink, 0, nullptr,
      [](void*, const rollcall_stop_member*) -> std::int32_t { return 0; }};
  rollcall_stop_outcome out = {};
  const auto status = control.stop(child.pid(), plugin::StopPlan(&plan), judge.plug(),
                                   plugin::StopSink(&sink), out, bounded(limit));
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(Stop, IsRefusedWhereTheSystemKnowsNoProcessThatHasNotExited) {
  FakeSystem system;
  system.refuse["pidfd_send_signal"] = ESRCH;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  const auto out = stop(control, child, 0, 20s);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(out.os_code, ESRCH);
  EXPECT_TRUE(child.alive());
}

// The guard is spared for as long as its command is there; of one that may not be signalled nothing
// is known to have ended.
TEST(Stop, OfAGuardWhoseCommandMayNotBeSignalledFindsNobodyGone) {
  FakeSystem system;
  system.refuse["pidfd_send_signal"] = EPERM;
  Control control(plugin::Settings(), system.table());
  Child guard = Child::run([]() -> int {
    const Child command = Child::run(&pause_for_ever);
    return pause_for_ever();
  });
  const std::string children =
      "/proc/" + std::to_string(guard.pid()) + "/task/" + std::to_string(guard.pid()) + "/children";
  ASSERT_TRUE(wait_until([&] { return !slurp(children).empty(); }));
  const auto out = stop(control, guard, ROLLCALL_STOP_TREE | ROLLCALL_STOP_HOLDS, 500ms);
  EXPECT_EQ(out.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_EQ(out.os_code, EPERM);
  EXPECT_EQ(out.end, ROLLCALL_AWAIT_UNKNOWN);
  EXPECT_TRUE(guard.alive());
}

TEST(Signal, IsNotSentOnceTheCallWasCancelled) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  rollcall_call raw = {};
  raw.struct_size = sizeof raw;
  raw.deadline_ns = INT64_MAX;
  raw.cancelled = [](void*) -> std::uint32_t { return 1; };
  rollcall_signal_outcome out = {};
  const auto status =
      control.signal(child.pid(), ROLLCALL_SIGNAL_TERM, judge.plug(), out, plugin::Call(&raw));
  EXPECT_EQ(status.code(), ROLLCALL_E_CANCELLED);
  EXPECT_EQ(judge.asked, 0);
}

// The recorded process is replaced by a stranger of the same number at one of the moments that
// matter: before the pidfd is opened, after the reading, or after the verdict.
class PidReuse {
 public:
  // Whether a stranger now holds the pid of the process that was there.
  bool replace(Child& recorded, Child& stranger) {
    const pid_t pid = recorded.pid();
    recorded = Child();
    stranger = sleeper_with_pid(pid);
    return stranger.pid() == pid;
  }
};

int reuse_rounds(int rounds) {
  PidReuse reuse;
  int done = 0;
  for (int round = 0; done < rounds && round < rounds * 3; ++round) {
    FakeSystem system;
    Control control(plugin::Settings(), system.table());
    Child recorded = Child(fork_with_pid(free_pid(), &pause_for_ever));
    if (recorded.pid() <= 0) continue;
    const pid_t pid = recorded.pid();
    const auto exact = exact_id_of(pid);
    HostJudge judge =
        exact != 0 ? HostJudge::of_exact_id(exact) : HostJudge::of_token(start_token_of(pid));
    Child stranger;
    bool replaced = false;
    switch (round % 3) {
      case 0:
        replaced = reuse.replace(recorded, stranger);
        break;
      case 1: {
        auto verdict = judge.verdict;
        judge.verdict = [&, verdict](const rollcall_observation& seen) {
          const auto answer = verdict(seen);
          if (!replaced) replaced = reuse.replace(recorded, stranger);
          return answer;
        };
        break;
      }
      default:
        system.before_send = [&] { replaced = reuse.replace(recorded, stranger); };
    }
    const auto sent = signal(control, pid, judge, ROLLCALL_SIGNAL_KILL);
    if (!replaced) continue;  // another process was given the number first
    if (sent.outcome == ROLLCALL_SIGNAL_SENT) return -1;
    if (!stranger.alive()) return -2;
    ++done;
  }
  return done;
}

TEST(Signal, NeverReachesAStrangerThatReusedThePid) {
  constexpr int kRounds = 1000;
  if (can_force_pids()) {
    const auto before = open_descriptors();
    EXPECT_EQ(reuse_rounds(kRounds), kRounds);
    EXPECT_EQ(open_descriptors(), before);
    return;
  }
  const int result = in_pid_namespace([] { return reuse_rounds(kRounds) == kRounds ? 0 : 1; });
  if (result == -1) GTEST_SKIP() << "no pid namespace to be had";
  EXPECT_EQ(result, 0);
}

// Without pidfs the token alone would not tell a reuse in the same tick, but the pidfd does: it is
// opened before the reading, and what it stands for has exited.
TEST(Signal, NeverReachesAStrangerWithoutPidfsOnceTheProcessIsPinned) {
  if (!can_force_pids()) GTEST_SKIP() << "pids cannot be forced without privilege";
  PidReuse reuse;
  for (int round = 0; round < 100; ++round) {
    FakeSystem system;
    system.plain_pidfds = true;
    Control control(plugin::Settings(), system.table());
    Child recorded = sleeper_with_pid(free_pid());
    if (recorded.pid() <= 0) continue;
    const pid_t pid = recorded.pid();
    auto judge = judge_of(recorded);
    Child stranger;
    bool replaced = false;
    system.after_stat = [&] {
      if (!replaced && recorded.pid() > 0) replaced = reuse.replace(recorded, stranger);
    };
    const auto sent = signal(control, pid, judge, ROLLCALL_SIGNAL_KILL);
    EXPECT_NE(sent.outcome, ROLLCALL_SIGNAL_SENT);
    if (replaced) {
      EXPECT_TRUE(stranger.alive());
    }
  }
}

// A judge as the host's is: by the exact id where there is one, else by the token.
HostJudge judge_by_both(std::uint64_t id, const std::string& token) {
  HostJudge judge = HostJudge::of_token(token);
  auto by_token = judge.verdict;
  judge.verdict = [id, by_token](const rollcall_observation& seen) -> std::uint32_t {
    const bool exact = (seen.flags & ROLLCALL_OBS_EXACT_ID) != 0;
    if (!exact || seen.presence != ROLLCALL_PRESENCE_PRESENT) return by_token(seen);
    return seen.exact_id == id ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
  };
  return judge;
}

// The stranger has the recorded token: as if it had reused the pid in the same tick.
TEST(Signal, NeverTrustsATokenWhereTheExactIdCouldNotBeRead) {
  if (exact_id_of(::getpid()) == 0) GTEST_SKIP() << "this kernel has no pidfs";
  for (const std::string call : {"fstatfs", "fstat"}) {
    FakeSystem system;
    Control control(plugin::Settings(), system.table());
    Child stranger = Child::sleeper();
    auto judge = judge_by_both(1, start_token_of(stranger.pid()));
    system.refuse[call] = EIO;
    const auto sent = signal(control, stranger.pid(), judge, ROLLCALL_SIGNAL_KILL);
    EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED) << call;
    EXPECT_EQ(sent.os_code, EIO) << call;
    EXPECT_EQ(await(control, stranger.pid(), judge, 0ms).outcome, ROLLCALL_AWAIT_UNKNOWN) << call;
    EXPECT_EQ(system.counts["pidfd_send_signal"], 0);
    EXPECT_TRUE(stranger.alive());
  }
}

// Whichever single call fails, and however often it was asked before.
TEST(Signal, NeverReachesASameTokenStrangerByOneFailedCall) {
  if (exact_id_of(::getpid()) == 0) GTEST_SKIP() << "this kernel has no pidfs";
  const char* const calls[] = {"pidfd_open", "fstatfs", "fstat", "openat", "read", "readlinkat"};
  for (const std::string call : calls) {
    for (const int error : {ENOSYS, EPERM, EMFILE, EIO}) {
      for (int nth = 1; nth <= 5; ++nth) {
        FakeSystem system;
        Control control(plugin::Settings(), system.table());
        Child stranger = Child::run(&pause_for_ever);
        auto judge = judge_by_both(1, start_token_of(stranger.pid()));
        system.reset_counts();
        system.refuse_nth[call] = {nth, error};
        for (int i = 0; i < 3; ++i) {
          EXPECT_NE(signal(control, stranger.pid(), judge, ROLLCALL_SIGNAL_KILL).outcome,
                    ROLLCALL_SIGNAL_SENT)
              << call << " " << nth << " " << error;
        }
        EXPECT_EQ(system.sent_signals, 0);
      }
    }
  }
}

TEST(Signal, HoldsNoDescriptorAfterwards) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  auto unsure = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  signal(control, child.pid(), unsure);
  const auto before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    signal(control, child.pid(), unsure);
    signal(control, child.pid(), judge, ROLLCALL_SIGNAL_CONT);
    await(control, child.pid(), judge, 0ms);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(AwaitExit, SeesTheEndOfAProcess) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  signal(control, child.pid(), judge);
  EXPECT_EQ(await(control, child.pid(), judge, 20s).outcome, ROLLCALL_AWAIT_ENDED);
}

// A child that nobody reaps: its end is seen at once all the same.
TEST(AwaitExit, CountsAZombieAsEnded) {
  Control control = real_control();
  Child zombie = Child::zombie();
  auto judge = judge_of(zombie);
  EXPECT_EQ(await(control, zombie.pid(), judge, 20s).outcome, ROLLCALL_AWAIT_ENDED);
  Child child = Child::sleeper();
  auto while_waiting = judge_of(child);
  child.signal(SIGKILL);
  EXPECT_EQ(await(control, child.pid(), while_waiting, 20s).outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(state_of(child.pid()), 'Z');
}

// The first process of a pid namespace: a signal that it does not handle is dropped, but not KILL.
TEST(AwaitExit, SaysThatTheInitOfAPidNamespaceIsStillThere) {
  int result[2];
  ASSERT_EQ(::pipe2(result, O_CLOEXEC), 0);
  Child outer = Child::run([&]() -> int {
    pid_t init = 0;
    if (::unshare(CLONE_NEWPID) == 0) {
      init = ::fork();
      if (init == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        return pause_for_ever();
      }
    }
    if (::write(result[1], &init, sizeof init) != sizeof init) return 1;
    return pause_for_ever();
  });
  pid_t init = 0;
  ASSERT_EQ(::read(result[0], &init, sizeof init), ssize_t{sizeof init});
  ::close(result[0]);
  ::close(result[1]);
  if (init <= 0) GTEST_SKIP() << "a pid namespace wants root";
  Control control = real_control();
  auto judge = HostJudge::of_token(start_token_of(init));
  EXPECT_EQ(signal(control, init, judge).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(await(control, init, judge, 30ms).outcome, ROLLCALL_AWAIT_STILL_THERE);
  EXPECT_EQ(signal(control, init, judge, ROLLCALL_SIGNAL_KILL).outcome, ROLLCALL_SIGNAL_SENT);
  EXPECT_EQ(await(control, init, judge, 20s).outcome, ROLLCALL_AWAIT_ENDED);
}

TEST(AwaitExit, SaysThatAProcessIsStillThereAndWhetherItIsStopped) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  const auto running = await(control, child.pid(), judge, 30ms);
  EXPECT_EQ(running.outcome, ROLLCALL_AWAIT_STILL_THERE);
  EXPECT_EQ(running.flags & ROLLCALL_OBS_SUSPENDED, 0U);
  child.signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return state_of(child.pid()) == 'T'; }));
  const auto stopped = await(control, child.pid(), judge, 30ms);
  EXPECT_EQ(stopped.outcome, ROLLCALL_AWAIT_STILL_THERE);
  EXPECT_NE(stopped.flags & ROLLCALL_OBS_SUSPENDED, 0U);
}

// The process ends in the very moment of the deadline: the last asking sees it.
TEST(AwaitExit, AsksOnceMoreAtTheDeadline) {
  FakeSystem system;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  int polls = 0;
  system.before_poll = [&] {
    if (++polls < 2) return;  // the first belongs to the reading
    child.signal(SIGKILL);
    wait_until([&] { return state_of(child.pid()) == 'Z'; });
  };
  EXPECT_EQ(await(control, child.pid(), judge, 0ms).outcome, ROLLCALL_AWAIT_ENDED);
}

TEST(AwaitExit, WaitsByReadingWhereNoPidfdIsToBeHad) {
  FakeSystem system;
  system.refuse["pidfd_open"] = ENOSYS;
  Control control(plugin::Settings(), system.table());
  Child child = Child::sleeper();
  auto judge = judge_of(child);
  EXPECT_EQ(await(control, child.pid(), judge, 30ms).outcome, ROLLCALL_AWAIT_STILL_THERE);
  system.before_poll = [&] { child.signal(SIGKILL); };
  EXPECT_EQ(await(control, child.pid(), judge, 20s).outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(judge.asked, 2);  // once a call
}

TEST(AwaitExit, HonoursACancelWhileItWaits) {
  for (const bool pidfds : {true, false}) {
    FakeSystem system;
    if (!pidfds) system.refuse["pidfd_open"] = ENOSYS;
    Control control(plugin::Settings(), system.table());
    Child child = Child::sleeper();
    auto judge = judge_of(child);
    int asked = 0;
    rollcall_call raw = {};
    raw.struct_size = sizeof raw;
    raw.deadline_ns = INT64_MAX;
    raw.context = &asked;
    raw.cancelled = [](void* context) -> std::uint32_t {
      return ++*static_cast<int*>(context) > 2 ? 1U : 0U;
    };
    rollcall_await_outcome out = {};
    const auto status = control.await_exit(child.pid(), judge.plug(), out, plugin::Call(&raw));
    EXPECT_EQ(status.code(), ROLLCALL_E_CANCELLED);
  }
}

TEST(AwaitExit, ClaimsNoEndThatItCouldNotVerify) {
  Control control = real_control();
  Child child = Child::sleeper();
  auto unsure = HostJudge::always(ROLLCALL_JUDGE_UNVERIFIED);
  const auto unknown = await(control, child.pid(), unsure, 20s);
  EXPECT_EQ(unknown.outcome, ROLLCALL_AWAIT_UNKNOWN);
  EXPECT_NE(unknown.reason, "");
  auto other = HostJudge::of_token("1");
  EXPECT_EQ(await(control, child.pid(), other, 20s).outcome, ROLLCALL_AWAIT_ENDED);
}

}  // namespace
}  // namespace rollcall::testing
