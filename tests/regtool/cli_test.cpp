#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "regtool/options.hpp"

namespace rollcall::regtool {
namespace {

using Words = std::vector<std::string>;

template <class T>
T parsed(const Words& words) {
  const auto invocation = parse_command_line(words);
  EXPECT_TRUE(invocation) << invocation.error().text;
  EXPECT_TRUE(std::holds_alternative<T>(invocation->command));
  return std::get<T>(invocation->command);
}

void expect_usage(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += "'" + word + "' ";
  const auto invocation = parse_command_line(words);
  ASSERT_FALSE(invocation) << line;
  EXPECT_EQ(invocation.error().exit_code, kExitUsage) << line;
  EXPECT_EQ(invocation.error().code, "usage") << line;
}

TEST(CommandLine, TakesGlobalOptionsBeforeAndAfterTheCommand) {
  for (const Words& words : {Words{"--home", "/h", "--json", "-v", "-v", "ps"},
                             Words{"ps", "--home", "/h", "--json", "-vv"}}) {
    const auto invocation = parse_command_line(words);
    ASSERT_TRUE(invocation) << invocation.error().text;
    EXPECT_EQ(invocation->global.home, "/h");
    EXPECT_TRUE(invocation->global.json);
    EXPECT_EQ(invocation->global.verbose, 2);
  }
}

TEST(CommandLine, RefusesUnknownWords) {
  expect_usage({});
  expect_usage({"list"});
  expect_usage({"ps", "--nonsense"});
  expect_usage({"ps", "extra"});
  expect_usage({"verify"});
  expect_usage({"verify", "a-session", "another"});
  expect_usage({"--home", "/a", "--user", "b", "ps"});
}

TEST(CommandLine, TakesNoWordThatBeginsWithASlashForAnOption) {
  expect_usage({"ps", "/json"});
  expect_usage({"/home:x", "ps"});
  expect_usage({"ps", "/home:x"});
  EXPECT_EQ(parsed<SentinelCheckCommand>({"sentinel", "check", "/json"}).file, "/json");
}

TEST(CommandLine, RefusesIdsThatArePathsOrOptions) {
  for (const char* command : {"verify", "show", "stop", "kill", "wait", "forget"}) {
    for (const std::string& id :
         {std::string("../x"), std::string("/tmp/x"), std::string("a/b"), std::string("a\\b"),
          std::string(""), std::string("."), std::string(".."), std::string("-rf"),
          std::string(300, 'a'), std::string("x.json"), std::string("127.0.0.1:80")}) {
      expect_usage({command, id});
      expect_usage({command, "--", id});
    }
  }
  expect_usage({"prune", "--undo", "../x"});
}

TEST(CommandLine, TakesASessionNamedLikeACommand) {
  EXPECT_EQ(parsed<VerifyOptions>({"verify", "ps"}).session.text, "ps");
  EXPECT_EQ(parsed<ShowOptions>({"show", "run"}).session.text, "run");
}

TEST(CommandLine, TakesExactlyTheDocumentedSignals) {
  EXPECT_EQ(parsed<KillCommand>({"kill", "s1"}).signal, Signal::kKill);
  EXPECT_EQ(parsed<KillCommand>({"kill", "s1", "--signal", "USR1"}).signal, Signal::kUsr1);
  EXPECT_EQ(parsed<KillCommand>({"kill", "s1", "--signal=TERM"}).signal, Signal::kTerm);
  for (const char* signal : {"0", "9", "SIGFOO", "65", "-9", "term", "SIGTERM", "SIGTERM ", "TERM ",
                             "", "Kill", "PIPE"}) {
    expect_usage({"kill", "s1", "--signal", signal});
  }
  expect_usage({"kill", "s1", "-9"});
}

TEST(CommandLine, ReadsNumbersStrictly) {
  EXPECT_EQ(parsed<StopCommand>({"stop", "s1", "--after", "010", "--total", "0"}).after_ms, 10);
  for (const char* number : {"-1", "1e3", "0x10", "", "NaN", "inf", "1.5", "99999999999"}) {
    expect_usage({"stop", "s1", "--total", number});
    expect_usage({"register", "--session", "a", "--pid", number});
  }
  expect_usage({"register", "--session", "a", "--pid", "0"});
  expect_usage({"register", "--session", "a", "--pid", "2147483648"});
  for (const char* time : {"NaN", "inf", "-1", "0", "1e300", "1e3", ""}) {
    expect_usage({"wait", "s1", "--timeout", time});
    expect_usage({"ps", "--timeout", time});
  }
}

TEST(CommandLine, PassesTheCommandOfRunOnWordForWord) {
  const auto run =
      parsed<RunCommand>({"--json", "run", "--name", "n", "--label", "a=1", "--label", "b=2", "--",
                          "sh", "-c", "exit 3", "--", "[a,b]", "--json", "", "--home", "-x"});
  EXPECT_EQ(run.command,
            (Words{"sh", "-c", "exit 3", "--", "[a,b]", "--json", "", "--home", "-x"}));
  EXPECT_EQ(run.name, "n");
  ASSERT_EQ(run.labels.size(), 2U);
  EXPECT_EQ(run.labels[1].key, "b");
}

TEST(CommandLine, TakesTheFirstWordThatIsNoOptionForTheCommandOfRun) {
  EXPECT_EQ(parsed<RunCommand>({"run", "sleep", "1"}).command, (Words{"sleep", "1"}));
  EXPECT_EQ(parsed<RunCommand>({"run", "sh", "-c", "x", "--", "--json"}).command,
            (Words{"sh", "-c", "x", "--", "--json"}));
  const auto run = parsed<RunCommand>({"run", "--name", "n", "-dl", "a=1", "-lb=2", "--session=s-1",
                                       "--version", "2", "--no-door", "ls", "--name"});
  EXPECT_EQ(run.command, (Words{"ls", "--name"}));
  EXPECT_EQ(run.name, "n");
  EXPECT_EQ(run.version, "2");
  EXPECT_EQ(run.session_id, "s-1");
  EXPECT_TRUE(run.detach);
  EXPECT_EQ(run.labels.size(), 2U);
  EXPECT_FALSE(asks_for_json({"run", "--nonsense", "ls", "--json"}));
}

TEST(CommandLine, ShowsTheCommandInTheUsageOfRun) {
  const auto help = parsed<HelpCommand>({"run", "--help"});
  EXPECT_NE(help.text.find(" [--] COMMAND [ARGUMENT...]\n"), std::string::npos) << help.text;
}

TEST(CommandLine, WantsACommandForRun) {
  expect_usage({"run"});
  expect_usage({"run", "--"});
  expect_usage({"run", "--", ""});
  expect_usage({"run", "--nonsense", "sleep", "1"});
  expect_usage({"run", "--auth", "--no-door", "--", "true"});
  expect_usage({"run", "--log", "f", "--", "true"});
  expect_usage({"run", "--session", "../x", "--", "true"});
  expect_usage({"run", "--label", "novalue", "--", "true"});
}

TEST(CommandLine, FindsRunBehindAnOptionWithTheValueRun) {
  EXPECT_EQ(parsed<RunCommand>({"--home", "ps", "run", "--", "true"}).command, Words{"true"});
  EXPECT_EQ(parsed<VerifyOptions>({"--home", "run", "verify", "--", "s1"}).session.text, "s1");
}

TEST(CommandLine, ChecksWhatPsIsAskedBeforeAnythingIsRead) {
  expect_usage({"ps", "--filter", "nonsense=1"});
  expect_usage({"ps", "--filter", "status=dead"});
  expect_usage({"ps", "--filter", "status"});
  expect_usage({"ps", "--sort", "nonsense"});
  expect_usage({"ps", "--format", "{nonsense}"});
  expect_usage({"ps", "--format", "{session"});
  expect_usage({"ps", "--format", "session,nonsense"});
  expect_usage({"ps", "--gone", "--filter", "name=a"});
  expect_usage({"ps", "--gone", "--sort", "pid"});
  expect_usage({"ps", "--gone", "--format", "session"});
  const auto ps = parsed<PsOptions>(
      {"ps", "--filter", "name=a", "-f", "label=k=v", "--sort", "-pid", "--format", "{session}"});
  ASSERT_EQ(ps.filters.size(), 2U);
  EXPECT_EQ(ps.filters[1].value, "k=v");
  EXPECT_EQ(ps.sort, "-pid");
}

TEST(CommandLine, ChecksTheIdOfRegister) {
  for (const char* id : {"../x", "a b", "a.", "CON", "nul.txt", "x.json", "x.control", ""}) {
    expect_usage({"register", "--session", id, "--pid", "1"});
  }
  expect_usage({"register", "--pid", "1"});
  expect_usage({"register", "--session", "a"});
  expect_usage({"register", "--session", "a", "--pid", "2", "--door-set", "path=/x"});
}

TEST(CommandLine, RefusesADoorThatCouldNeverAnswer) {
  const auto with = [](Words more) {
    Words words = {"register", "--session", "a", "--pid", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const char* kind : {"a2a", "http", "tcp"}) {
    expect_usage(with({"--door", kind}));
    EXPECT_EQ(parsed<RegisterCommand>(with({"--door", kind, "--url", "127.0.0.1:1"})).door, kind);
  }
  const Words http = {"--door", "http", "--url", "127.0.0.1:1", "--door-set"};
  for (const char* setting : {"pointer=me", "pointer=/a~2", "pointer=/a~", "path=status", "path=",
                              "path=/a b", "path=/a#b", "ponter=/a", "legacy_card_path=1"}) {
    Words words = http;
    words.emplace_back(setting);
    expect_usage(with(words));
  }
  for (const char* setting : {"pointer=/a~0~1", "pointer=", "path=/a?b=c"}) {
    Words words = http;
    words.emplace_back(setting);
    EXPECT_EQ(parsed<RegisterCommand>(with(words)).door_settings.size(), 1U) << setting;
  }
  expect_usage(with({"--door", "http", "--url", "127.0.0.1:1", "--door-set", "path=/a",
                     "--door-set", "path=/b"}));
  expect_usage(with({"--door", "a2a", "--url", "127.0.0.1:1", "--door-set", "legacy_card_path=y"}));
  expect_usage(with({"--door", "tcp", "--url", "127.0.0.1:1", "--door-set", "path=/a"}));
  expect_usage(with({"--door", "unix"}));
  expect_usage(with({"--door", "unix", "--door-set", "path=run/db.sock"}));
  expect_usage(with({"--door", "unix", "--door-set", "path=/" + std::string(107, 'a')}));
  expect_usage(with({"--door", "unix", "--door-set", "path=/s", "--url", "127.0.0.1:1"}));
  EXPECT_EQ(parsed<RegisterCommand>(with({"--door", "unix", "--door-set", "path=/s"})).door,
            "unix");
  EXPECT_EQ(parsed<RegisterCommand>(with({"--door", "org.example.x", "--door-set", "any=1"})).door,
            "org.example.x");
}

TEST(CommandLine, NamesTheCommandThatWasMeant) {
  const auto near = parse_command_line({"--json", "pss"});
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().exit_code, kExitUsage);
  EXPECT_EQ(near.error().text.rfind("unknown command pss; did you mean ps?", 0), 0U)
      << near.error().text;
  const auto far = parse_command_line({"enumerate"});
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().text.find("did you mean"), std::string::npos) << far.error().text;
  EXPECT_NE(far.error().text.find("verify"), std::string::npos) << far.error().text;
}

TEST(CommandLine, HelpIsACommandToo) {
  EXPECT_EQ(parsed<HelpCommand>({"help"}).text, parsed<HelpCommand>({"--help"}).text);
  EXPECT_EQ(parsed<HelpCommand>({"help", "ps"}).text, parsed<HelpCommand>({"ps", "--help"}).text);
  EXPECT_EQ(parsed<HelpCommand>({"help", "plugins", "check"}).text,
            parsed<HelpCommand>({"plugins", "check", "--help"}).text);
  expect_usage({"help", "nonsense"});
  EXPECT_EQ(parsed<VerifyOptions>({"verify", "help"}).session.text, "help");
}

TEST(CommandLine, TheTimesOfStopHaveUnits) {
  EXPECT_EQ(parsed<StopCommand>({"stop", "s1", "--total", "10ms"}).total_ms, 10);
  EXPECT_EQ(parsed<StopCommand>({"stop", "s1", "--total", "1.5s"}).total_ms, 1500);
  EXPECT_EQ(parsed<StopCommand>({"stop", "s1", "--after", "250"}).after_ms, 250);
  EXPECT_EQ(parsed<KillCommand>({"kill", "s1", "--total", "2m"}).total_ms, 120'000);
  expect_usage({"stop", "s1", "--total", "25h"});
  expect_usage({"stop", "s1", "--total", "10 ms"});
}

TEST(CommandLine, SaysWhichSignalsThereAre) {
  const auto failed = parse_command_line({"kill", "s1", "--signal", "SIGTERM"});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text.find("one of TERM INT HUP"), std::string::npos)
      << failed.error().text;
}

TEST(CommandLine, KeepsTheVersionsOfProgramAndSessionApart) {
  EXPECT_TRUE(std::holds_alternative<VersionCommand>(parse_command_line({"--version"})->command));
  EXPECT_EQ(parsed<RunCommand>({"run", "--version", "1.2", "--", "true"}).version, "1.2");
}

TEST(CommandLine, BeginsHelpWithExamples) {
  for (const Words& words :
       {Words{"--help"}, Words{"ps", "--help"}, Words{"show", "-h"}, Words{"verify", "--help"},
        Words{"run", "--help"}, Words{"register", "--help"}, Words{"forget", "--help"},
        Words{"stop", "--help"}, Words{"kill", "--help"}, Words{"wait", "--help"},
        Words{"prune", "--help"}, Words{"plugins", "--help"}, Words{"plugins", "check", "--help"},
        Words{"plugins", "list", "--help"}, Words{"doctor", "--help"}}) {
    const auto help = parsed<HelpCommand>(words);
    EXPECT_EQ(help.text.rfind("Examples:\n", 0), 0U) << words.front() << ": " << help.text;
    EXPECT_NE(help.text.find("Usage: regtool"), std::string::npos) << words.front();
  }
}

TEST(AsksForJson, LooksBeforeTheCommandOfRunOnly) {
  EXPECT_TRUE(asks_for_json({"verify", "../x", "--json"}));
  EXPECT_FALSE(asks_for_json({"run", "--", "x", "--json"}));
}

}  // namespace
}  // namespace rollcall::regtool
