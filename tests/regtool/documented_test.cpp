#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "regtool/options.hpp"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::regtool {
namespace {

const std::vector<std::vector<std::string>>& helps() {
  static const std::vector<std::vector<std::string>> kHelps = {{"--help"},
                                                               {"ps", "--help"},
                                                               {"show", "--help"},
                                                               {"verify", "--help"},
                                                               {"run", "--help"},
                                                               {"register", "--help"},
                                                               {"forget", "--help"},
                                                               {"stop", "--help"},
                                                               {"kill", "--help"},
                                                               {"wait", "--help"},
                                                               {"watch", "--help"},
                                                               {"events", "--help"},
                                                               {"prune", "--help"},
                                                               {"plugins", "--help"},
                                                               {"doctor", "--help"},
                                                               {"plugins", "check", "--help"},
                                                               {"receipts", "list", "--help"},
                                                               {"receipts", "find", "--help"},
                                                               {"receipts", "discover", "--help"},
                                                               {"receipts", "resolve", "--help"},
                                                               {"receipts", "forget", "--help"},
                                                               {"receipts", "register", "--help"},
                                                               {"sentinel", "write", "--help"},
                                                               {"sentinel", "check", "--help"},
                                                               {"sentinel", "run", "--help"},
                                                               {"sweep", "--help"},
                                                               {"env", "--help"},
                                                               {"tree", "--help"},
                                                               {"terminal", "--help"},
                                                               {"type", "--help"},

                                                               {"pairs", "ls", "--help"},
                                                               {"pairs", "show", "--help"},
                                                               {"pairs", "rebind", "--help"}};
  return kHelps;
}

// Every long option that any help lists, without the examples.
std::set<std::string> long_options() {
  std::set<std::string> options;
  for (const auto& words : helps()) {
    const auto help = parse_command_line(words);
    const auto& text = std::get<HelpCommand>(help->command).text;
    const std::string listed = text.substr(text.find("Usage:"));
    for (std::size_t at = 0; (at = listed.find("--", at)) != std::string::npos;) {
      const std::size_t end = listed.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      const bool begins = listed[at - 1] == ' ' || listed[at - 1] == ',';
      if (begins && end - at > 2) options.insert(listed.substr(at, end - at));
      at = end;
    }
  }
  return options;
}

// Whether a help lists it with the name of a value behind it: "--sort COLUMN".
bool takes_value(const std::string& option) {
  for (const auto& words : helps()) {
    const auto help = parse_command_line(words);
    const auto& text = std::get<HelpCommand>(help->command).text;
    const std::size_t at = text.find(option + " ", text.find("Usage:"));
    if (at == std::string::npos) continue;
    const char next = text[at + option.size() + 1];
    if (next >= 'A' && next <= 'Z') return true;
  }
  return false;
}

std::string source(const std::string& name) {
  const std::string text = testing::slurp(std::string(test::kSourceDir) + "/" + name);
  EXPECT_NE(text, "") << name;
  return text;
}

TEST(Documented, EveryOptionStandsInTheManualPage) {
  std::string page = source("docs/man/regtool.1");
  for (std::size_t at = 0; (at = page.find("\\-", at)) != std::string::npos;) page.erase(at, 1);
  EXPECT_GT(long_options().size(), 30U);
  for (const std::string& option : long_options()) {
    EXPECT_NE(page.find(option), std::string::npos) << option;
  }
}

TEST(Documented, EveryOptionIsCompleted) {
  for (const char* file :
       {"completions/regtool.bash", "completions/_regtool", "completions/regtool.fish"}) {
    const std::string text = source(file);
    const bool fish = std::string_view(file).find("fish") != std::string_view::npos;
    for (const std::string& option : long_options()) {
      const std::string wanted = fish ? "-l " + option.substr(2) : option;
      EXPECT_NE(text.find(wanted), std::string::npos) << file << " " << option;
    }
  }
}

// Else the completions take the value for a command or an id. `--version` has one with `run` and
// `register` only, which they know.
TEST(Documented, EveryOptionWithAValueIsKnownToHaveOne) {
  const auto block = [](const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin);
    EXPECT_NE(from, std::string::npos);
    return text.substr(from, text.find(end, from) - from);
  };
  const std::string bash =
      block(source("completions/regtool.bash"), " with_value=\"", "\"\n") + " ";
  const std::string fish =
      block(source("completions/regtool.fish"), "set -g __regtool_values ", "\n\n") + " ";
  int found = 0;
  for (const std::string& option : long_options()) {
    if (!takes_value(option) || option == "--version") continue;
    ++found;
    EXPECT_NE(bash.find(" " + option + " "), std::string::npos) << option;
    EXPECT_NE(fish.find(" " + option + " "), std::string::npos) << option;
  }
  EXPECT_GT(found, 20);
}

TEST(Documented, EveryJsonSchemaStandsInTheReference) {
  const std::string reference = source("docs/json.md");
  for (const char* schema : {"error",
                             "ps",
                             "gone",
                             "verify",
                             "show",
                             "stop",
                             "kill",
                             "wait",
                             "watch",
                             "events",
                             "run",
                             "register",
                             "forget",
                             "prune",
                             "undo",
                             "plugins",
                             "plugin-check",
                             "doctor",
                             "version",
                             "receipts",
                             "receipt-find",
                             "receipt-discover",
                             "receipt-resolve",
                             "receipt-forget",
                             "receipt-register",
                             "sentinel",
                             "sentinel-write",
                             "sweep",
                             "pairs",
                             "pair",
                             "pair-rebind"}) {
    EXPECT_NE(reference.find("rollcall." + std::string(schema) + "/1"), std::string::npos)
        << schema;
  }
}

}  // namespace
}  // namespace rollcall::regtool
