#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "regtool/regtool_windows_fixture.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::regtool {
namespace {

class Run : public RegtoolTest {};

std::string without_returns(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

TEST_F(Run, PassesTheExitCodeOnWhole) {
  for (const std::uint32_t code : {0U, 7U, 125U, 259U, 300U, 0xC000013AU, 0xFFFFFFFFU}) {
    EXPECT_EQ(run(acting({}, {"exit", std::to_string(code)})).code, code);
  }
}

TEST_F(Run, GivesTheCodesOfEnvForWhatCannotBeRun) {
  const Ran none = run({"run", "--json", "--", "no-such-command-here"});
  EXPECT_EQ(none.code, 127U);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "no_command");
  EXPECT_EQ(run({"run", "--", "C:\\no\\such\\file.exe"}).code, 127U);
  EXPECT_EQ(run({"run", "--", home_ + "\\.."}).code, 126U);
  const auto text = dir_.write("text.exe", "this is no program\n");
  const Ran bad = run({"run", "--session", "s-bad", "--json", "--", testing::utf8(text)});
  EXPECT_EQ(bad.code, 126U) << bad.err;
  EXPECT_EQ(string_at(parse_json(bad.out), "error.code"), "not_runnable");
  EXPECT_FALSE(has_record("s-bad"));
  EXPECT_EQ(run(acting({"--workdir", "C:\\no\\such\\folder"}, {"exit", "0"})).code, 125U);
}

TEST_F(Run, GivesTheCommandTheVeryWordsThatItWasGiven) {
  const std::vector<std::string> words = {"plain",
                                          "a b",
                                          "",
                                          R"(a\b)",
                                          R"(a b\)",
                                          R"(a b\\)",
                                          R"(say "x")",
                                          R"(\")",
                                          R"(\\"\\)",
                                          "\"",
                                          "%PATH%",
                                          "^&|<>",
                                          "*.*",
                                          "\tx\n",
                                          "na\xC3\xAFve",
                                          "\xF0\x9F\x98\x80",
                                          "--help",
                                          "-x=y"};
  std::vector<std::string> all = {"args"};
  std::string expected;
  for (const std::string& word : words) {
    all.push_back(word);
    expected += "[" + word + "]\n";
  }
  EXPECT_EQ(run(acting({}, all)).out, expected);
}

TEST_F(Run, FindsACommandByPathAndExtension) {
  std::filesystem::create_directories(dir_ / "bin");
  std::filesystem::copy_file(Child::actor(), dir_ / "bin/a-command.exe");
  set("PATH", ";C:\\no\\such;\"" + testing::utf8(dir_ / "bin") + "\"");
  EXPECT_EQ(run({"run", "--", "a-command", "exit", "9"}).code, 9U);
  EXPECT_EQ(run({"run", "--", "A-COMMAND.EXE", "exit", "9"}).code, 9U);
  EXPECT_EQ(run({"run", "--", testing::utf8(dir_ / "bin/a-command"), "exit", "9"}).code, 9U);
}

TEST_F(Run, NeverTakesACommandFromTheWorkingDirectory) {
  std::filesystem::create_directories(dir_ / "here");
  std::filesystem::copy_file(Child::actor(), dir_ / "here/planted.exe");
  const std::string here = testing::utf8(dir_ / "here");
  EXPECT_EQ(run({"run", "--workdir", here, "--", "planted", "exit", "9"}).code, 127U);
  EXPECT_EQ(run({"run", "--workdir", here, "--", ".\\planted", "exit", "9"}).code, 9U);
}

TEST_F(Run, RunsABatchFileByTheShell) {
  const std::string script =
      testing::utf8(dir_.write("a script.cmd", "@echo off\r\necho [%1][%2]\r\nexit 11\r\n"));
  const Ran ran = run({"run", "--", script, "a & b", "c"});
  EXPECT_EQ(ran.code, 11U) << ran.err;
  EXPECT_EQ(without_returns(ran.out), "[\"a & b\"][\"c\"]\n");
}

TEST_F(Run, RefusesABatchFilesWordsThatTheShellWouldTakeApart) {
  const std::string script = testing::utf8(dir_.write("x.cmd", "@exit 0\r\n"));
  for (const char* word : {"%PATH%", "\"&calc", "a\nb"}) {
    const Ran ran = run({"run", "--session", "s-batch", "--json", "--", script, word});
    EXPECT_EQ(ran.code, 126U) << word;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "not_runnable");
    EXPECT_NE(ran.err.find("batch file"), std::string::npos) << ran.err;
    EXPECT_FALSE(has_record("s-batch"));
  }
}

TEST_F(Run, PassesInputAndOutputThroughAsTheyAre) {
  const std::string bytes("a\r\nb\nc\x1A\0\xFF", 9);
  const Ran ran = run(acting({}, {"cat"}), bytes);
  EXPECT_EQ(ran.out, bytes);
  EXPECT_EQ(ran.err, "to-err\n");
}

TEST_F(Run, LetsTheCommandFindItsOwnSession) {
  set("ROLLCALL_SESSION_ID", "s-outer");
  const Ran ran = run(acting({"--session", "s-1"}, {"env"}));
  EXPECT_NE(ran.out.find("\nROLLCALL_SESSION_ID=s-1\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("s-outer"), std::string::npos);
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Run, GivesAnUnrecordedCommandNoSession) {
  dir_.write("home", "a file where the home should be");
  set("ROLLCALL_SESSION_ID", "s-outer");
  const Ran ran = run(acting({"--session", "s-1"}, {"env"}));
  EXPECT_EQ(ran.code, 0U);
  EXPECT_EQ(ran.out.find("ROLLCALL_SESSION_ID"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("the command runs unrecorded"), std::string::npos) << ran.err;
}

TEST_F(Run, NeverHandsTheTokenToTheCommand) {
  auto live = session("s-1", {"env", "stay"}, {"--auth"});
  const std::string token = string_at(read_record("s-1"), "door_token");
  const Ran ran = finish(std::move(live));
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ((first_line_ + ran.out).find(token), std::string::npos);
}

TEST_F(Run, ProvesAnAuthenticatedDoorLive) {
  auto live = session("s-1", {"sleep"}, {"--auth"});
  const Ran ran = run({"verify", "s-1", "--explain"});
  EXPECT_EQ(ran.code, 0U) << ran.out << ran.err;
}

TEST_F(Run, LeavesNoHandleButTheStreamsToTheCommand) {
  SECURITY_ATTRIBUTES inheritable{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
  const core::Handle event(::CreateEventW(&inheritable, TRUE, FALSE, nullptr));
  const std::string number = std::to_string(::HandleToLong(event.get()));
  // Given to regtool itself: what it was given is not handed on.
  (void)finish(start(acting({}, {"set", number}), {event.get()}));
  EXPECT_EQ(::WaitForSingleObject(event.get(), 0), static_cast<DWORD>(WAIT_TIMEOUT));
  Child direct = Child::exec(Child::actor(), {"actor", "set", number}, {}, {event.get()});
  (void)direct.wait();
  EXPECT_EQ(::WaitForSingleObject(event.get(), 0), static_cast<DWORD>(WAIT_OBJECT_0))
      << "the test's own proof that a handle can be handed on";
}

TEST_F(Run, EndsTheCommandAndWhatItStartedWhenItIsKilled) {
  auto live = session("s-1", {"spawn", "stay"});
  const std::int64_t grandchild = std::atoll(first_line_.c_str());
  const std::int64_t command = command_pid("s-1");
  ASSERT_TRUE(testing::runs(command));
  ASSERT_TRUE(testing::runs(grandchild));
  live.child.kill();
  EXPECT_TRUE(wait_until([&] { return !testing::runs(command); }));
  EXPECT_TRUE(wait_until([&] { return !testing::runs(grandchild); }));
}

TEST_F(Run, LeavesAloneWhatTheCommandLeftBehind) {
  auto live = start(acting({}, {"spawn", "leave"}));
  const auto left = static_cast<DWORD>(std::atoll(read_line(live.out).c_str()));
  const core::Handle process(::OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE, FALSE, left));
  ASSERT_TRUE(process.valid());
  // Its streams may outlive it here: to the end of the process, not of its output.
  EXPECT_EQ(live.child.wait(), 0U);
  EXPECT_EQ(::WaitForSingleObject(process.get(), 500), static_cast<DWORD>(WAIT_TIMEOUT));
  ::TerminateProcess(process.get(), 1);
}

TEST_F(Run, IsAskedToStopByTheEventOfItsRecordedProcess) {
  auto live = session("s-1", {"listen", "1"});
  const auto record = read_record("s-1");
  EXPECT_EQ(number_at(record, "pid"), live.child.pid());
  const auto name =
      core::widen(plugin::stop_event_name(live.child.pid(), string_at(record, "process_start")));
  const core::Handle event(::OpenEventW(EVENT_MODIFY_STATE, FALSE, name->c_str()));
  ASSERT_TRUE(event.valid()) << ::GetLastError();
  ::SetEvent(event.get());
  EXPECT_EQ(read_line(live.out), "asked\n");
  EXPECT_EQ(finish(std::move(live)).code, 3U);
  EXPECT_FALSE(has_record("s-1"));
}

TEST_F(Run, PassesEveryAskingOn) {
  auto live = session("s-1", {"listen", "2"});
  EXPECT_EQ(run({"kill", "s-1", "--signal", "TERM"}).code, 0U);
  EXPECT_EQ(read_line(live.out), "asked\n");
  EXPECT_EQ(run({"kill", "s-1", "--signal", "TERM"}).code, 0U);
  EXPECT_EQ(read_line(live.out), "asked\n");
  EXPECT_EQ(finish(std::move(live)).code, 3U);
}

TEST_F(Run, ClosesTheWindowsOfACommandThatListensToNoEvent) {
  auto live = start(acting({"--session", "s-1"}, {"window"}));
  if (read_line(live.out) != "ready\n") GTEST_SKIP() << "no window can be had here";
  EXPECT_EQ(run({"stop", "s-1"}).code, 0U);
  EXPECT_EQ(finish(std::move(live)).code, 4U);
}

TEST_F(Run, BreaksTheConsoleGroupOfACommandThatListensToNoEvent) {
  auto live = start(acting({"--session", "s-1"}, {"console"}));
  if (read_line(live.out) != "ready\n") GTEST_SKIP() << "no console can be had here";
  const Ran ran = run({"stop", "s-1"});
  if (ran.code != 0 && testing::is_wine()) {
    GTEST_SKIP() << "Wine without a screen sends no console events";
  }
  EXPECT_EQ(ran.code, 0U) << ran.out << ran.err;
  EXPECT_EQ(finish(std::move(live)).code, 5U);
}

TEST_F(Run, DetachesAndSaysItsSession) {
  const Ran ran = run(acting({"--detach", "--no-door", "--json", "--session", "s-1"}, {"sleep"}));
  ASSERT_EQ(ran.code, 0U) << ran.err;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.run/1");
  EXPECT_EQ(string_at(json, "session_id"), "s-1");
  EXPECT_TRUE(testing::runs(number_at(json, "pid")));
  EXPECT_TRUE(testing::runs(number_at(json, "command_pid")));
  EXPECT_EQ(number_at(json, "command_pid"), command_pid("s-1"));
  EXPECT_TRUE(at(read_record("s-1"), "outlives_launcher").IsTrue());
  EXPECT_EQ(run({"verify", "s-1"}).code, 0U);
  EXPECT_EQ(run({"kill", "s-1"}).code, 0U);
  EXPECT_TRUE(wait_until([&] { return !testing::runs(number_at(json, "command_pid")); }));
}

TEST_F(Run, LogsWhatADetachedCommandSaysAndHidesThePipe) {
  const std::string log = testing::utf8(dir_ / "log");
  EXPECT_EQ(run(acting({"--detach", "--log", log}, {"env"})).code, 0U);
  ASSERT_TRUE(wait_until(
      [&] { return testing::slurp(log).find("ROLLCALL_SESSION_ID=") != std::string::npos; }));
  EXPECT_EQ(testing::slurp(log).find("ROLLCALL_DETACHED_PIPE"), std::string::npos);
}

TEST_F(Run, TellsTheFailureOfADetachedCommand) {
  const Ran none = run({"run", "--detach", "--json", "--", "no-such-command-here"});
  EXPECT_EQ(none.code, 127U);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "no_command");
  const Ran log = run(acting({"--detach", "--log", home_ + "\\no\\such\\log"}, {"sleep"}));
  EXPECT_EQ(log.code, 125U);
}

TEST_F(Run, RefusesAnIdThatIsTaken) {
  auto live = session("s-1", {"sleep"});
  const Ran ran = run(acting({"--session", "s-1", "--json"}, {"exit", "0"}));
  EXPECT_EQ(ran.code, 125U);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "already_registered");
}

}  // namespace
}  // namespace rollcall::regtool
