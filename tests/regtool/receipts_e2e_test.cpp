// receipts, end to end.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

constexpr const char* kToken = "tok-Very-Secret";

class ReceiptsCommand : public RegtoolTest {
 protected:
  ReceiptsCommand() { directory_ = dir_.path().string(); }

  [[nodiscard]] std::vector<std::string> registration(pid_t pid, const std::string& runtime) const {
    return {"receipts",     "register", "--runtime", runtime, "--pid",      std::to_string(pid),
            "--harness",    "acp",      "--session", "s1",    "--base-url", "http://127.0.0.1:4096",
            "--token-file", "-"};
  }
  std::string add(pid_t pid, const std::string& runtime) const {
    const Ran ran = run(registration(pid, runtime), std::string(kToken) + "\n");
    EXPECT_EQ(ran.code(), 0) << ran.err;
    std::string endpoint = ran.out;
    while (!endpoint.empty() && endpoint.back() == '\n') endpoint.pop_back();
    return endpoint;
  }
  [[nodiscard]] std::vector<std::string> resolution(const std::string& endpoint) const {
    return {"receipts", "resolve", endpoint, "--harness", "acp", "--session", "s1"};
  }
  static void add_words(std::vector<std::string>& words, std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  }
  static bool tells(const Ran& ran) {
    return ran.out.find("Very-Secret") != std::string::npos ||
           ran.err.find("Very-Secret") != std::string::npos;
  }
  Child child_ = Child::sleeper();
};

TEST_F(ReceiptsCommand, ListsWithoutAddressAndToken) {
  EXPECT_EQ(run({"receipts", "list"}).out, "no receipts\n");
  EXPECT_FALSE(std::filesystem::exists(home_)) << "reading makes nothing";
  const std::string endpoint = add(child_.pid(), "rt_1");
  const Ran list = run({"receipts", "list", "--json"});
  EXPECT_EQ(list.code(), 0);
  const auto json = parse_json(list.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.receipts/1");
  EXPECT_EQ(string_at(json, "receipts.0.endpoint"), endpoint);
  EXPECT_EQ(string_at(json, "receipts.0.runtime_session_id"), "rt_1");
  EXPECT_EQ(string_at(json, "receipts.0.source.harness"), "acp");
  EXPECT_EQ(number_at(json, "receipts.0.pid"), child_.pid());
  EXPECT_EQ(string_at(json, "receipts.0.state"), "alive");
  EXPECT_EQ(string_at(json, "receipts.0.metadata.endpoint_capabilities.1"), "acp");
  EXPECT_EQ(list.out.find("4096"), std::string::npos) << "no address";
  const Ran table = run({"receipts", "list"});
  expect_clean(table.out);
  EXPECT_NE(table.out.find(endpoint), std::string::npos);
  EXPECT_NE(table.out.find("live"), std::string::npos);
}

TEST_F(ReceiptsCommand, NoCommandTellsTheToken) {
  const std::string endpoint = add(child_.pid(), "rt_1");
  add(child_.pid(), "rt_2");
  const std::vector<std::vector<std::string>> commands = {
      {"receipts", "list"},
      {"receipts", "list", "-v", "-v"},
      {"receipts", "find", "rt_1"},
      {"receipts", "discover", "--harness", "acp", "--session", "s1"},
      resolution(endpoint),
      {"receipts", "resolve", endpoint, "--harness", "no", "--session", "s1"},
      {"receipts", "resolve", "nonsense", "--harness", "no", "--session", "s1"},
      {"prune"},
      {"prune", "--dry-run"},
      {"ps", "--all"},
      {"doctor"},
      {"receipts", "forget", endpoint}};
  for (auto words : commands) {
    EXPECT_FALSE(tells(run(words))) << words[0] << " " << words[1 % words.size()];
    words.emplace_back("--json");
    EXPECT_FALSE(tells(run(words))) << words[0] << " " << words[1] << " --json";
  }
}

TEST_F(ReceiptsCommand, NoArgumentOfAnyProcessHoldsTheToken) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "there is no strace";
  const std::string trace = (dir_ / "trace").string();
  const std::string real = program_;
  const auto traced = [&](const std::vector<std::string>& words, const std::string& input) {
    program_ = "/usr/bin/strace";
    std::vector<std::string> all = {"-f", "-s", "4096", "-e", "trace=execve", "-o", trace, real};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = run(all, input);
    program_ = real;
    return ran;
  };
  const Ran added = traced(registration(child_.pid(), "rt_1"), std::string(kToken) + "\n");
  if (added.err.find("ptrace") != std::string::npos) GTEST_SKIP() << "strace may not trace";
  ASSERT_EQ(added.code(), 0) << added.err;
  std::string seen = testing::slurp(trace);
  std::string endpoint = added.out.substr(0, added.out.find('\n'));
  auto words = resolution(endpoint);
  add_words(words, {"--token-file", (dir_ / "token").string()});
  ASSERT_EQ(traced(words, "").code(), 0);
  seen += testing::slurp(trace);
  EXPECT_NE(seen.find("execve"), std::string::npos);
  EXPECT_EQ(seen.find("Very-Secret"), std::string::npos);
  EXPECT_EQ(testing::slurp(dir_ / "token"), kToken);
}

TEST_F(ReceiptsCommand, ResolvesIntoANewFileOrByAnExplicitFlag) {
  const std::string endpoint = add(child_.pid(), "rt_1");
  const std::string file = (dir_ / "token").string();
  auto words = resolution(endpoint);
  add_words(words, {"--token-file", file, "--json"});
  const mode_t before = ::umask(0);
  const Ran into_file = run(words);
  ::umask(before);
  EXPECT_EQ(into_file.code(), 0) << into_file.err;
  EXPECT_FALSE(tells(into_file));
  EXPECT_EQ(testing::slurp(file), kToken);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  const auto json = parse_json(into_file.out);
  EXPECT_EQ(string_at(json, "base_url"), "http://127.0.0.1:4096");
  EXPECT_EQ(string_at(json, "token_file"), file);
  EXPECT_EQ(run(words).code(), 4) << "never over a file that is there";
  std::filesystem::remove(file);
  std::filesystem::create_symlink(dir_ / "victim", file);
  EXPECT_EQ(run(words).code(), 4) << "nor through a link";
  EXPECT_FALSE(std::filesystem::exists(dir_ / "victim"));
  auto shown = resolution(endpoint);
  add_words(shown, {"--show-token", "--json"});
  EXPECT_EQ(string_at(parse_json(run(shown).out), "token"), kToken);
}

TEST_F(ReceiptsCommand, SaysEachFailureByItsCode) {
  const std::string endpoint = add(child_.pid(), "rt_1");
  const auto outcome = [&](std::vector<std::string> words) {
    words.emplace_back("--json");
    const Ran ran = run(words);
    return std::to_string(ran.code()) + " " + string_at(parse_json(ran.out), "error.code");
  };
  EXPECT_EQ(outcome({"receipts", "find", "rt_9"}), "1 not_live");
  EXPECT_EQ(outcome({"receipts", "discover", "--harness", "x", "--session", "s1"}), "1 not_live");
  EXPECT_EQ(outcome({"receipts", "resolve", "x", "--harness", "acp", "--session", "s1"}),
            "2 invalid_endpoint");
  EXPECT_EQ(outcome({"receipts", "forget", "../x"}), "2 invalid_endpoint");
  EXPECT_EQ(outcome({"receipts", "resolve", endpoint, "--harness", "acp", "--session", "s2"}),
            "4 identity_mismatch");
  add(child_.pid(), "rt_1");
  EXPECT_EQ(outcome({"receipts", "find", "rt_1"}), "2 ambiguous");
}

TEST_F(ReceiptsCommand, RefusesToRegisterWhatIsNoReceipt) {
  const auto outcome = [&](const std::string& option, const std::string& value) {
    auto words = registration(child_.pid(), "rt_1");
    const auto at = std::find(words.begin(), words.end(), option);
    *(at + 1) = value;
    words.emplace_back("--json");
    const Ran ran = run(words, std::string(kToken) + "\n");
    EXPECT_FALSE(tells(ran));
    return std::to_string(ran.code()) + " " + string_at(parse_json(ran.out), "error.code");
  };
  EXPECT_EQ(outcome("--base-url", "http://localhost:80@evil.example/"), "4 invalid_receipt");
  EXPECT_EQ(outcome("--base-url", "https://127.0.0.1:1"), "4 invalid_receipt");
  EXPECT_EQ(outcome("--runtime", "  "), "4 invalid_receipt");
  EXPECT_EQ(outcome("--pid", std::to_string(testing::free_pid())), "4 no_process");
  EXPECT_EQ(outcome("--pid", "0"), "2 usage");
  EXPECT_EQ(outcome("--token-file", (dir_ / "none").string()), "5 io");
  EXPECT_FALSE(std::filesystem::exists(home_ + "/live"));
}

TEST_F(ReceiptsCommand, PrunesWhatIsProvenGoneAndSaysSo) {
  const std::string endpoint = add(child_.pid(), "rt_1");
  child_.signal(SIGKILL);
  child_.wait();
  const Ran left = run({"receipts", "list", "--no-prune", "--json"});
  EXPECT_EQ(string_at(parse_json(left.out), "receipts.0.state"), "gone");
  const Ran told = run({"prune", "--dry-run", "--json"});
  EXPECT_EQ(string_at(parse_json(told.out), "receipts.pruned.0.endpoint"), endpoint);
  const Ran pruned = run({"receipts", "list"});
  EXPECT_EQ(pruned.out, "no receipts\n");
  EXPECT_NE(pruned.err.find("pruned: " + endpoint + ": no process holds pid"), std::string::npos);
  auto words = resolution(endpoint);
  EXPECT_EQ(run(words).code(), 1);
}

TEST_F(ReceiptsCommand, ForgettingIsIdempotent) {
  const std::string endpoint = add(child_.pid(), "rt_1");
  const Ran first = run({"receipts", "forget", endpoint, "--json"});
  EXPECT_TRUE(at(parse_json(first.out), "forgotten").IsTrue());
  const Ran second = run({"receipts", "forget", endpoint, "--json"});
  EXPECT_EQ(second.code(), 0);
  EXPECT_TRUE(at(parse_json(second.out), "forgotten").IsFalse());
}

TEST_F(ReceiptsCommand, AreStrictUtf8WhateverTheBytes) {
  auto words = registration(child_.pid(), "rt\x1b[2J");
  add_words(words, {"--workspace", "/no/\xff\xfe", "--profile", "p\xff"});
  ASSERT_EQ(run(words, "t\n").code(), 0);
  (void)parse_json(run({"receipts", "list", "--json"}).out);
  expect_clean(run({"receipts", "list"}).out);
}

TEST_F(ReceiptsCommand, WithoutItsOptionsIsAWrongCommandLine) {
  EXPECT_EQ(run({"receipts"}).code(), 2);
  EXPECT_EQ(run({"receipts", "find"}).code(), 2);
  EXPECT_EQ(run({"receipts", "discover", "--harness", "x"}).code(), 2);
  EXPECT_EQ(run({"receipts", "register", "--runtime", "x"}).code(), 2);
}

}  // namespace
}  // namespace rollcall::regtool
