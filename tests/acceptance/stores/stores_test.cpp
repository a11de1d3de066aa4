// What other programs recorded, all in one list: with a real Jupyter server where there is one.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utime.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"
#include "support/forced_pid_linux.hpp"

namespace rollcall::regtool {
namespace {

namespace fs = std::filesystem;
using testing::free_pid;
using testing::slurp;
using testing::start_token_of;

constexpr const char* kSecret = "s3cr3t-of-a-receipt";

std::int64_t now_ms() { return static_cast<std::int64_t>(std::time(nullptr)) * 1000; }

// A process that was launched as `name` and does nothing.
Child launched_as(const std::string& name) {
  Child child = Child::exec({"bash", "-c", "exec -a " + name + " sleep 600"});
  const std::string file = "/proc/" + std::to_string(child.pid()) + "/cmdline";
  EXPECT_TRUE(wait_until([&] { return slurp(file).rfind(name + '\0', 0) == 0; })) << name;
  return child;
}

std::string free_tcp_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return std::to_string(ntohs(address.sin_port));
}

// A Jupyter server of the test's own, with its own runtime folder.
class Jupyter {
 public:
  static bool is_there() { return ::system("command -v jupyter-server >/dev/null 2>&1") == 0; }

  explicit Jupyter(const fs::path& folder) : runtime_(folder / "runtime") {
    fs::create_directories(runtime_);
    // It prints its token.
    child_ = Child::exec({"sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh", "env",
                          "HOME=" + folder.string(), "JUPYTER_RUNTIME_DIR=" + runtime_.string(),
                          "JUPYTER_CONFIG_DIR=" + (folder / "config").string(),
                          "JUPYTER_DATA_DIR=" + (folder / "data").string(), "jupyter-server",
                          "--no-browser", "--allow-root", "--ServerApp.port=" + free_tcp_port(),
                          "--ServerApp.root_dir=" + folder.string()});
    started_ = wait_until([&] { return !token().empty(); }, std::chrono::seconds(60));
  }

  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  [[nodiscard]] fs::path file() const {
    return runtime_ / ("jpserver-" + std::to_string(pid()) + ".json");
  }
  [[nodiscard]] std::string token() const {
    const std::string text = slurp(file());
    rapidjson::Document document;
    document.Parse(text.data(), text.size());
    if (document.HasParseError()) return {};
    const std::string found = string_at(document, "token");
    return found == "(none)" ? std::string() : found;
  }
  void kill() {
    child_.signal(SIGKILL);
    EXPECT_TRUE(child_.wait());
  }

 private:
  fs::path runtime_;
  Child child_;
  bool started_ = false;
};

class StoresTest : public RegtoolTest {
 protected:
  StoresTest() {
    environment_["JUPYTER_RUNTIME_DIR"] = (dir_ / "runtime").string();
    fs::create_directories(dir_ / "runtime");
  }

  // One live and one dead session of each kind but Jupyter's.
  void put_sessions() {
    own_ = Child::sleeper();
    put_record_of("own-live", own_.pid());
    put_record("own-dead", record("own-dead", free_pid(), "1"));

    murmur_ = Child::sleeper();
    put_murmur("murmur-live", murmur_.pid(), start_token_of(murmur_.pid()));
    put_murmur("murmur-dead", murmur_.pid(), "1");

    supercode_ = launched_as("supercode");
    put_receipt("00aa", supercode_.pid());
    put_receipt("00dd", free_pid());

    controller_ = Child::sleeper();
    put_sentinel("bench", controller_.pid(), start_token_of(controller_.pid()));
    put_sentinel("old", controller_.pid(), "1");

    claude_ = launched_as("claude");
    put_row("claude-live", claude_.pid());
    put_row("claude-dead", free_pid());
  }

  void put_murmur(const std::string& id, pid_t pid, const std::string& token) const {
    dir_.write(".murmur/running/" + id + ".json",
               R"({"session_id":")" + id + R"(","url":null,"pid":)" + std::to_string(pid) +
                   R"(,"process_start":")" + token +
                   R"(","capsule_name":"agent","capsule_version":"2","workdir":"/",)" +
                   R"("outlives_launcher":false,"started_at":"2026-01-01T00:00:00Z"})");
  }
  void put_receipt(const std::string& id, pid_t pid) const {
    dir_.write(".supercode/live-runtimes/" + id + ".json",
               R"({"schema":"supercode.live-runtime.v1","receipt_id":")" + id +
                   R"(","runtime_session_id":"r","source":{"harness":"h","session_id":"s",)" +
                   R"("workspace":"/"},"base_url":"http://127.0.0.1:9","token":")" + kSecret +
                   R"(","pid":)" + std::to_string(pid) + R"(,"created_at_ms":)" +
                   std::to_string(now_ms()) + R"(,"metadata":{}})");
  }
  void put_jupyter(pid_t pid) const {
    const std::string number = std::to_string(pid);
    dir_.write(
        "runtime/jpserver-" + number + ".json",
        R"({"pid":)" + number + R"(,"port":)" + free_tcp_port() +
            R"(,"hostname":"localhost","base_url":"/","token":")" + kSecret +
            R"(","root_dir":"/","secure":false,"sock":"","url":"http://localhost:1/?token=)" +
            kSecret + R"("})");
  }
  // Runs regtool and adds what it printed, and the arguments of every process that it started.
  int traced(const std::vector<std::string>& words) {
    const std::string trace = (dir_ / "trace").string();
    std::vector<std::string> all = {"-f", "-s", "4096", "-e", "trace=execve", "-o", trace};
    all.push_back(program());
    all.insert(all.end(), words.begin(), words.end());
    program_ = "/usr/bin/strace";
    const Ran ran = run(all);
    program_ = program();
    printed_ += ran.out + ran.err + slurp(trace);
    return ran.code();
  }
  void put_sentinel(const std::string& pair, pid_t pid, const std::string& token) const {
    dir_.write("home/pairs/pair." + pair + ".json",
               R"({"pair_id":")" + pair + R"(","tab":null,"controller":"c"})");
    dir_.write("home/pairs/pair." + pair + ".claude-pid",
               std::to_string(pid) + ":" + boot_id() + ":" + token + "\n");
  }
  void put_row(const std::string& id, pid_t pid) const {
    dir_.write(".claude/sessions/" + std::to_string(pid) + ".json",
               R"({"pid":)" + std::to_string(pid) + R"(,"sessionId":")" + id + R"(","startedAt":)" +
                   std::to_string(now_ms()) + R"(,"cwd":"/"})");
  }
  void expect_the_four() const {
    EXPECT_EQ(found_.at("rollcall/own-live"), "live");
    EXPECT_EQ(found_.at("rollcall/own-dead"), "gone");
    EXPECT_EQ(found_.at("murmur/murmur-live"), "live");
    EXPECT_EQ(found_.at("murmur/murmur-dead"), "gone");
    EXPECT_EQ(found_.at("supercode/00aa"), "live, by time");
    EXPECT_EQ(found_.at("supercode/00dd"), "gone");
    EXPECT_EQ(found_.at("pairs/bench.controller"), "live");
    EXPECT_EQ(found_.at("pairs/old.controller"), "gone");
    EXPECT_EQ(found_.at("claude/claude-live"), "live, by time");
    EXPECT_EQ(found_.at("claude/claude-dead"), "gone");
  }

  // Reads all stores: "store/session" and the status of each.
  void read_all(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"ps", "--store", "all", "--no-prune", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.code(), 0) << ran.err;
    printed_ += ran.out + ran.err;
    const auto document = parse_json(ran.out);
    found_.clear();
    for (const auto& row : at(document, "sessions").GetArray()) {
      std::string status = string_at(row, "status");
      if (at(row, "guarded_by_time").IsTrue() && status != "gone") status += ", by time";
      found_[string_at(row, "store") + "/" + string_at(row, "session_id")] = status;
    }
    EXPECT_EQ(at(document, "stores").Size(), 6u);
  }

  Child own_, murmur_, supercode_, controller_, claude_;
  std::map<std::string, std::string> found_;
  std::string printed_;
};

using StoresOfOthers = StoresTest;
using JupyterServer = StoresTest;

TEST_F(StoresOfOthers, AreToldApartLiveAndDeadInOneList) {
  put_sessions();
  read_all();
  ASSERT_EQ(found_.size(), 10u);
  expect_the_four();
  const Ran text = run({"ps", "--store", "all", "--no-prune", "--wide"});
  EXPECT_EQ(text.code(), 0);
  expect_clean(text.out);
  EXPECT_EQ(text.out.rfind("STORE", 0), 0u) << text.out;
  EXPECT_NE(text.out.find("guarded by time"), std::string::npos);
}

TEST_F(StoresOfOthers, AreNeitherListedNorChangedUnlessChosen) {
  put_sessions();
  const Ran own = run({"ps", "--json"});
  const auto document = parse_json(own.out);
  ASSERT_EQ(at(document, "sessions").Size(), 1u);
  EXPECT_EQ(string_at(document, "sessions.0.session_id"), "own-live");
  EXPECT_EQ(run({"ps", "--store", "all"}).code(), 0);
  for (const char* file : {".murmur/running/murmur-dead.json", ".supercode/live-runtimes/00dd.json",
                           "home/pairs/pair.old.claude-pid"}) {
    EXPECT_TRUE(fs::exists(dir_ / file)) << file;
  }
  EXPECT_FALSE(has_record("own-dead"));
}

TEST_F(StoresOfOthers, AreReadFromTheFolderThatIsNamed) {
  put_sessions();
  fs::rename(dir_ / ".supercode/live-runtimes", dir_ / "elsewhere");
  const Ran ran = run({"ps", "--store", "supercode=" + (dir_ / "elsewhere").string(), "-q"});
  EXPECT_EQ(ran.out, "00dd\n00aa\n") << ran.err;
  environment_["SUPERCODE_HOME"] = (dir_ / "moved").string();
  fs::create_directories(dir_ / "moved");
  fs::rename(dir_ / "elsewhere", dir_ / "moved/live-runtimes");
  EXPECT_EQ(run({"ps", "--store", "supercode", "-q"}).out, "00dd\n00aa\n");
}

TEST_F(StoresOfOthers, AreShownAndVerifiedByTheirSession) {
  put_sessions();
  EXPECT_EQ(run({"verify", "murmur-live", "--store", "murmur"}).code(), 0);
  EXPECT_EQ(run({"verify", "murmur-dead", "--store", "murmur"}).code(), 1);
  EXPECT_EQ(run({"verify", "murmur-live"}).code(), 1) << "not in our own store";
  const Ran shown = run({"show", "00aa", "--store", "supercode", "--json"});
  EXPECT_EQ(shown.code(), 0) << shown.err;
  EXPECT_EQ(shown.out.find(kSecret), std::string::npos);
  EXPECT_EQ(string_at(parse_json(shown.out), "record.metadata.endpoint"), "supercode-live://00aa");
  const Ran several = run({"verify", "murmur-live", "--store", "all"});
  EXPECT_EQ(several.code(), 2);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"prune", "--store", "murmur"},
        std::vector<std::string>{"forget", "murmur-dead", "--store", "murmur"},
        std::vector<std::string>{"ps", "--store", "nobody"},
        std::vector<std::string>{"ps", "--store", "claude=relative"},
        std::vector<std::string>{"ps", "--store", ""}}) {
    EXPECT_EQ(run(words).code(), 2) << words[0] << ' ' << words[1];
  }
}

TEST_F(StoresOfOthers, TellNoTokenInAnyOutputOrArgument) {
  if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "there is no strace";
  put_sessions();
  Child server = launched_as("python3");
  put_jupyter(server.pid());
  const std::string text = slurp(dir_ / ".murmur/running/murmur-live.json");
  dir_.write(".murmur/running/murmur-live.json",
             text.substr(0, text.size() - 1) + R"(,"door_token":")" + kSecret + R"("})");
  dir_.write(".supercode/live-runtimes/00ee.json",
             std::string(R"({"schema":"x","token":")") + kSecret + R"("})");
  traced({"ps", "--store", "all", "--no-prune"});
  if (printed_.find("ptrace") != std::string::npos) GTEST_SKIP() << "strace may not trace";
  traced({"ps", "--store", "all", "--no-prune", "--json", "-v", "-v"});
  traced({"ps", "--store", "all", "--no-prune", "--wide", "--all"});
  const std::pair<std::string, std::string> sessions[] = {
      {"murmur", "murmur-live"},
      {"murmur", "murmur-dead"},
      {"supercode", "00aa"},
      {"supercode", "00ee"},
      {"pairs", "bench.controller"},
      {"claude", "claude-live"},
      {"jupyter", "jpserver-" + std::to_string(server.pid())}};
  for (const auto& [store, id] : sessions) {
    for (std::vector<std::string> words :
         std::vector<std::vector<std::string>>{{"show", id},
                                               {"verify", id, "--explain"},
                                               {"wait", id, "--timeout", "10ms"},
                                               {"stop", id},
                                               {"stop", id, "--accept-time-guard"},
                                               {"kill", id}}) {
      words.insert(words.end(), {"--store", store});
      traced(words);
      words.emplace_back("--json");
      traced(words);
    }
  }
  traced({"doctor"});
  traced({"pairs", "ls", "--json"});
  EXPECT_NE(printed_.find("execve"), std::string::npos);
  EXPECT_NE(printed_.find("jpserver-"), std::string::npos);
  EXPECT_EQ(printed_.find(kSecret), std::string::npos);
}

TEST_F(StoresOfOthers, GuardedByTimeAreSignalledOnlyWhereThatIsAccepted) {
  put_sessions();
  const Ran refused = run({"stop", "claude-live", "--store", "claude"});
  EXPECT_EQ(refused.code(), 4);
  EXPECT_NE(refused.out.find("--accept-time-guard"), std::string::npos) << refused.out;
  EXPECT_TRUE(claude_.alive());
  const Ran stopped = run({"stop", "claude-live", "--store", "claude", "--accept-time-guard"});
  EXPECT_EQ(stopped.code(), 0) << stopped.out << stopped.err;
  EXPECT_FALSE(claude_.alive());
  EXPECT_TRUE(fs::exists(dir_ / (".claude/sessions/" + std::to_string(claude_.pid()) + ".json")));
}

TEST_F(StoresOfOthers, WhosePidIsAnothersAreNeverSignalled) {
  Child stranger = Child::sleeper();
  put_row("stranger", stranger.pid());
  const Ran listed = run({"ps", "--store", "claude", "--format", "{status} {code}"});
  EXPECT_EQ(listed.out, "unreachable unverified\n");
  EXPECT_EQ(run({"kill", "stranger", "--store", "claude", "--accept-time-guard"}).code(), 4);
  EXPECT_TRUE(stranger.alive());
}

TEST_F(StoresOfOthers, ThatCannotBeReadAreNamedAndDoNotHideTheRest) {
  put_sessions();
  fs::remove_all(dir_ / ".murmur/running");
  dir_.write(".murmur/running", "a file");
  const Ran ran = run({"ps", "--store", "all", "--no-prune", "--json"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_NE(ran.err.find("murmur"), std::string::npos);
  const auto document = parse_json(ran.out);
  EXPECT_EQ(at(document, "sessions").Size(), 8u);
  EXPECT_NE(string_at(document, "stores.1.problem"), "(none)");
  EXPECT_EQ(run({"ps", "--store", "murmur"}).code(), 5);
}

TEST_F(JupyterServer, IsLiveByItsTokenAmongAllTheOthers) {
  if (!Jupyter::is_there()) GTEST_SKIP() << "no jupyter-server here; see scripts/deps.sh";
  put_sessions();
  Jupyter live(dir_.path());
  ASSERT_TRUE(live.started());
  Jupyter dead(dir_ / "dead");
  ASSERT_TRUE(dead.started());
  const std::string tokens[] = {live.token(), dead.token()};
  const pid_t dead_pid = dead.pid();
  fs::copy_file(dead.file(), dir_ / "runtime" / dead.file().filename());
  dead.kill();

  // Its file stands a moment before it answers.
  EXPECT_TRUE(wait_until(
      [&] {
        read_all();
        return found_["jupyter/jpserver-" + std::to_string(live.pid())] == "live, by time";
      },
      std::chrono::seconds(30)));
  ASSERT_EQ(found_.size(), 12u);
  expect_the_four();
  EXPECT_EQ(found_.at("jupyter/jpserver-" + std::to_string(dead_pid)), "gone");

  const std::string id = "jpserver-" + std::to_string(live.pid());
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"show", id, "--store", "jupyter"},
           {"show", id, "--store", "jupyter", "--json"},
           {"verify", id, "--store", "jupyter", "--explain"},
           {"verify", id, "--store", "jupyter", "--explain", "--json"},
           {"ps", "--store", "jupyter", "-v", "-v", "--wide"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code(), 0) << words[0] << ran.err << ran.out;
    printed_ += ran.out + ran.err;
  }
  EXPECT_NE(printed_.find("guarded by time"), std::string::npos);
  for (const std::string& token : tokens) EXPECT_EQ(printed_.find(token), std::string::npos);
  EXPECT_EQ(printed_.find(kSecret), std::string::npos);
}

TEST_F(JupyterServer, ThatWasKilledIsGoneThoughAnotherHoldsItsPidAndItsOwnListShowsIt) {
  if (!Jupyter::is_there()) GTEST_SKIP() << "no jupyter-server here; see scripts/deps.sh";
  if (!testing::can_force_pids()) GTEST_SKIP() << "forcing a pid wants CAP_CHECKPOINT_RESTORE";
  Jupyter server(dir_ / "server");
  ASSERT_TRUE(server.started());
  const pid_t pid = server.pid();
  const auto name = server.file().filename();
  // Its own list deletes the files of dead pids: each reader has a copy of its own.
  fs::create_directories(dir_ / "list");
  fs::copy_file(server.file(), dir_ / "list" / name);
  fs::copy_file(server.file(), dir_ / "runtime" / name);
  server.kill();
  // The server ran for a minute, as far as its file can tell.
  const std::time_t then = std::time(nullptr) - 60;
  const utimbuf times{then, then};
  ASSERT_EQ(::utime((dir_ / "runtime" / name).c_str(), &times), 0);
  Child other;
  ASSERT_TRUE(wait_until([&] {
    other = testing::sleeper_with_pid(pid);
    return other.pid() == pid;
  }));

  const std::string listed = (dir_ / "listed").string();
  ASSERT_EQ(::system(("HOME=" + dir_.path().string() + " JUPYTER_RUNTIME_DIR=" +
                      (dir_ / "list").string() + " jupyter-server list >" + listed + " 2>&1")
                         .c_str()),
            0);
  EXPECT_NE(slurp(listed).find("http://localhost:"), std::string::npos)
      << "its own list is not fooled any more: " << slurp(listed);

  read_all();
  EXPECT_EQ(found_.at("jupyter/jpserver-" + std::to_string(pid)), "gone");
  EXPECT_EQ(
      run({"stop", "jpserver-" + std::to_string(pid), "--store", "jupyter", "--accept-time-guard"})
          .code(),
      0);
  EXPECT_TRUE(other.alive()) << "the process that holds the pid now was signalled";
  EXPECT_TRUE(fs::exists(dir_ / "runtime" / name));
}

}  // namespace
}  // namespace rollcall::regtool
