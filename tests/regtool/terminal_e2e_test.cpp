// terminal and type, with a real tmux.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/helper_program.hpp"
#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

class InTmux : public RegtoolTest {
 protected:
  void SetUp() override {
    if (!core::run_helper({"tmux", "-V"}, {}, *system_clock(), {})) {
      GTEST_SKIP() << "tmux is not installed";
    }
    socket_ = (dir_ / "tmux").string();
  }
  ~InTmux() override { (void)tmux({"kill-server"}); }

  std::string tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"tmux", "-f", "/dev/null", "-S", socket_});
    const auto output = core::run_helper(words, {}, *system_clock(), {});
    return output ? output->out : output.error().message;
  }
  // A session whose command reads what is typed into the file "typed".
  void open() const {
    const std::string command = "ROLLCALL_HOME=" + home_ + " exec " + program() +
                                " run --session s-1 --no-door -- cat > " +
                                (dir_ / "typed").string();
    EXPECT_EQ(tmux({"new-session", "-d", "-x", "80", "-y", "24", command}), "");
    ASSERT_TRUE(wait_until([&] { return has_record("s-1"); }));
    ASSERT_TRUE(wait_until([&] { return testing::state_of(command_pid("s-1")) == 'S'; }));
  }
  [[nodiscard]] std::string typed() const { return testing::slurp((dir_ / "typed").string()); }

  std::string socket_;
};

TEST_F(InTmux, ASessionTellsItsPane) {
  open();
  const Ran ran = run({"terminal", "s-1", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.err;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.terminal/1");
  EXPECT_EQ(string_at(json, "terminals.0.kind"), "tmux");
  EXPECT_EQ(string_at(json, "terminals.0.id"), "%0");
  EXPECT_EQ(string_at(json, "terminals.0.namespace"), socket_);
}

TEST_F(InTmux, ASessionGetsTheKeysAsTheyAre) {
  open();
  const Ran ran = run({"type", "s-1", "--", "kill-server;", "Enter", "$(id) 'x' ;", "Enter"});
  EXPECT_EQ(ran.code(), 0) << ran.err << ran.out;
  EXPECT_TRUE(wait_until([&] { return typed() == "kill-server;\n$(id) 'x' ;\n"; })) << typed();
  const auto json = parse_json(run({"type", "s-1", "--json", "--", "C-d"}).out);
  EXPECT_EQ(number_at(json, "keys"), 1);
  EXPECT_TRUE(wait_until([&] { return !has_record("s-1"); }));
}

TEST_F(InTmux, ASessionWhoseServerIsGoneCannotBeTypedTo) {
  // The record's process outlives its tmux: a process that only claims to run in one.
  environment_["TMUX"] = socket_ + ",1,0";
  environment_["TMUX_PANE"] = "%0";
  auto live = session("s-2", {"sleep", "60"}, {"--no-door"});
  const Ran ran = run({"type", "s-2", "--json", "--", "x"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "io");
  EXPECT_NE(ran.err.find("cannot look at " + socket_), std::string::npos) << ran.err;
}

class Type : public RegtoolTest {
 protected:
  // A program that is found in PATH and writes its arguments down.
  void install(const std::string& name) {
    const auto file =
        dir_.write(name, "#!/bin/sh\nprintf '%s|' \"$@\" > " + (dir_ / "words").string() + "\n");
    ::chmod(file.c_str(), 0755);
    environment_["PATH"] = dir_.path().string() + ":" + environment_["PATH"];
  }
};

constexpr uid_t kNobody = 65534;

class OfAnotherUser : public Type, public ::testing::WithParamInterface<uid_t> {};

// Who starts a program of another user's (su, sudo) still chose its environment: one foreign id is
// enough.
TEST_P(OfAnotherUser, IsNeitherShownNorTypedTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to have another user's process";
  install("hyoui");
  environment_["ROLLCALL_TERMINAL_KINDS"] = "hyoui=HYOUI_SESSION_ID:HYOUI_NAMESPACE";
  Child theirs = Child::run([&] {
    if (::setresuid(kNobody, GetParam(), GetParam()) != 0) return 90;
    ::execle("/bin/sleep", "sleep", "600", nullptr,
             std::array<const char*, 2>{"HYOUI_SESSION_ID=h-7", nullptr}.data());
    return 91;
  });
  ASSERT_TRUE(wait_until([&] {
    return testing::slurp("/proc/" + std::to_string(theirs.pid()) + "/cmdline").find("600") !=
           std::string::npos;
  }));
  put_record_of("s-1", theirs.pid());
  for (const auto& words : {std::vector<std::string>{"terminal", "s-1", "--json"},
                            std::vector<std::string>{"type", "s-1", "--json", "--", "x"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code(), 4) << ran.out << ran.err;
    EXPECT_EQ(string_at(parse_json(ran.out), "error.code"), "refused");
    EXPECT_NE(ran.err.find("uid 65534"), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "words"));
}

INSTANTIATE_TEST_SUITE_P(Terminal, OfAnotherUser, ::testing::Values(kNobody, uid_t{0}));

class TypeToASocket : public Type {
 protected:
  TypeToASocket() { environment_["TMUX_PANE"] = "%0"; }
  [[nodiscard]] std::string bind(const std::string& name) const {
    const std::string path = (dir_ / name).string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
    return path;
  }
  // Types to a session whose environment says so; what the program was then given.
  std::string typed(const std::string& tmux, int code) {
    environment_["TMUX"] = tmux;
    auto live = session("s-1", {"sleep", "60"}, {"--no-door"});
    const Ran ran = run({"type", "s-1", "--", "x"});
    EXPECT_EQ(ran.code(), code) << tmux << ": " << ran.err;
    EXPECT_EQ(run({"kill", "s-1"}).code(), 0);
    return testing::slurp((dir_ / "words").string());
  }
};

TEST_F(TypeToASocket, HandsTmuxASocketOfOurs) {
  install("tmux");
  const std::string socket = bind("s");
  EXPECT_EQ(typed(socket + ",1,0", 0), "-S|" + socket + "|send-keys|-t|%0|--|x|");
}

TEST_F(TypeToASocket, HandsTmuxNoOtherThing) {
  install("tmux");
  const std::string link = (dir_ / "link").string();
  std::filesystem::create_symlink(bind("s"), link);
  EXPECT_EQ(typed("s,1,0", 4), "");
  EXPECT_EQ(typed(link + ",1,0", 4), "");
  EXPECT_EQ(typed(dir_.write("file", "").string() + ",1,0", 4), "");
  EXPECT_EQ(typed("", 4), "");  // tmux would take the server that we ourselves are in
  ::mkdir((dir_ / "open").c_str(), 0700);
  ::chmod((dir_ / "open").c_str(), 0777);
  EXPECT_EQ(typed(bind("open/s") + ",1,0", 4), "");
  if (::geteuid() != 0) return;
  // What su and sudo -E leave in root's environment.
  const std::string theirs = bind("theirs");
  ASSERT_EQ(::chown(theirs.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(typed(theirs + ",1,0", 4), "");
}

TEST_F(Type, UsesTheConfiguredCommandOfAKind) {
  install("hyoui");
  environment_["ROLLCALL_TERMINAL_KINDS"] = "hyoui=HYOUI_SESSION_ID:HYOUI_NAMESPACE";
  environment_["HYOUI_SESSION_ID"] = "h-7";
  auto live = session("s-1", {"sleep", "60"}, {"--no-door"});
  EXPECT_EQ(run({"type", "s-1", "--", "ls", "Enter"}).code(), 0);
  EXPECT_EQ(testing::slurp((dir_ / "words").string()), "input|h-7|ls|Enter|");
}

TEST_F(Type, UsesTheConfiguredTemplateOfAKind) {
  install("kit");
  put_record("x", "");  // makes the home
  std::ofstream(home_ + "/config.json")
      << R"({"terminal":{"input":{"kitty":["kit","to","{id}","{keys}"]}}})";
  ::chmod((home_ + "/config.json").c_str(), 0600);
  environment_["KITTY_WINDOW_ID"] = "5";
  auto live = session("s-1", {"sleep", "60"}, {"--no-door"});
  EXPECT_EQ(run({"type", "s-1", "--", "a b"}).code(), 0);
  EXPECT_EQ(testing::slurp((dir_ / "words").string()), "to|5|a b|");
}

TEST_F(Type, SaysWhatIsMissing) {
  auto live = session("s-1", {"sleep", "60"}, {"--no-door"});
  const Ran none = run({"type", "s-1", "--json", "--", "x"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_EQ(string_at(parse_json(none.out), "error.code"), "no_terminal");
  environment_["KITTY_WINDOW_ID"] = "5";
  auto other = session("s-2", {"sleep", "60"}, {"--no-door"});
  const Ran unknown = run({"type", "s-2", "--json", "--", "x"});
  EXPECT_EQ(unknown.code(), 5);
  EXPECT_EQ(string_at(parse_json(unknown.out), "error.code"), "capability_unavailable");
  EXPECT_EQ(run({"type", "s-2"}).code(), 2);
  environment_["TMUX_PANE"] = "%0";
  auto third = session("s-3", {"sleep", "60"}, {"--no-door"});
  EXPECT_EQ(run({"type", "s-3", "--", "-x"}).code(), 2);
  EXPECT_EQ(run({"type", "@1", "--", "x"}).code(), 4);
}

}  // namespace
}  // namespace rollcall::regtool
