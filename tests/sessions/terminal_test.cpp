#include "rollcall/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rollcall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

std::vector<std::string> shown(const Environment& environment,
                               const std::vector<TerminalKind>& kinds = {}) {
  std::vector<std::string> out;
  for (const Terminal& terminal : find_terminals(environment, kinds)) {
    out.push_back(terminal.kind + " " + terminal.id + " " + terminal.name_space);
  }
  return out;
}

Environment with(std::vector<Variable> variables) { return {std::move(variables), 0, 0}; }

TEST(FindTerminals, KnowsTheUsualPrograms) {
  EXPECT_THAT(shown(with({{"TMUX", "/tmp/tmux-0/default,812,0"}, {"TMUX_PANE", "%3"}})),
              ElementsAre("tmux %3 /tmp/tmux-0/default"));
  EXPECT_THAT(shown(with({{"STY", "811.pts-0.host"}})), ElementsAre("screen 811.pts-0.host "));
  EXPECT_THAT(shown(with({{"ZELLIJ_SESSION_NAME", "z"}, {"ZELLIJ_PANE_ID", "0"}})),
              ElementsAre("zellij 0 z"));
  EXPECT_THAT(shown(with({{"WEZTERM_PANE", "1"}})), ElementsAre("wezterm 1 "));
  EXPECT_THAT(shown(with({{"KITTY_WINDOW_ID", "1"}, {"KITTY_LISTEN_ON", "unix:/tmp/k"}})),
              ElementsAre("kitty 1 unix:/tmp/k"));
  EXPECT_THAT(shown(with({{"TERM", "xterm"}})), IsEmpty());
}

TEST(FindTerminals, NamesTheInnermostFirst) {
  EXPECT_THAT(shown(with({{"KITTY_WINDOW_ID", "1"}, {"TMUX_PANE", "%3"}, {"TMUX", "/t"}})),
              ElementsAre("tmux %3 /t", "kitty 1 "));
}

TEST(FindTerminals, TakesConfiguredVariablesBeforeItsOwn) {
  const auto kind = parse_terminal_kind("hyoui=HYOUI_SESSION_ID:HYOUI_NAMESPACE");
  ASSERT_TRUE(kind);
  EXPECT_THAT(shown(with({{"TMUX_PANE", "%3"}, {"HYOUI_SESSION_ID", "s"}, {"HYOUI_NAMESPACE", ""}}),
                    {*kind}),
              ElementsAre("hyoui s ", "tmux %3 "));
}

TEST(FindTerminals, TakesAnEmptyIdForNone) {
  EXPECT_THAT(shown(with({{"TMUX_PANE", ""}, {"TMUX", "/t,1,0"}})), IsEmpty());
}

TEST(ParseTerminalKind, RefusesWhatIsNone) {
  for (const char* text : {"", "x", "=A", "x=", "x=A:", "x=A B", "-x=A", "x=A:B:C", "x y=A"}) {
    EXPECT_FALSE(parse_terminal_kind(text)) << text;
  }
}

TEST(TypingCommand, OfTmuxGoesToThePaneOnItsSocket) {
  EXPECT_EQ(
      typing_command({"tmux", "%3", "/t"}, {"make", "Enter"}, default_typing_template("tmux", {}))
          .value(),
      (Words{"tmux", "-S", "/t", "send-keys", "-t", "%3", "--", "make", "Enter"}));
}

TEST(TypingCommand, LeavesTheNamespaceOutWithItsOption) {
  EXPECT_EQ(typing_command({"tmux", "%3", ""}, {"x"}, default_typing_template("tmux", {})).value(),
            (Words{"tmux", "send-keys", "-t", "%3", "--", "x"}));
  const std::vector<TerminalKind> kinds = {{"hyoui", "H", "N"}};
  const auto defaults = default_typing_template("hyoui", kinds);
  EXPECT_EQ(typing_command({"hyoui", "7", ""}, {"a", "b"}, defaults).value(),
            (Words{"hyoui", "input", "7", "a", "b"}));
  EXPECT_EQ(typing_command({"hyoui", "7", "n"}, {"a"}, defaults).value(),
            (Words{"hyoui", "input", "--namespace", "n", "7", "a"}));
  EXPECT_EQ(typing_command({"w", "7", ""}, {"a"}, {"w", "--to={namespace}/{id}", "{id}", "{keys}"})
                .value(),
            (Words{"w", "7", "a"}));
}

TEST(TypingCommand, LetsNoKeyEndACommandOfTmux) {
  EXPECT_EQ(typing_command({"tmux", "%3", ""}, {"x;", ";", "a;b", "y\\;"},
                           default_typing_template("tmux", {}))
                .value(),
            (Words{"tmux", "send-keys", "-t", "%3", "--", "x\\;", "\\;", "a;b", "y\\\\;"}));
}

TEST(SocketPaths, AreWhatACommandIsGivenAsAnAddress) {
  struct Case {
    Terminal terminal;
    Words command;
    Words paths;
  };
  const Words with_both = {"p", "{namespace}", "{id}", "{keys}"};
  const Case cases[] = {
      {{"tmux", "%3", "/t/s"}, default_typing_template("tmux", {}), {"/t/s"}},
      {{"tmux", "%3", "s"}, with_both, {"s"}},
      {{"tmux", "%3", "s"}, {"tmux", "-L", "own", "{id}", "{keys}"}, {}},
      {{"tmux", "%3", ""}, {"tmux", "-L", "own", "{id}", "{keys}"}, {}},
      {{"kitty", "1", "unix:/t/k"}, {"kit", "--to={namespace}", "{id}", "{keys}"}, {"/t/k"}},
      {{"kitty", "1", "unix:@k"}, with_both, {"@k"}},
      {{"kitty", "1", "tcp:localhost:1"}, with_both, {"tcp:localhost:1"}},
      {{"kitty", "1", ""}, with_both, {}},
      {{"wezterm", "1", "/t/w"}, with_both, {"/t/w"}},
      {{"zellij", "1", "work"}, with_both, {}},
      {{"zellij", "1", "../evil"}, with_both, {"../evil"}},
      {{"screen", "81.pts-0.host", ""}, with_both, {}},
      {{"screen", "../evil", ""}, with_both, {"../evil"}},
      {{"hyoui", "h-7", "work"}, with_both, {}},
      {{"hyoui", "/t/h", "unix:h"}, with_both, {"/t/h", "h"}},
      {{"hyoui", "h-7", "tcp:1.2.3.4:5"}, with_both, {"tcp:1.2.3.4:5"}},
      {{"hyoui", "h-7", "@h"}, with_both, {"@h"}},
  };
  for (const Case& one : cases) {
    const auto paths = socket_paths(one.terminal, one.command);
    ASSERT_TRUE(paths) << paths.error().message;
    EXPECT_EQ(*paths, one.paths) << one.terminal.kind << " " << one.terminal.name_space;
  }
}

TEST(SocketPaths, OfTmuxAreNotLeftToChance) {
  const auto paths = socket_paths({"tmux", "%3", ""}, default_typing_template("tmux", {}));
  ASSERT_FALSE(paths);
  EXPECT_EQ(paths.error().code, ErrorCode::kRefused);
}

TEST(TypingCommand, RefusesWhatCouldBeSomethingElse) {
  const auto words = default_typing_template("tmux", {});
  for (const char* key : {"", "-t", "a\n", "\x1b[A", "\xc2\x9b", "\xff"}) {
    const auto made = typing_command({"tmux", "%3", ""}, {key}, words);
    ASSERT_FALSE(made) << key;
    EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(typing_command({"tmux", "-X", ""}, {"a"}, words));
  EXPECT_FALSE(typing_command({"tmux", "%3", "-S"}, {"a"}, words));
  EXPECT_FALSE(typing_command({"tmux", "%3", ""}, {}, words));
  EXPECT_THAT(typing_command({"kitty", "1", ""}, {"a"}, {"kitty", "{keys}"}).error().message,
              HasSubstr("{id}"));
}

}  // namespace
}  // namespace rollcall
