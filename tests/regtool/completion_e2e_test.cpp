// The completions, by the shells themselves.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "core/helper_program.hpp"
#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

// Each is called with the folder of the completions, a folder to write in, and the line whose last
// word is to be completed; it prints what is offered, a word a line. bash gets the line split at
// COMP_WORDBREAKS, as readline splits it; without the package bash-completion.
constexpr const char* kBash = R"(
. "$1/regtool.bash"
line=$3
for sign in = :; do line=${line//$sign/ $sign }; done
read -ra COMP_WORDS <<<"$line"
[[ $line == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_regtool
printf '%s\n' "${COMPREPLY[@]}"
)";

constexpr const char* kFish = R"(
source $argv[1]/regtool.fish
complete "--do-complete=$argv[3]" | string replace -r '\t.*' ''
exit 0
)";

// A zsh on a terminal of its own; its compadd tells through a FIFO what is added.
constexpr const char* kZsh = R"(
zmodload zsh/zpty || exit 77
mkfifo $2/offered
cat >$2/init <<'INIT'
PS1=
autoload -Uz compinit
compinit -u -D
compadd() {
  if [[ " ${@[1,(i)(-|--)]} " == *\ -[OAD]\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a added
  builtin compadd -A added "$@"
  (( $#added )) && print -rl -- $added >&9
  builtin compadd "$@"
}
zle -C offer complete-word _main_complete
offer-all() { zle offer; print -r -- '== end' >&9 }
zle -N offer-all
bindkey '^T' offer-all
INIT
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \$fpath); exec 9>$2/offered; . $2/init; print -r -- '== ready' >&9"
exec 8<$2/offered
while read -r -u 8 word && [[ $word != '== ready' ]]; do :; done
zpty -w -n shell "$3"$'\C-T'
while IFS= read -r -u 8 word && [[ $word != '== end' ]]; do print -r -- $word; done
zpty -d shell
)";

struct Shell {
  const char* name;
  std::vector<std::string> words;  // up to the script's own
};
void PrintTo(const Shell& shell, std::ostream* out) { *out << shell.name; }

class Completion : public RegtoolTest, public ::testing::WithParamInterface<Shell> {
 protected:
  void SetUp() override {
    if (!core::run_helper({GetParam().name, "-c", "exit 0"}, {}, *system_clock(), {})) {
      GTEST_SKIP() << GetParam().name << " is not installed";
    }
    const auto tool = dir_.write("zz-other-tool", "#!/bin/sh\n");
    ::chmod(tool.c_str(), 0755);
    environment_["PATH"] =
        std::string(test::kBinDir) + ":" + dir_.path().string() + ":" + environment_["PATH"];
  }

  std::set<std::string> offered(const std::string& line) {
    const std::string folder = (dir_ / ("shell" + std::to_string(++calls_))).string();
    std::filesystem::create_directory(folder);
    std::vector<std::string> words = {"env", "-i"};
    for (const auto& [name, value] : environment_) words.push_back(name + "=" + value);
    words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
    for (const auto& word : {std::string(test::kSourceDir) + "/completions", folder, line}) {
      words.push_back(word);
    }
    const auto output = core::run_helper(words, {.total_ms = 30'000}, *system_clock(), {});
    if (!output) {
      ADD_FAILURE() << line << ": " << output.error().message;
      return {};
    }
    EXPECT_EQ(output->err, "") << line;
    std::set<std::string> found;
    for (std::size_t at = 0; at < output->out.size();) {
      const std::size_t end = std::min(output->out.find('\n', at), output->out.size());
      if (end > at) found.insert(output->out.substr(at, end - at));
      at = end + 1;
    }
    return found;
  }

  int calls_ = 0;
};

using Words = std::set<std::string>;

TEST_P(Completion, OffersCommandsAndTheirOptions) {
  EXPECT_EQ(offered("regtool sto"), Words{"stop"});
  EXPECT_EQ(offered("regtool help veri"), Words{"verify"});
  EXPECT_EQ(offered("regtool --json ps --no-pru"), Words{"--no-prune"});
  EXPECT_EQ(offered("regtool kill --signal US"), (Words{"USR1", "USR2"}));
  EXPECT_EQ(offered("regtool sentinel ch"), Words{"check"});
}

TEST_P(Completion, OffersTheSessionsOfTheHomeOnce) {
  put_record_of("web", ::getpid());
  EXPECT_EQ(offered("regtool stop "), Words{"web"});
  EXPECT_EQ(offered("regtool kill --signal TERM w"), Words{"web"});
  EXPECT_EQ(offered("regtool stop web ").count("web"), 0U);
  const std::string home = std::exchange(environment_["ROLLCALL_HOME"], (dir_ / "none").string());
  EXPECT_EQ(offered("regtool stop "), Words{});
  EXPECT_EQ(offered("regtool --home " + home + " stop "), Words{"web"});
}

TEST_P(Completion, OffersWhatWasPrunedToPutItBack) {
  Child child = Child::run([] { return 0; });
  const pid_t gone = child.pid();
  ASSERT_TRUE(child.wait(std::chrono::seconds(60)));
  put_record("s-dead", record("s-dead", gone, "1"));
  ASSERT_EQ(run({"ps"}).code(), 0);
  ASSERT_FALSE(has_record("s-dead"));
  EXPECT_EQ(offered("regtool prune --undo "), Words{"s-dead"});
}

TEST_P(Completion, KeepsCommandsOfOneNameApart) {
  put_record_of("web", ::getpid());
  EXPECT_EQ(offered("regtool pairs show ").count("web"), 0U);
  EXPECT_EQ(offered("regtool receipts register --door").count("--door"), 0U);
  EXPECT_EQ(offered("regtool sentinel run --det").count("--detach"), 0U);
}

TEST_P(Completion, LeavesTheLineOfAnotherProgramToIt) {
  put_record_of("web", ::getpid());
  const Words other{"zz-other-tool"};
  EXPECT_EQ(offered("regtool run zz-oth"), other);
  EXPECT_EQ(offered("regtool run --label a=b --version 1 -- zz-oth"), other);
  EXPECT_EQ(offered("regtool --json sentinel run /x zz-oth"), other);
  EXPECT_EQ(offered("regtool sentinel run /x -- zz-oth"), other);
  EXPECT_EQ(offered("regtool run -- zz-other-tool stop ").count("web"), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Shells, Completion,
    ::testing::Values(Shell{"bash", {"bash", "--noprofile", "--norc", "-c", kBash, "bash"}},
                      Shell{"fish", {"fish", "--no-config", "-c", kFish}},
                      Shell{"zsh", {"zsh", "-f", "-c", kZsh, "zsh"}}),
    [](const auto& shell) { return std::string(shell.param.name); });

}  // namespace
}  // namespace rollcall::regtool
