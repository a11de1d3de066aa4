// Readings of real processes on this kernel.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "backend_support.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::testing {
namespace {

// The ids of a process's threads but its leader's.
std::vector<pid_t> other_threads(pid_t pid) {
  std::vector<pid_t> ids;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator it(tasks, error), end; it != end; it.increment(error)) {
    const auto id = static_cast<pid_t>(std::stol(it->path().filename().string()));
    if (id != pid) ids.push_back(id);
  }
  return ids;
}

// A process with one more thread; the leader ends itself at once if asked to.
Child two_threads(bool leader_ends) {
  Child child = Child::run([&]() -> int {
    std::thread([] { pause_for_ever(); }).detach();
    if (leader_ends) ::syscall(SYS_exit, 0);
    return pause_for_ever();
  });
  wait_until([&] {
    return !other_threads(child.pid()).empty() && (!leader_ends || state_of(child.pid()) == 'Z');
  });
  return child;
}

// Both ways of reading: by stat alone, and by pidfd where there is one.
const std::uint32_t kBothWays[] = {kToken, kToken | kExact, kToken | kExact | kSuffices};

TEST(ObserveLive, ReadsAProcessByStatAndByPidfdAlike) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  for (const auto wants : kBothWays) {
    const auto seen = observe(*probe, child.pid(), wants);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
    if ((wants & kSuffices) == 0) {
      EXPECT_EQ(token_of(seen), start_token_of(child.pid()));
    }
    if ((wants & kExact) != 0) {
      EXPECT_EQ(seen.exact_id, exact_id_of(child.pid()));
    }
  }
}

TEST(ObserveLive, FindsAnUnreapedProcessExitedAndAReapedOneAbsent) {
  ProbeAt probe("/proc");
  Child zombie = Child::zombie();
  for (const auto wants : kBothWays) {
    EXPECT_EQ(observe(*probe, zombie.pid(), wants).presence, ROLLCALL_PRESENCE_EXITED) << wants;
  }
  const pid_t pid = zombie.pid();
  zombie.wait();
  for (const auto wants : kBothWays) {
    EXPECT_EQ(observe(*probe, pid, wants).presence, ROLLCALL_PRESENCE_ABSENT) << wants;
  }
}

TEST(ObserveLive, FindsAThreadIdAbsent) {
  ProbeAt probe("/proc");
  Child child = two_threads(false);
  const auto threads = other_threads(child.pid());
  ASSERT_FALSE(threads.empty());
  for (const auto wants : kBothWays) {
    const auto seen = observe(*probe, threads[0], wants);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_ABSENT) << wants;
    EXPECT_NE(seen.flags & ROLLCALL_OBS_THREAD, 0U) << wants;
    EXPECT_EQ(observe(*probe, child.pid(), wants).presence, ROLLCALL_PRESENCE_PRESENT);
  }
}

TEST(ObserveLive, ProvesAThreadIdWithoutAProcfs) {
  if (exact_id_of(::getpid()) == 0) GTEST_SKIP() << "this kernel opens no pidfd of a thread";
  TempDir empty;
  ProbeAt probe(empty.path().string());
  Child child = two_threads(false);
  const auto seen = observe(*probe, other_threads(child.pid()).at(0));
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_ABSENT);
  EXPECT_NE(seen.flags & ROLLCALL_OBS_THREAD, 0U);
}

TEST(ObserveLive, KeepsAZombieLeaderWhoseThreadsRunOn) {
  ProbeAt probe("/proc");
  Child child = two_threads(true);
  ASSERT_EQ(state_of(child.pid()), 'Z');
  for (const auto wants : kBothWays) {
    EXPECT_EQ(observe(*probe, child.pid(), wants).presence, ROLLCALL_PRESENCE_PRESENT) << wants;
  }
}

TEST(ObserveLive, SaysThatAStoppedProcessIsSuspended) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  child.signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return state_of(child.pid()) == 'T'; }));
  const auto wants = kToken | kExact | kSuffices | ROLLCALL_WANT_STATE;
  EXPECT_NE(observe(*probe, child.pid(), wants).flags & ROLLCALL_OBS_SUSPENDED, 0U);
  child.signal(SIGCONT);
  ASSERT_TRUE(wait_until([&] { return state_of(child.pid()) == 'S'; }));
  EXPECT_EQ(observe(*probe, child.pid(), wants).flags & ROLLCALL_OBS_SUSPENDED, 0U);
}

TEST(ObserveLive, GivesAnAgeThatFitsTheStart) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  const auto seen = observe(*probe, child.pid(), ROLLCALL_WANT_AGE);
  ASSERT_NE(seen.flags & ROLLCALL_OBS_AGE, 0U);
  EXPECT_GE(seen.age_ns, 0);
  EXPECT_LT(seen.age_ns, std::int64_t{60} * 1'000'000'000);
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  EXPECT_LT(std::abs(now - seen.start_unix_ns), std::int64_t{60} * 1'000'000'000);
}

// The child's other thread executes another program and so takes the leader's number over, while
// the number is read over and over: it never counts as gone.
TEST(ObserveLive, SeesAProcessThroughAnExecByAnotherThread) {
  ProbeAt probe("/proc");
  for (int round = 0; round < 20; ++round) {
    Child child = Child::run([]() -> int {
      std::thread([] { ::execlp("sleep", "sleep", "600", nullptr); }).detach();
      return pause_for_ever();
    });
    const auto token = start_token_of(child.pid());
    ASSERT_TRUE(wait_until([&] {
      for (const auto wants : kBothWays) {
        const auto seen = observe(*probe, child.pid(), wants);
        EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
        if (!token_of(seen).empty()) {
          EXPECT_EQ(token_of(seen), token);
        }
      }
      return slurp("/proc/" + std::to_string(child.pid()) + "/comm") == "sleep\n";
    }));
  }
}

TEST(ObserveLive, TellsAForcedReuseByTheExactIdEvenInOneTick) {
  if (!can_force_pids()) GTEST_SKIP() << "pids cannot be forced without privilege";
  if (exact_id_of(::getpid()) == 0) GTEST_SKIP() << "this kernel has no pidfs";
  ProbeAt probe("/proc");
  for (int round = 0; round < 50; ++round) {
    const pid_t pid = free_pid();
    Child first = sleeper_with_pid(pid);
    if (first.pid() != pid) continue;
    const auto before = observe(*probe, pid, kExact);
    first = Child();
    Child second = sleeper_with_pid(pid);
    if (second.pid() != pid) continue;
    EXPECT_NE(observe(*probe, pid, kExact).exact_id, before.exact_id);
  }
}

TEST(ObserveLive, HoldsNoDescriptorAfterAReading) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  Child zombie = Child::zombie();
  observe(*probe, child.pid(), kToken | kExact);
  const auto before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    for (const auto wants : kBothWays) {
      for (const pid_t pid : {child.pid(), zombie.pid(), 1}) observe(*probe, pid, wants);
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ObserveLive, LeavesNoDescriptorToAnExecutedProgram) {
  ProbeAt probe("/proc");
  rollcall_whoami who = {};
  ASSERT_TRUE(probe->whoami(who, unbounded()).ok());
  Child child = Child::sleeper();
  std::error_code error;
  const std::filesystem::path fds = "/proc/" + std::to_string(child.pid()) + "/fd";
  for (std::filesystem::directory_iterator it(fds, error), end; it != end; it.increment(error)) {
    const auto target = std::filesystem::read_symlink(it->path(), error).string();
    EXPECT_NE(target, "/proc");
    EXPECT_EQ(target.find("pidfd"), std::string::npos);
  }
}

TEST(ObserveLive, AnswersSeveralThreadsAtOnce) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  const auto token = start_token_of(child.pid());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        rollcall_whoami who = {};
        if (!probe->whoami(who, unbounded()).ok() || who.boot_id_size == 0) ++wrong;
        if (token_of(observe(*probe, child.pid(), kToken | kExact)) != token) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// As another user: the process may not be signalled, and is held all the same.
TEST(ObserveLive, ReadsAnotherUsersProcessAsHeld) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  Child child = Child::sleeper();
  const auto token = start_token_of(child.pid());
  Child reader = Child::run([&]() -> int {
    if (!become_nobody()) return 99;
    ProbeAt probe("/proc");
    for (const auto wants : kBothWays) {
      const auto seen = observe(*probe, child.pid(), wants);
      if (seen.presence != ROLLCALL_PRESENCE_PRESENT) return 1;
      if ((wants & kSuffices) == 0 && token_of(seen) != token) return 2;
    }
    return 0;
  });
  EXPECT_EQ(reader.wait(), 0);
}

// hidepid=2: the stat of another user's process cannot be opened, and kill says EPERM.
TEST(ObserveLive, TakesAHiddenProcessNeitherForAbsentNorForExited) {
  if (::geteuid() != 0) GTEST_SKIP() << "hidepid wants root";
  const int result = in_pid_namespace([]() -> int {
    if (::mount("none", "/proc", nullptr, MS_REMOUNT, "hidepid=2") != 0) return 90;
    Child hidden = Child::run([] { return pause_for_ever(); });
    Child gone = Child::run([] { return 0; });
    gone.wait();
    const auto exact = exact_id_of(hidden.pid());
    Child reader = Child::run([&]() -> int {
      if (!become_nobody()) return 91;
      ProbeAt probe("/proc");
      if (observe(*probe, hidden.pid()).presence != ROLLCALL_PRESENCE_UNREADABLE) return 1;
      if (observe(*probe, gone.pid()).presence != ROLLCALL_PRESENCE_ABSENT) return 2;
      const rollcall_sink sink = {
          sizeof sink, 0, nullptr,
          [](void*, const void*, std::uint64_t) -> std::int32_t { return 0; }};
      const auto read = [&](pid_t pid) {
        return probe->read(pid, ROLLCALL_READ_NAME, plugin::Sink(&sink), unbounded()).code();
      };
      if (read(hidden.pid()) != ROLLCALL_E_DENIED) return 6;
      if (read(gone.pid()) != ROLLCALL_E_NOT_FOUND) return 7;
      const auto seen = observe(*probe, hidden.pid(), kToken | kExact);
      if (exact == 0) return seen.presence == ROLLCALL_PRESENCE_UNREADABLE ? 0 : 3;
      if (seen.presence != ROLLCALL_PRESENCE_PRESENT || seen.exact_id != exact) return 4;
      return token_of(seen).empty() ? 0 : 5;
    });
    const auto status = reader.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 92;
  });
  if (result == -1) GTEST_SKIP() << "no pid namespace to be had";
  EXPECT_EQ(result, 0);
}

// A pid namespace without a procfs of its own: the mounted one shows other processes.
TEST(ObserveLive, TakesNoIdentityFromTheProcfsOfAnotherNamespace) {
  if (::geteuid() != 0) GTEST_SKIP() << "a pid namespace wants root";
  Child outer = Child::run([]() -> int {
    if (::unshare(CLONE_NEWPID) != 0) return 77;
    Child inner = Child::run([]() -> int {  // pid 1 there, and /proc shows the outer pids
      ProbeAt probe("/proc");
      const auto seen = observe(*probe, 1, kToken | kExact);
      if (!token_of(seen).empty()) return 1;
      if (seen.presence == ROLLCALL_PRESENCE_ABSENT) return 2;
      if (observe(*probe, 4, kToken | kExact).presence != ROLLCALL_PRESENCE_ABSENT) return 3;
      rollcall_whoami who = {};
      if (!probe->whoami(who, unbounded()).ok()) return 4;
      if (who.start_token_size != 0 || who.start_token_why_size == 0) return 5;
      if (who.pid_namespace_size != 0) return 6;
      const rollcall_pid_sink sink = {
          sizeof sink, 0, nullptr,
          [](void*, std::int64_t, std::int64_t) -> std::int32_t { return 0; }};
      if (probe->list(plugin::PidSink(&sink), unbounded()).ok()) return 7;
      return 0;
    });
    const auto status = inner.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 92;
  });
  const auto status = outer.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "no pid namespace to be had";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

}  // namespace
}  // namespace rollcall::testing
