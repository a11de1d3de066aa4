// Readings of fixtures of /proc and of a kernel that refuses.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include "backend_support.hpp"

namespace rollcall::testing {
namespace {

constexpr auto kNoPid = std::int64_t{INT32_MAX};  // above every pid_max

bool has_pidfs() { return exact_id_of(::getpid()) != 0; }

TEST(Observe, NeverHandsAnImpossiblePidToTheSystem) {
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  system.reset_counts();
  for (const std::int64_t pid :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-2}, std::int64_t{INT32_MAX} + 1,
        std::int64_t{4294967295}, INT64_MIN, INT64_MAX}) {
    const auto seen = observe(*probe, pid, kToken | kExact);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_ABSENT) << pid;
    EXPECT_EQ(seen.pid, pid);
  }
  EXPECT_EQ(system.total(), 0);
}

TEST(Observe, TakesTheTokenByteForByteFromField22) {
  FakeProc proc;
  proc.stat(4242, stat_line(4242, {.name = "a b) R 1 2", .start = "00078475"}));
  ProbeAt probe(proc.root());
  const auto seen = observe(*probe, 4242);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), "00078475");
}

TEST(Observe, DoesNotLetTheTokenMoveWithBootTimeOrUptime) {
  FakeProc proc;
  proc.stat(4242, stat_line(4242));
  ProbeAt probe(proc.root());
  for (const auto* btime : {"btime 1585742667\n", "btime 1585742843\n"}) {
    proc.dir().write("stat", btime);
    proc.dir().write("uptime", "-5.00 0.00\n");
    EXPECT_EQ(token_of(observe(*probe, 4242)), "78475");
  }
}

TEST(Observe, CountsDeadStatesAsExitedAndEveryOtherLetterAsHeld) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  for (const char state : std::string_view("XxZ")) {
    proc.stat(4242, stat_line(4242, {.state = state}));
    EXPECT_EQ(observe(*probe, 4242).presence, ROLLCALL_PRESENCE_EXITED) << state;
  }
  for (const char state : std::string_view("RSDTtIPQ")) {
    proc.stat(4242, stat_line(4242, {.state = state}));
    const auto seen = observe(*probe, 4242);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT) << state;
    EXPECT_EQ((seen.flags & ROLLCALL_OBS_SUSPENDED) != 0, state == 'T' || state == 't') << state;
  }
}

TEST(Observe, GivesNoTokenWhereFieldTwentyTwoIsOdd) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  for (const std::string start : {"-1", "12a", "1234567890123456789012345", "0"}) {
    proc.stat(4242, stat_line(4242, {.start = start}));
    const auto seen = observe(*probe, 4242, kToken | ROLLCALL_WANT_AGE);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT) << start;
    EXPECT_EQ(seen.flags & ROLLCALL_OBS_START_TOKEN, 0U) << start;
    EXPECT_EQ(seen.flags & ROLLCALL_OBS_AGE, 0U) << start;
  }
}

TEST(Observe, IsUnreadableWhereTheStatOfAHeldPidIsCut) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  Child held = Child::sleeper();
  const auto whole = stat_line(held.pid());
  for (const auto& text : {std::string(), whole.substr(0, 40), std::string("no parenthesis\n")}) {
    proc.stat(held.pid(), text);
    const auto seen = observe(*probe, held.pid());
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE) << text;
    EXPECT_NE(reason_of(seen).find("malformed"), std::string::npos);
    EXPECT_EQ(token_of(seen), "");
  }
}

TEST(Observe, IsUnreadableWithoutAProcfsAndAbsentOnlyByEsrch) {
  TempDir empty;
  ProbeAt probe(empty.path().string());
  Child held = Child::sleeper();
  EXPECT_EQ(observe(*probe, held.pid()).presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(observe(*probe, kNoPid).presence, ROLLCALL_PRESENCE_ABSENT);
  ProbeAt nowhere((empty / "missing").string());
  EXPECT_EQ(observe(*nowhere, held.pid()).presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(observe(*nowhere, kNoPid).presence, ROLLCALL_PRESENCE_ABSENT);
}

TEST(Observe, ReadsTheExactIdWithoutAProcfs) {
  if (!has_pidfs()) GTEST_SKIP() << "this kernel has no pidfs";
  TempDir empty;
  ProbeAt probe(empty.path().string());
  Child held = Child::sleeper();
  const auto seen = observe(*probe, held.pid(), kToken | kExact);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(seen.exact_id, exact_id_of(held.pid()));
  EXPECT_EQ(token_of(seen), "");
}

TEST(Observe, BelievesNothingOfAProcfsWhoseSelfLinkIsAnother) {
  FakeProc proc;
  std::filesystem::remove(proc.dir() / "self");
  std::filesystem::create_symlink("1", proc.dir() / "self");
  Child held = Child::sleeper();
  proc.stat(held.pid(), stat_line(held.pid(), {.state = 'Z'}));
  ProbeAt probe(proc.root());
  const auto seen = observe(*probe, held.pid());
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
  EXPECT_EQ(token_of(seen), "");
  EXPECT_NE(reason_of(seen).find("self"), std::string::npos);
}

TEST(Observe, ReadsAStatThatComesInPieces) {
  for (const std::size_t piece : {1U, 2U, 7U, 40U, 100U}) {
    FakeSystem system;
    FakeProc proc;
    proc.stat(4242, stat_line(4242, {.name = "a\n) b"}));
    system.read_at_most = piece;
    ProbeAt probe(proc.root(), system.table());
    EXPECT_EQ(token_of(observe(*probe, 4242)), "78475") << piece;
  }
}

TEST(Observe, ReadsAProcessWithOneOpenOneReadAndOneClose) {
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  observe(*probe, ::getpid());
  system.reset_counts();
  observe(*probe, ::getpid());
  EXPECT_EQ(system.counts["openat"], 1);
  EXPECT_EQ(system.counts["read"], 1);
  EXPECT_EQ(system.counts["close"], 1);
  EXPECT_EQ(system.counts["readlinkat"], 1);  // whose procfs it is; once a batch
  EXPECT_EQ(system.total(), 4);
}

TEST(Observe, NeverOpensStatWhereTheExactIdSuffices) {
  if (!has_pidfs()) GTEST_SKIP() << "this kernel has no pidfs";
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  observe(*probe, ::getpid(), kExact | kSuffices | kToken);
  system.reset_counts();
  const auto seen = observe(*probe, ::getpid(), kExact | kSuffices | kToken);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(seen.exact_id, exact_id_of(::getpid()));
  EXPECT_EQ(system.opened.size(), 0U);
  EXPECT_EQ(system.counts["pidfd_open"], 1);
  EXPECT_EQ(system.counts["fstat"], 1);
  EXPECT_EQ(system.counts["poll"], 1);
  EXPECT_EQ(system.counts["close"], 1);
  EXPECT_EQ(system.total(), 4);
}

TEST(Observe, OpensStatBesideTheExactIdForStateAndAge) {
  if (!has_pidfs()) GTEST_SKIP() << "this kernel has no pidfs";
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  for (const auto also : {ROLLCALL_WANT_STATE, ROLLCALL_WANT_AGE}) {
    system.reset_counts();
    const auto seen = observe(*probe, ::getpid(), kExact | kSuffices | also);
    EXPECT_EQ(system.counts["read"], 1);
    EXPECT_NE(seen.flags & (ROLLCALL_OBS_STATE | ROLLCALL_OBS_AGE), 0U);
  }
}

TEST(Observe, GoesOnByStatWhereNoPidfdIsToBeHad) {
  for (const int error : {ENOSYS, EPERM, EMFILE, ENFILE, ENOMEM}) {
    FakeSystem system;
    system.refuse["pidfd_open"] = error;
    ProbeAt probe("/proc", system.table());
    const auto seen = observe(*probe, ::getpid(), kToken | kExact | kSuffices);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT) << error;
    EXPECT_EQ(token_of(seen), start_token_of(::getpid())) << error;
    EXPECT_EQ(seen.flags & ROLLCALL_OBS_EXACT_ID, 0U) << error;
  }
}

TEST(Observe, AsksForPidfsAgainAfterDescriptorsRanOut) {
  if (!has_pidfs()) GTEST_SKIP() << "this kernel has no pidfs";
  FakeSystem system;
  system.refuse["pidfd_open"] = EMFILE;
  ProbeAt probe("/proc", system.table());
  observe(*probe, ::getpid(), kExact);
  system.refuse.clear();
  EXPECT_NE(observe(*probe, ::getpid(), kExact).flags & ROLLCALL_OBS_EXACT_ID, 0U);
}

// A start token must not stand in for an exact id that is there and could not be read just now.
TEST(Observe, IsUnreadableWhereAPidfdDoesNotTellItsExactId) {
  if (!has_pidfs()) GTEST_SKIP() << "this kernel has no pidfs";
  for (const bool known : {false, true}) {
    for (const std::string call : {"fstatfs", "fstat"}) {
      if (known && call == "fstatfs") continue;  // not asked again
      FakeSystem system;
      ProbeAt probe("/proc", system.table());
      if (known) observe(*probe, ::getpid(), kExact);
      system.refuse[call] = EIO;
      for (const auto wants : {kExact, kToken | kExact, kToken | kExact | kSuffices}) {
        const auto seen = observe(*probe, ::getpid(), wants);
        EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE) << call;
        EXPECT_EQ(seen.os_code, EIO) << call;
        EXPECT_NE(reason_of(seen).find("exact id"), std::string::npos) << reason_of(seen);
        EXPECT_EQ(token_of(seen), "") << call;
      }
      EXPECT_EQ(observe(*probe, ::getpid(), kToken).presence, ROLLCALL_PRESENCE_PRESENT);
      system.refuse.clear();
      EXPECT_EQ(observe(*probe, ::getpid(), kExact).exact_id, exact_id_of(::getpid()));
    }
  }
}

TEST(Observe, SeesThatAProcessHasExitedEvenWithoutItsExactId) {
  FakeSystem system;
  system.refuse["fstatfs"] = EIO;
  ProbeAt probe("/proc", system.table());
  Child zombie = Child::zombie();
  EXPECT_EQ(observe(*probe, zombie.pid(), kToken | kExact).presence, ROLLCALL_PRESENCE_EXITED);
}

TEST(Observe, GivesNoExactIdWhereAllPidfdsShareOneInode) {
  FakeSystem system;
  system.plain_pidfds = true;
  ProbeAt probe("/proc", system.table());
  const auto seen = observe(*probe, ::getpid(), kToken | kExact | kSuffices);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(seen.flags & ROLLCALL_OBS_EXACT_ID, 0U);
  EXPECT_EQ(token_of(seen), start_token_of(::getpid()));
}

// The process ends between the reading of its stat and the poll of its pidfd.
TEST(Observe, CountsAStatOnlyIfTheProcessHadNotExitedAfterwards) {
  FakeSystem system;
  system.plain_pidfds = true;
  ProbeAt probe("/proc", system.table());
  Child child = Child::sleeper();
  observe(*probe, ::getpid(), kExact);  // so that only the child's own reading is interrupted
  system.after_stat = [&] {
    child.signal(SIGKILL);
    child.wait();
  };
  const auto seen = observe(*probe, child.pid(), kToken | kExact);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_EXITED);
  EXPECT_EQ(token_of(seen), "");
}

TEST(Observe, TakesNeitherEpermNorAFailedOpenForAbsence) {
  for (const int kill_error : {0, EPERM}) {
    for (const int open_error : {ENOENT, EACCES, EMFILE, ENFILE}) {
      FakeSystem system;
      ProbeAt probe("/proc", system.table());
      Child held = Child::sleeper();
      observe(*probe, held.pid());
      system.refuse["openat"] = open_error;
      if (kill_error != 0) system.refuse["kill"] = kill_error;
      const auto seen = observe(*probe, held.pid());
      EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
      EXPECT_EQ(seen.os_code, open_error);
      EXPECT_NE(reason_of(seen), "");
    }
  }
}

TEST(Observe, IsAbsentByEsrchWhateverTheOpenSaid) {
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  observe(*probe, ::getpid());
  system.refuse["openat"] = EMFILE;
  EXPECT_EQ(observe(*probe, kNoPid).presence, ROLLCALL_PRESENCE_ABSENT);
}

// A filter of system calls (seccomp) may be told to answer ESRCH.
TEST(Observe, TakesNoSingleCallsEsrchForAbsence) {
  for (const std::string call : {"pidfd_open", "kill"}) {
    FakeSystem system;
    ProbeAt probe("/proc", system.table());
    Child held = Child::sleeper();
    observe(*probe, held.pid());
    system.refuse[call] = ESRCH;
    for (const auto wants : {kToken, kToken | kExact, kToken | kExact | kSuffices}) {
      EXPECT_EQ(observe(*probe, held.pid(), wants).presence, ROLLCALL_PRESENCE_PRESENT) << call;
    }
    system.refuse["openat"] = EACCES;
    const auto without_stat = observe(*probe, held.pid());
    EXPECT_EQ(without_stat.presence, ROLLCALL_PRESENCE_UNREADABLE) << call;
    EXPECT_EQ(without_stat.os_code, EACCES) << call;
  }
}

TEST(Observe, DoesNotGuessAThreadFromEinvalOrEnoent) {
  for (const int error : {EINVAL, ENOENT}) {
    FakeSystem system;
    ProbeAt probe("/proc", system.table());
    observe(*probe, ::getpid(), kExact);  // the kernel's kind is known
    system.refuse["pidfd_open"] = error;
    const auto seen = observe(*probe, ::getpid(), kToken | kExact);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT) << error;
    EXPECT_EQ(token_of(seen), start_token_of(::getpid())) << error;
  }
}

// A thread that calls exec takes over its leader's number; one reading may show the leader, dead.
TEST(Observe, ReadsTwiceWhatWouldMakeAProcessCountAsGone) {
  for (const auto& line : {stat_line(4242, {.state = 'X', .threads = 0, .exit_signal = -1}),
                           stat_line(4242, {.state = 'Z', .threads = 1})}) {
    FakeSystem system;
    FakeProc proc;
    proc.stat(4242, line);
    system.after_stat = [&] { proc.stat(4242, stat_line(4242)); };
    ProbeAt probe(proc.root(), system.table());
    const auto seen = observe(*probe, 4242);
    EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
    EXPECT_EQ(seen.flags & ROLLCALL_OBS_THREAD, 0U);
    EXPECT_EQ(token_of(seen), "78475");
  }
}

TEST(Observe, LeavesTheAgeOutWhenTheStartLiesInTheFuture) {
  FakeProc proc;
  proc.stat(4242, stat_line(4242, {.start = "9000000000000"}));
  ProbeAt probe(proc.root());
  const auto seen = observe(*probe, 4242, kToken | ROLLCALL_WANT_AGE);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(seen.flags & (ROLLCALL_OBS_AGE | ROLLCALL_OBS_START_TIME), 0U);
  EXPECT_EQ(token_of(seen), "9000000000000");
}

TEST(Observe, LeavesTheAgeOutWithoutAClock) {
  FakeSystem system;
  system.refuse["clock_gettime"] = EINVAL;
  ProbeAt probe("/proc", system.table());
  const auto seen = observe(*probe, ::getpid(), kToken | ROLLCALL_WANT_AGE);
  EXPECT_EQ(seen.flags & (ROLLCALL_OBS_AGE | ROLLCALL_OBS_START_TIME), 0U);
}

TEST(Observe, FillsEachRowOfABatchByTheHostsStrides) {
  struct WideAsk {
    rollcall_ask ask;
    char more[24];
  };
  struct WideObservation {
    rollcall_observation seen;
    char more[40];
  };
  FakeProc proc;
  proc.stat(10, stat_line(10, {.start = "100"})).stat(11, stat_line(11, {.start = "110"}));
  ProbeAt probe(proc.root());
  WideAsk asks[2] = {{{10, kToken, 0}, {}}, {{11, kToken, 0}, {}}};
  WideObservation seen[2] = {};
  const rollcall_observe_batch batch = {.struct_size = sizeof batch,
                                        .ask_stride = sizeof(WideAsk),
                                        .observation_stride = sizeof(WideObservation),
                                        .reserved = 0,
                                        .count = 2,
                                        .asks = &asks[0].ask,
                                        .observations = &seen[0].seen};
  ASSERT_TRUE(probe->observe(plugin::ObserveBatch(batch), unbounded()).ok());
  EXPECT_EQ(token_of(seen[0].seen), "100");
  EXPECT_EQ(token_of(seen[1].seen), "110");
}

}  // namespace
}  // namespace rollcall::testing
