#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

class Ps : public RegtoolTest {};

TEST_F(Ps, SaysThatNothingRunsAndCreatesNothing) {
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out, "no running sessions\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_FALSE(std::filesystem::exists(home_));
  std::filesystem::create_directories(home_ + "/running");
  EXPECT_EQ(run({"ps"}).out, "no running sessions\n");
  EXPECT_EQ(run({"ps", "-q"}).out, "");
  const auto json = parse_json(run({"ps", "--json"}).out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.ps/1");
  EXPECT_EQ(at(json, "sessions").Size(), 0U);
  EXPECT_EQ(at(json, "pruned").Size(), 0U);
  EXPECT_EQ(at(json, "unreadable").Size(), 0U);
}

TEST_F(Ps, TellsAnUnusableDirectoryFromAnEmptyOne) {
  std::filesystem::create_directories(home_);
  std::ofstream(home_ + "/running") << "a file";
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find(home_ + "/running"), std::string::npos) << ran.err;
  const Ran json = run({"ps", "--json"});
  EXPECT_EQ(json.code(), 5);
  const auto document = parse_json(json.out);
  EXPECT_EQ(string_at(document, "schema"), "rollcall.error/1");
  EXPECT_NE(string_at(document, "error.text").find(home_ + "/running"), std::string::npos);
}

TEST_F(Ps, RefusesADirectoryThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  std::filesystem::create_directories(home_ + "/running");
  ::chmod((home_ + "/running").c_str(), 0000);
  EXPECT_EQ(run({"ps"}).code(), 5);
  ::chmod((home_ + "/running").c_str(), 0700);
}

TEST_F(Ps, RefusesASymlinkedDirectory) {
  std::filesystem::create_directories(home_);
  std::filesystem::create_directories(dir_ / "victim");
  std::filesystem::create_symlink(dir_ / "victim", home_ + "/running");
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_NE(ran.err.find("running"), std::string::npos) << ran.err;
}

TEST_F(Ps, ShowsALiveSessionWithEveryKey) {
  auto live =
      session("s-live", {"sleep", "60"}, {"--name", "n", "--version", "1.2", "--label", "team=db"});
  const auto json = parse_json(run({"ps", "--json"}).out);
  ASSERT_EQ(at(json, "sessions").Size(), 1U);
  const auto& row = at(json, "sessions.0");
  EXPECT_EQ(string_at(row, "session_id"), "s-live");
  EXPECT_EQ(string_at(row, "name"), "n");
  EXPECT_EQ(string_at(row, "version"), "1.2");
  EXPECT_EQ(string_at(row, "status"), "live");
  EXPECT_TRUE(row.HasMember("reason") && at(row, "reason").IsNull());
  EXPECT_EQ(number_at(row, "pid"), live.child.pid());
  EXPECT_EQ(string_at(row, "url").rfind("http://127.0.0.1:", 0), 0U);
  EXPECT_TRUE(at(row, "workdir").IsString());
  EXPECT_TRUE(at(row, "detached").IsBool());
  EXPECT_GE(number_at(row, "uptime_s"), 0);
  EXPECT_EQ(string_at(row, "labels.team"), "db");
}

TEST_F(Ps, PrintsTheColumnsInTheirOrder) {
  auto live = session("s-live", {"sleep", "60"}, {"--name", "n", "--version", "2"});
  const Ran ran = run({"ps"});
  std::istringstream lines(ran.out);
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  std::istringstream words(header);
  std::vector<std::string> names;
  for (std::string word; words >> word;) names.push_back(word);
  EXPECT_EQ(names, (std::vector<std::string>{"SESSION", "NAME", "STATUS", "DETACHED", "UPTIME",
                                             "PID", "DOOR"}));
  EXPECT_EQ(row.substr(0, 6), "s-live");
  EXPECT_NE(row.find("n@2"), std::string::npos);
  EXPECT_NE(row.find(" live "), std::string::npos);
  EXPECT_NE(row.find("00:00:"), std::string::npos);
  EXPECT_NE(run({"ps", "--wide"}).out.find("REASON"), std::string::npos);
}

TEST_F(Ps, CallsASessionAliveWhoseDoorWasNotAsked) {
  auto live = session("s-live", {"sleep", "60"});
  EXPECT_EQ(run({"ps", "--no-probe", "--format", "{session} {status}"}).out, "s-live alive\n");
  EXPECT_EQ(run({"ps", "-q"}).out, "s-live\n");
}

TEST_F(Ps, PrunesWhatIsGoneAndSaysSo) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code(), 0);
  EXPECT_EQ(ran.out, "no running sessions\n");
  EXPECT_EQ(ran.err.rfind("pruned: s-dead: no process holds pid ", 0), 0U) << ran.err;
  EXPECT_FALSE(has_record("s-dead"));
  const auto gone = parse_json(run({"ps", "--gone", "--json"}).out);
  EXPECT_EQ(string_at(gone, "gone.0.session_id"), "s-dead");
  EXPECT_EQ(string_at(gone, "gone.0.reason.code"), "no-process");
  EXPECT_NE(run({"ps", "--gone"}).out.find("s-dead"), std::string::npos);
  EXPECT_EQ(run({"ps", "--gone", "-q"}).out, "s-dead\n");
}

TEST_F(Ps, ListsWhatItPrunedInJson) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const auto json = parse_json(run({"ps", "--json"}).out);
  EXPECT_EQ(at(json, "sessions").Size(), 0U);
  EXPECT_EQ(string_at(json, "pruned.0.session_id"), "s-dead");
  EXPECT_EQ(string_at(json, "pruned.0.reason").rfind("no process holds pid ", 0), 0U);
}

TEST_F(Ps, ShowsWhatItPrunedWithAll) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  EXPECT_EQ(run({"ps", "--all", "--format", "{session} {status}"}).out, "s-dead gone\n");
  EXPECT_EQ(run({"ps", "--all", "--format", "{session} {status}"}).out, "s-dead gone\n");
  EXPECT_EQ(run({"ps", "--format", "{session}"}).out, "");
}

TEST_F(Ps, RemovesNothingWithNoPrune) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  const Ran ran = run({"ps", "--no-prune", "--format", "{session} {status}"});
  EXPECT_EQ(ran.out, "s-dead gone\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(has_record("s-dead"));
}

TEST_F(Ps, KeepsARecordThatItCannotTell) {
  const Child sleeper = Child::sleeper();
  put_record("s-other-host",
             record("s-other-host", testing::free_pid(), "1", R"(,"host_id":"00ff-elsewhere")"));
  put_record("s-no-token", record("s-no-token", sleeper.pid(), ""));
  const auto json = parse_json(run({"ps", "--json"}).out);
  ASSERT_EQ(at(json, "sessions").Size(), 2U);
  EXPECT_EQ(string_at(json, "sessions.0.status"), "unreachable");
  EXPECT_EQ(string_at(json, "sessions.0.reason.code"), "foreign-view");
  EXPECT_EQ(string_at(json, "sessions.1.status"), "unreachable");
  EXPECT_TRUE(has_record("s-other-host"));
  EXPECT_TRUE(has_record("s-no-token"));
}

TEST_F(Ps, ReportsFilesThatAreNoRecordsAndLeavesThem) {
  put_record("a", "");
  put_record("b", std::string(4096, '\0'));
  put_record("c", R"({"session_id":"c","pid":)");
  put_record("s-dup", R"({"pid":1,"pid":2})");
  auto live = session("s-live", {"sleep", "60"});
  const Ran ran = run({"ps", "--json"});
  EXPECT_EQ(ran.code(), 0);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(at(json, "sessions").Size(), 1U);
  ASSERT_EQ(at(json, "unreadable").Size(), 4U);
  for (const auto& entry : at(json, "unreadable").GetArray()) {
    EXPECT_TRUE(
        has_record(std::string(string_at(entry, "file"), 0, string_at(entry, "file").size() - 5)));
    EXPECT_NE(string_at(entry, "reason"), "");
  }
  EXPECT_NE(run({"ps"}).err.find("c.json"), std::string::npos);
}

TEST_F(Ps, ListsNewestFirstWhateverTheClocksSay) {
  const Child sleeper = Child::sleeper();
  const std::string token = testing::start_token_of(sleeper.pid());
  const std::vector<std::string> times = {
      "1970-01-01T00:00:00Z",      "2106-01-01T00:00:00Z", "24:61", "",
      "2026-01-01T00:00:00+05:00", "99999999999999999999"};
  std::string expected;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string id = "s-" + std::to_string(i);
    std::string bytes = record(id, sleeper.pid(), token);
    const std::string good = "2026-01-01T00:00:00Z";
    bytes.replace(bytes.find(good), good.size(), times[i]);
    put_record(id, bytes);
    expected = id + " -\n" + expected;
  }
  EXPECT_EQ(run({"ps", "--format", "{session} {uptime}"}).out, expected);
}

TEST_F(Ps, PrintsNoControlByteWhateverNamesHold) {
  const Child sleeper = Child::sleeper();
  const std::string pid = std::to_string(sleeper.pid());
  const std::string hostile = "a\x1b]0;x\x07\x1b[2J\r\n\x9b\xc2\x9b\u202e\x7f\xff z";
  for (const char* id : {"s-hostile-1", "s-hostile-2"}) {
    ASSERT_EQ(
        run({"register", "--session", id, "--pid", pid, "--name", hostile, "--version", hostile,
             "--workdir", "/tmp/" + hostile, "--label", "k=" + hostile, "--door", "k\x1b[2J\u202e"})
            .code(),
        0);
  }
  put_record("s-plain", record("s-plain", sleeper.pid(), testing::start_token_of(sleeper.pid())));
  put_record("torn", "{\"session_id\":\"\x1b[2J\xff");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"ps"},
        {"ps", "--wide"},
        {"ps", "--all", "--wide"},
        {"ps", "--format", "session,name,workdir,reason,label.k"},
        {"ps", "--format", "{name} {workdir} {door} {reason} {label.k}"},
        {"verify", "s-hostile-1"},
        {"verify", "--explain", "s-hostile-1"},
        {"show", "s-hostile-1"},
        {"prune", "--dry-run"},
        {"ps", "--filter", "name=" + hostile}}) {
    const Ran ran = run(words);
    expect_clean(ran.out);
    expect_clean(ran.err);
    EXPECT_NE(ran.out, "");
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"ps", "--json"},
                                                {"verify", "--explain", "s-hostile-1", "--json"},
                                                {"show", "s-hostile-1", "--json"}}) {
    parse_json(run(words).out);
  }
}

TEST_F(Ps, HoldsItsColumnsWhateverNamesHold) {
  const Child sleeper = Child::sleeper();
  const std::string pid = std::to_string(sleeper.pid());
  const std::vector<std::string> names = {"plain", "\x1b[2J", "日本語", "e\u0301e\u0301",
                                          "\xff\xfe"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    run({"register", "--session", "s-" + std::to_string(i), "--pid", pid, "--name", names[i]});
  }
  std::istringstream lines(run({"ps"}).out);
  std::string line;
  std::getline(lines, line);
  const std::size_t column = text::display_width(line.substr(0, line.find("STATUS")));
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    EXPECT_EQ(text::display_width(line.substr(0, line.find("live"))), column) << line;
  }
  EXPECT_EQ(rows, 5);
}

TEST_F(Ps, EscapesAllButAsciiOutsideUtf8Locales) {
  const Child sleeper = Child::sleeper();
  run({"register", "--session", "s-1", "--pid", std::to_string(sleeper.pid()), "--name", "é"});
  environment_["LANG"] = "C";
  const Ran ran = run({"ps"});
  EXPECT_TRUE(std::all_of(ran.out.begin(), ran.out.end(),
                          [](char byte) { return static_cast<unsigned char>(byte) < 0x80; }));
  EXPECT_NE(ran.out.find("\\u{00e9}"), std::string::npos);
}

TEST_F(Ps, ShowsBytesOfAWorkdirThatAreNotUtf8) {
  directory_ = (dir_ / "\xff\xfe").string();
  std::filesystem::create_directories(directory_);
  auto live = session("s-live", {"sleep", "60"});
  const Ran ran = run({"ps", "--json"});
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "sessions.0.workdir"), dir_.path().string() + "/\\xff\\xfe");
  parse_json(run({"show", "s-live", "--json"}).out);
}

TEST_F(Ps, NeverShowsSecrets) {
  const Child sleeper = Child::sleeper();
  put_record_of("s-secret", sleeper.pid(),
                R"(,"door_token":"tok-SECRET","password":"SECRET-2",)"
                R"("metadata":{"api_key":"SECRET-3","label.token":"SECRET-8"},)"
                R"("door":{"kind":"http","token":"SECRET-4"})",
                R"("http://user:SECRET-5@127.0.0.1:9/p?token=SECRET-6#SECRET-7")");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"ps"},
                                                {"ps", "--json"},
                                                {"ps", "--wide"},
                                                {"ps", "--format", "{url} {door} {label.token}"},
                                                {"verify", "--explain", "s-secret"},
                                                {"verify", "--explain", "s-secret", "--json"},
                                                {"show", "s-secret"},
                                                {"show", "s-secret", "--json"},
                                                {"ps", "-vv"},
                                                {"forget", "s-secret", "--force"}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.out.find("SECRET"), std::string::npos) << words.front() << ": " << ran.out;
    EXPECT_EQ(ran.err.find("SECRET"), std::string::npos) << words.front() << ": " << ran.err;
  }
}

TEST_F(Ps, Filters) {
  auto a = session("s-a", {"sleep", "60"}, {"--name", "a", "--label", "t=1"});
  auto b = session("s-b", {"sleep", "60"}, {"--name", "b", "--label", "t=2"});
  EXPECT_EQ(run({"ps", "-q", "--filter", "name=a"}).out, "s-a\n");
  EXPECT_EQ(run({"ps", "-q", "--filter", "label=t=2"}).out, "s-b\n");
  EXPECT_EQ(run({"ps", "-q", "--filter", "label=t"}).out, "s-b\ns-a\n");
  EXPECT_EQ(run({"ps", "-q", "--sort", "name"}).out, "s-a\ns-b\n");
  EXPECT_EQ(run({"ps", "-q", "--filter", "status=gone"}).out, "");
}

TEST_F(Ps, IsQuietWhenAsked) {
  put_record("s-dead", record("s-dead", testing::free_pid(), "1"));
  put_record("torn", "x");
  EXPECT_EQ(run({"--quiet", "ps"}).err, "");
}

TEST_F(Ps, DiesQuietlyOfAClosedPipe) {
  std::array<int, 2> closed{};
  ASSERT_EQ(::pipe2(closed.data(), O_CLOEXEC), 0);
  ::close(closed[0]);
  const Ran ran = finish(start({"ps"}, closed[1]));
  ::close(closed[1]);
  EXPECT_EQ(ran.code(), -SIGPIPE);
  EXPECT_EQ(ran.err, "");
}

TEST_F(Ps, SaysThatItsOutputCannotBeWritten) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  const Ran ran = finish(start({"ps"}, full));
  ::close(full);
  EXPECT_EQ(ran.code(), 5);
  EXPECT_NE(ran.err.find("cannot write"), std::string::npos);
}

TEST_F(Ps, SaysThatAClosedOutputCannotBeWritten) {
  Child child = Child::sleeper();
  put_record_of("s-1", child.pid());
  for (const char* command : {"ps", "ps --json", "watch", "watch --json"}) {
    Child shell = Child::run([&] {
      const std::string line = "timeout 20 \"$0\" " + std::string(command) + " >&- 2>\"$1\"";
      ::setenv("ROLLCALL_HOME", home_.c_str(), 1);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), program().c_str(), (dir_ / "err").c_str(),
              nullptr);
      return 99;
    });
    const auto status = shell.wait();
    ASSERT_TRUE(status && WIFEXITED(*status));
    EXPECT_EQ(WEXITSTATUS(*status), 5) << command;
    const std::string err = testing::slurp((dir_ / "err").string());
    EXPECT_NE(err.find("cannot write the output"), std::string::npos) << err;
  }
}

TEST_F(Ps, KeepsQuietWhereItsErrorOutputIsClosed) {
  Child shell = Child::run([&] {
    ::setenv("ROLLCALL_HOME", home_.c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", "\"$0\" ps 2>&- >\"$1\"", program().c_str(),
            (dir_ / "out").c_str(), nullptr);
    return 99;
  });
  const auto status = shell.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST_F(Ps, WantsAnAbsoluteHomeFromTheEnvironment) {
  environment_["ROLLCALL_HOME"] = "relative/home";
  EXPECT_EQ(run({"ps"}).code(), 2);
  environment_.erase("ROLLCALL_HOME");
  EXPECT_EQ(run({"ps"}).code(), 0);
  EXPECT_EQ(run({"--home", home_, "ps"}).code(), 0);
}

TEST_F(Ps, RefusesABrokenConfigurationNamingThePlace) {
  std::filesystem::create_directories(home_);
  std::ofstream(home_ + "/config.json") << "{\n oops }";
  ::chmod(home_.c_str(), 0700);
  ::chmod((home_ + "/config.json").c_str(), 0600);
  const Ran ran = run({"ps"});
  EXPECT_EQ(ran.code(), 5);
  EXPECT_NE(ran.err.find("config.json, line 2, column"), std::string::npos) << ran.err;
  std::ofstream(home_ + "/config.json") << R"({"nonsense":1})";
  EXPECT_NE(run({"ps"}).err.find("unknown key nonsense"), std::string::npos);
  ::chmod((home_ + "/config.json").c_str(), 0666);
  EXPECT_EQ(run({"ps"}).code(), 5);
}

TEST_F(Ps, ReadsAnotherUsersHomeOnlyAsRoot) {
  const Ran ran = run({"--user", "root", "ps"});
  if (::geteuid() != 0) {
    EXPECT_EQ(ran.code(), 4);
    return;
  }
  EXPECT_EQ(run({"--user", "nobody", "ps"}).out, "no running sessions\n");
  EXPECT_EQ(run({"--user", "no-such-user-here", "ps"}).code(), 2);
  EXPECT_EQ(run({"--user", "nobody", "stop", "some-id"}).code(), 4);
}

TEST_F(Ps, ReportsUsageInJsonToo) {
  const Ran ran = run({"ps", "--nonsense", "--json"});
  EXPECT_EQ(ran.code(), 2);
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "schema"), "rollcall.error/1");
  EXPECT_EQ(string_at(json, "error.code"), "usage");
  EXPECT_TRUE(at(json, "error").HasMember("object"));
}

TEST_F(Ps, ReportsAGoodDoorAmongHungOnes) {
  auto good = session("s-good", {"sleep", "60"});
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 64), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = "\"127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "\"";
  for (int i = 0; i < 30; ++i) {
    put_record_of("s-hung-" + std::to_string(10 + i), ::getpid(), "", url);
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto json = parse_json(run({"ps", "--json", "--timeout", "700ms"}).out);
  const auto spent = std::chrono::steady_clock::now() - begun;
  ::close(listener);
  ASSERT_EQ(at(json, "sessions").Size(), 31U);
  EXPECT_EQ(string_at(json, "sessions.30.status"), "live");
  EXPECT_EQ(string_at(json, "sessions.0.status"), "unreachable");
  EXPECT_EQ(string_at(json, "sessions.0.reason.code"), "read-timeout");
  EXPECT_LT(spent, std::chrono::seconds(10));
  for (int i = 0; i < 30; ++i) {
    std::filesystem::remove(record_path("s-hung-" + std::to_string(10 + i)));
  }
}

TEST_F(Ps, WithoutProbingConnectsToNoDoor) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  put_record_of("s-1", ::getpid(), "",
                "\"127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "\"");
  const auto connections = [&] {
    int count = 0;
    for (int peer = 0; (peer = ::accept(listener, nullptr, nullptr)) >= 0; ++count) ::close(peer);
    return count;
  };
  const Ran unasked = run({"ps", "--no-probe", "--filter", "status=alive", "-q"});
  EXPECT_EQ(unasked.out, "s-1\n");
  EXPECT_EQ(connections(), 0);
  EXPECT_EQ(run({"ps", "--timeout", "100ms", "-q"}).out, "s-1\n");
  EXPECT_EQ(connections(), 1);
  ::close(listener);
}

TEST_F(Ps, SaysThatNoSessionMatchesAFilter) {
  put_record_of("s-1", ::getpid());
  EXPECT_EQ(run({"ps", "--filter", "name=other"}).out, "no session matches\n");
}

TEST_F(Ps, TellsAPidFromAnId) {
  const Ran ran = run({"verify", "4242"});
  EXPECT_EQ(ran.code(), 1);
  EXPECT_NE(ran.err.find("named by id"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace rollcall::regtool
