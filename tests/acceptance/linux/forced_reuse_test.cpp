// A pid is forced onto another process, again and again, around every act.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "support/forced_pid_linux.hpp"
#include "support/process.hpp"
#include "support/rig.hpp"

namespace rollcall {
namespace {

using test::Rig;
using testing::Child;

constexpr int kRounds = 1000;

// Runs `round` where pids can be forced: here as root, else in a pid namespace of our own. The exit
// code says what failed.
enum Failure : int { kFine = 0, kNoRig, kNoProcess, kNoRecord, kSignalled, kPruned, kWrongAnswer };

std::string describe(int code) {
  switch (code) {
    case kNoRig:
      return "the framework could not be opened";
    case kNoProcess:
      return "a process could not be started on the pid";
    case kNoRecord:
      return "the record could not be written";
    case kSignalled:
      return "a signal reached a stranger";
    case kPruned:
      return "a live record was pruned";
    case kWrongAnswer:
      return "the answer was not already_gone";
    default:
      return "code " + std::to_string(code);
  }
}

void run_with_forced_pids(const std::function<int()>& body) {
  if (testing::can_force_pids()) {
    Child child = Child::run(body);
    const auto status = child.wait(std::chrono::seconds(240));
    ASSERT_TRUE(status && WIFEXITED(*status)) << "ended by a signal, or not at all";
    ASSERT_EQ(WEXITSTATUS(*status), 0) << describe(WEXITSTATUS(*status));
    return;
  }
  const int code = testing::in_pid_namespace(body);
  if (code == -1) GTEST_SKIP() << "pids can be forced neither here nor in a user namespace";
  ASSERT_EQ(code, 0) << describe(code);
}

// The stranger takes the pid before the act.
int reuse_before(const std::function<Result<StopReport>(Registry&)>& act) {
  Rig rig;
  if (!rig.problem.empty()) return kNoRig;
  for (int round = 0; round < kRounds; ++round) {
    Child first = Child(testing::fork_with_pid(testing::free_pid(), &testing::pause_for_ever));
    const pid_t pid = first.pid();
    if (pid <= 0) return kNoProcess;
    if (!rig.record_process("s", pid)) return kNoRecord;
    first.signal(SIGKILL);
    first.wait();
    Child stranger = testing::sleeper_with_pid(pid);
    if (stranger.pid() != pid) return kNoProcess;
    if (!rig.record_process("stranger", pid)) return kNoRecord;
    const auto report = act(*rig.registry);
    if (!report || report->outcome != StopOutcome::kAlreadyGone || !report->signals.empty()) {
      return kWrongAnswer;
    }
    if (!stranger.alive()) return kSignalled;
    if (!rig.has_record("stranger")) return kPruned;
    if (!rig.registry->forget("stranger", true, {})) return kNoRecord;
  }
  return kFine;
}

// The stranger takes the pid while the act runs, at any instant of it.
int reuse_during(const std::function<Result<StopReport>(Registry&)>& act) {
  Rig rig;
  if (!rig.problem.empty()) return kNoRig;
  for (int round = 0; round < kRounds; ++round) {
    Child first = Child(testing::fork_with_pid(testing::free_pid(), &testing::pause_for_ever));
    const pid_t pid = first.pid();
    if (pid <= 0) return kNoProcess;
    if (!rig.record_process("s", pid)) return kNoRecord;
    std::atomic<bool> go{false};
    std::thread actor([&] {
      while (!go) std::this_thread::yield();
      (void)act(*rig.registry);
    });
    go = true;
    for (int spin = 0; spin < (round % 50) * 40; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    first.signal(SIGKILL);
    first.wait();
    Child stranger = testing::sleeper_with_pid(pid);
    actor.join();
    if (stranger.pid() != pid) return kNoProcess;
    if (!stranger.alive()) return kSignalled;
    (void)rig.registry->forget("s", true, {});
  }
  return kFine;
}

Result<StopReport> stop(Registry& registry) {
  StopOptions options;
  options.second_after_ms = 1;
  options.total_ms = 3;
  return registry.stop("s", options, {});
}

Result<StopReport> kill(Registry& registry) { return registry.kill("s", Signal::kKill, 5, {}); }

TEST(ForcedReuse, NeverLetsStopReachAStranger) {
  run_with_forced_pids([] { return reuse_before(stop); });
}

TEST(ForcedReuse, NeverLetsKillReachAStranger) {
  run_with_forced_pids([] { return reuse_before(kill); });
}

TEST(ForcedReuse, NeverLetsStopReachANewcomerDuringTheAct) {
  run_with_forced_pids([] { return reuse_during(stop); });
}

TEST(ForcedReuse, NeverLetsKillReachANewcomerDuringTheAct) {
  run_with_forced_pids([] { return reuse_during(kill); });
}

TEST(ForcedReuse, PrunesTheDeadRecordAndKeepsTheNewcomers) {
  run_with_forced_pids([]() -> int {
    Rig rig;
    if (!rig.problem.empty()) return kNoRig;
    for (int round = 0; round < 100; ++round) {
      Child first = Child(testing::fork_with_pid(testing::free_pid(), &testing::pause_for_ever));
      const pid_t pid = first.pid();
      if (pid <= 0) return kNoProcess;
      if (!rig.record_process("old", pid)) return kNoRecord;
      first.signal(SIGKILL);
      first.wait();
      Child newcomer = testing::sleeper_with_pid(pid);
      if (newcomer.pid() != pid) return kNoProcess;
      if (!rig.record_process("new", pid)) return kNoRecord;
      SweepOptions options;
      options.prune = true;
      const auto sweep = rig.registry->sweep(options, {});
      if (!sweep || sweep->pruned.size() != 1) return kWrongAnswer;
      if (!rig.has_record("new") || rig.has_record("old")) return kPruned;
      if (!rig.registry->forget("new", true, {})) return kNoRecord;
    }
    return kFine;
  });
}

}  // namespace
}  // namespace rollcall
