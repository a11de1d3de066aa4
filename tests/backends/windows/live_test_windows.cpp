// Readings, endings and awaits of real processes on this Windows, or under Wine.
#include <winsock2.h>
// After winsock2.h:
#include <ws2tcpip.h>
// After ws2tcpip.h:
#include <windows.h>
// After windows.h:
#include <gtest/gtest.h>
#include <shellapi.h>

#include <chrono>
#include <string>
#include <thread>

#include "backends/windows/control.hpp"
#include "backends/windows/decode.hpp"
#include "backends/windows/reading.hpp"
#include "backends/windows/system_windows.hpp"
#include "companion_windows.hpp"
#include "fake_system.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::testing {
namespace {

using namespace std::string_literals;
using windows_backend::Control;
using windows_backend::Probe;
using windows_backend::windows_system;

class Live : public ::testing::Test {
 protected:
  Probe probe{windows_system()};
  Control control{windows_system()};

  // The token of a process, as GetProcessTimes gives it.
  static std::string token_apart(HANDLE process) {
    FILETIME created = {};
    FILETIME unused = {};
    ::GetProcessTimes(process, &created, &unused, &unused, &unused);
    return std::to_string((std::uint64_t{created.dwHighDateTime} << 32) | created.dwLowDateTime);
  }

  static plugin::Judge judge_of(std::string& token) {
    const rollcall_judge raw = {
        sizeof raw, ROLLCALL_WANT_START_TOKEN, &token,
        [](void* context, const rollcall_observation* seen) -> std::uint32_t {
          if (seen->presence == ROLLCALL_PRESENCE_UNREADABLE) return ROLLCALL_JUDGE_UNVERIFIED;
          if (seen->presence != ROLLCALL_PRESENCE_PRESENT) return ROLLCALL_JUDGE_GONE;
          const bool same = token_of(*seen) == *static_cast<std::string*>(context);
          return same ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
        }};
    return plugin::Judge(&raw);
  }
};

TEST_F(Live, ThisProcessHasOneIdentity) {
  const auto first = observe(probe, ::GetCurrentProcessId());
  EXPECT_EQ(first.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(first), token_apart(::GetCurrentProcess()));
  EXPECT_EQ(token_of(observe(probe, ::GetCurrentProcessId())), token_of(first));
}

TEST_F(Live, AChildHasTheTokenThatItsHandleTells) {
  const Companion child;
  const auto seen = observe(probe, child.pid());
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_PRESENT);
  EXPECT_EQ(token_of(seen), token_apart(child.process()));
}

TEST_F(Live, AChildThatExitedWith259IsExitedThenAbsent) {
  Companion child;
  child.tell(259);
  ASSERT_TRUE(child.ended());
  DWORD code = 0;
  ::GetExitCodeProcess(child.process(), &code);
  ASSERT_EQ(code, 259U);  // as of one that runs
  EXPECT_EQ(observe(probe, child.pid()).presence, ROLLCALL_PRESENCE_EXITED);
  child.let_go();
  // The system gives the number up when it likes.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (observe(probe, child.pid()).presence != ROLLCALL_PRESENCE_ABSENT) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(Live, ANumberThatIsRoundedToAProcessIsAbsent) {
  const Companion child;
  for (const std::int64_t pid : {child.pid() + 1, child.pid() + 2, child.pid() + 3}) {
    EXPECT_EQ(observe(probe, pid).presence, ROLLCALL_PRESENCE_ABSENT) << pid;
  }
}

// The whole of a process that may not be waited on, by a handle that may not.
TEST_F(Live, AHandleWithoutSynchronizeTellsNothing) {
  const Companion child;
  windows_backend::Pin pin(windows_system());
  windows_backend::open_pin(windows_system(), child.pid(), windows_backend::kMayQuery, pin);
  ASSERT_TRUE(pin.handle.open());
  rollcall_observation seen = {};
  windows_backend::observe_pinned(windows_system(), pin, {.pid = child.pid()}, seen);
  EXPECT_EQ(seen.presence, ROLLCALL_PRESENCE_UNREADABLE);
}

TEST_F(Live, BootAndMachineAreTold) {
  rollcall_whoami me = {};
  ASSERT_TRUE(probe.whoami(me, unbounded()).ok());
  EXPECT_EQ(me.pid, ::GetCurrentProcessId());
  const std::string boot(me.boot_id, me.boot_id_size);
  EXPECT_EQ(boot.find_first_not_of("0123456789"), std::string::npos);
  EXPECT_EQ(std::stoll(boot) % 60, 0);
  EXPECT_GT(me.machine_id_size, 0U);
  EXPECT_GT(me.nodename_size, 0U);
}

// What another process makes of a command line is what the splitting makes of it.
TEST_F(Live, CommandLinesAreSplitAsTheSystemSplitsThem) {
  const wchar_t lone[] = {L'a', L' ', 0xD83D, L' ', L'b', 0};
  for (const std::wstring& line :
       {LR"(a.exe b  c	d)"s, LR"("C:\a b\x.exe" "c d" e)"s, LR"(a.exe a\\\"b c d)"s,
        LR"(a.exe a\\\\"b c" d e)"s, LR"(a.exe "" x)"s, LR"(a.exe "a""b" c)"s,
        LR"(a.exe """a""" b)"s, LR"(a.exe x\)"s, LR"(a.exe "open end)"s, LR"("a.exe"b c)"s,
        LR"( a.exe)"s, LR"(a.exe "\\")"s, LR"(a """" b)"s, LR"(a "b"""c d)"s, std::wstring(lone)}) {
    int count = 0;
    wchar_t** words = ::CommandLineToArgvW(line.c_str(), &count);
    ASSERT_NE(words, nullptr);
    std::string wanted;
    for (int i = 0; i < count; ++i) {
      wanted += windows_backend::to_utf8(reinterpret_cast<const char16_t*>(words[i])) + '\0';
    }
    ::LocalFree(words);
    EXPECT_EQ(windows_backend::split_command_line(reinterpret_cast<const char16_t*>(line.c_str())),
              wanted)
        << windows_backend::to_utf8(reinterpret_cast<const char16_t*>(line.c_str()));
  }
}

TEST_F(Live, OddTextOfAChildIsReadWhole) {
  const wchar_t lone[] = {0xD83D, 0};  // half of a pair
  const CompanionStart odd{
      .mode = L"idle",
      .command_line = L"companion \"a b\" \u00E9\u20AC "s + lone,
      .environment = L"ROLLCALL_A=x=y z\0ROLLCALL_EMPTY=\0ROLLCALL_ODD="s + lone + L'\0'};
  const Companion child(odd);
  EXPECT_EQ(read(probe, child.pid(), ROLLCALL_READ_COMMAND).bytes,
            "companion\0a b\0\xC3\xA9\xE2\x82\xAC\0\xED\xA0\xBD\0"s);
  const std::string environment = read(probe, child.pid(), ROLLCALL_READ_ENVIRONMENT).bytes;
  for (const std::string& entry :
       {"ROLLCALL_A=x=y z\0"s, "ROLLCALL_EMPTY=\0"s, "ROLLCALL_ODD=\xED\xA0\xBD\0"s}) {
    EXPECT_NE(environment.find(entry), std::string::npos) << environment;
  }
}

TEST_F(Live, ThisProcessListsItselfAndItsChild) {
  const Companion child;
  const auto all = list(probe);
  EXPECT_EQ(all.count(::GetCurrentProcessId()), 1U);
  ASSERT_EQ(all.count(child.pid()), 1U);
  EXPECT_EQ(all.at(child.pid()), ::GetCurrentProcessId());
  EXPECT_EQ(read(probe, child.pid(), ROLLCALL_READ_NAME).bytes, "rollcall_companion.exe");
}

TEST_F(Live, KillEndsTheJudgedChildAndAwaitNamesItsCode) {
  const Companion child;
  std::string token = token_apart(child.process());
  rollcall_signal_outcome sent = {};
  ASSERT_TRUE(
      control.signal(child.pid(), ROLLCALL_SIGNAL_KILL, judge_of(token), sent, unbounded()).ok());
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_SENT);
  rollcall_await_outcome awaited = {};
  ASSERT_TRUE(
      control.await_exit(child.pid(), judge_of(token), awaited, bounded(std::chrono::seconds(20)))
          .ok());
  EXPECT_EQ(awaited.outcome, ROLLCALL_AWAIT_ENDED);
  EXPECT_EQ(std::string(awaited.reason, awaited.reason_size),
            "pid " + std::to_string(child.pid()) + " has exited with code 137");
}

TEST_F(Live, KillLeavesAChildAloneThatIsNotTheRecordedOne) {
  const Companion child;
  std::string token = "1";
  rollcall_signal_outcome sent = {};
  ASSERT_TRUE(
      control.signal(child.pid(), ROLLCALL_SIGNAL_KILL, judge_of(token), sent, unbounded()).ok());
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_ALREADY_GONE);
  EXPECT_FALSE(child.ended(0));
}

TEST_F(Live, TermSetsTheStopEventOfAChild) {
  const Companion child;
  std::string token = token_apart(child.process());
  rollcall_signal_outcome sent = {};
  ASSERT_TRUE(
      control.signal(child.pid(), ROLLCALL_SIGNAL_TERM, judge_of(token), sent, unbounded()).ok());
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_SENT);
  ASSERT_TRUE(child.ended());
  DWORD code = 99;
  ::GetExitCodeProcess(child.process(), &code);
  EXPECT_EQ(code, 0U);
}

TEST_F(Live, TermIsRefusedWhereThereIsNothingToAskBy) {
  const Companion child({.mode = L"idle"});
  std::string token = token_apart(child.process());
  rollcall_signal_outcome sent = {};
  ASSERT_TRUE(
      control.signal(child.pid(), ROLLCALL_SIGNAL_TERM, judge_of(token), sent, unbounded()).ok());
  EXPECT_EQ(sent.outcome, ROLLCALL_SIGNAL_REFUSED);
  EXPECT_GT(sent.reason_size, 0U);
  EXPECT_FALSE(child.ended(0));
}

// A reading of a thousand children's worth: this one, again and again, leaves no handle behind.
TEST_F(Live, AThousandReadingsLeaveNoHandle) {
  const Companion child;
  observe(probe, child.pid());
  DWORD before = 0;
  DWORD after = 0;
  if (::GetProcessHandleCount(::GetCurrentProcess(), &before) == 0 || before == 0) {
    GTEST_SKIP() << "handles cannot be counted here (Wine gives 0)";
  }
  for (int i = 0; i < 1000; ++i) observe(probe, child.pid());
  ::GetProcessHandleCount(::GetCurrentProcess(), &after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace rollcall::testing
