#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "regtool/regtool_fixture.hpp"
#include "rollcall/journal.hpp"

namespace rollcall::regtool {
namespace {

using namespace std::chrono_literals;

class Watching : public RegtoolTest {
 protected:
  // `regtool watch --json`, up to where it says that the present is told.
  Started watch(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"watch", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::find(words.begin(), words.end(), "--interval") == words.end()) {
      words.insert(words.end(), {"--interval", "1h"});
    }
    Started started = start(words);
    skipped_ = until(started, "synced");
    return started;
  }
  // Reads lines up to the event or notice `what` (of a session, if one is named), which is last.
  static std::vector<rapidjson::Document> until(const Started& started, const std::string& what,
                                                const std::string& session = {}) {
    std::vector<rapidjson::Document> lines;
    while (true) {
      const std::string line = read_line(started.out);
      if (line.empty() || line.back() != '\n') {
        ADD_FAILURE() << "no " << what << " " << session << " was told";
        lines.emplace_back().SetObject();
        return lines;
      }
      lines.push_back(parse_json(line));
      const auto& last = lines.back();
      const std::string word =
          last.HasMember("notice") ? string_at(last, "notice") : string_at(last, "event");
      if (word == what && (session.empty() || string_at(last, "session_id") == session)) {
        return lines;
      }
    }
  }
  static rapidjson::Document next(const Started& started, const std::string& what,
                                  const std::string& session = {}) {
    return std::move(until(started, what, session).back());
  }
  // Written as Rollcall writes: no reader sees half of it.
  void replace_record(const std::string& id, const std::string& bytes) const {
    const std::string staged = home_ + "/running/.staged";
    std::ofstream(staged, std::ios::binary) << bytes;
    ::chmod(staged.c_str(), 0600);
    std::filesystem::rename(staged, record_path(id));
  }
  static int end(Started& started, int signal) {
    started.child.signal(signal);
    const auto status = started.child.wait();
    if (!status) return -1;
    return WIFEXITED(*status) ? WEXITSTATUS(*status) : -WTERMSIG(*status);
  }
  [[nodiscard]] std::shared_ptr<Journal> journal() const {
    return Journal::open({.home = home_, .clock = system_clock()}).value();
  }

  std::vector<rapidjson::Document> skipped_;  // what watch() read
};

TEST_F(Watching, TellsTheEndOfASessionThatIsKilled) {
  Child child = Child::sleeper();
  const auto watch = this->watch();
  put_record_of("web", child.pid());
  const auto appeared = next(watch, "appeared", "web");
  EXPECT_EQ(string_at(appeared, "schema"), "rollcall.watch/1");
  EXPECT_EQ(string_at(appeared, "status"), "live");
  child.signal(SIGKILL);
  const auto gone = next(watch, "gone", "web");
  EXPECT_EQ(string_at(gone, "reason.code"), "no-process");
  EXPECT_EQ(string_at(gone, "process"), "gone");
  EXPECT_EQ(testing::state_of(child.pid()), 'Z') << "not reaped, and ended all the same";
  EXPECT_TRUE(has_record("web")) << "a watch removes nothing";
}

TEST_F(Watching, ARecordThatIsRemovedIsNoDeath) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch();
  std::filesystem::remove(record_path("web"));
  const auto removed = next(watch, "removed", "web");
  EXPECT_EQ(string_at(removed, "process"), "alive");
  child.signal(SIGKILL);
  EXPECT_EQ(string_at(next(watch, "gone", "web"), "process"), "gone");
}

TEST_F(Watching, ARecordThatComesBackAppearsAgain) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch();
  const std::string bytes = testing::slurp(record_path("web"));
  std::filesystem::remove(record_path("web"));
  (void)next(watch, "removed", "web");
  replace_record("web", bytes);
  EXPECT_EQ(string_at(next(watch, "appeared", "web"), "status"), "live");
}

TEST_F(Watching, TellsSuspendedAndContinued) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid(), R"(,"door":{"kind":"tcp"})", "\"127.0.0.1:1\"");
  const auto watch = this->watch({"--interval", "100ms", "--no-probe"});
  child.signal(SIGSTOP);
  EXPECT_EQ(string_at(next(watch, "unreachable", "web"), "reason.code"), "suspended");
  child.signal(SIGCONT);
  (void)next(watch, "alive", "web");
}

TEST_F(Watching, TellsADoorThatCloses) {
  const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(door, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(door, 8), 0);
  ASSERT_EQ(::getsockname(door, reinterpret_cast<sockaddr*>(&address), &size), 0);
  put_record_of("web", ::getpid(), R"(,"door":{"kind":"tcp"})",
                "\"127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "\"");
  const auto watch = this->watch({"--interval", "200ms"});
  EXPECT_EQ(string_at(skipped_.front(), "status"), "live");
  ::close(door);
  EXPECT_EQ(string_at(next(watch, "unreachable", "web"), "reason.code"), "refused");
}

TEST_F(Watching, TellsWhatARecordSaysAndNotThatItWasTouched) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch();
  ::chmod(record_path("web").c_str(), 0400);
  replace_record("web", testing::slurp(record_path("web")));
  std::string renamed = testing::slurp(record_path("web"));
  renamed.replace(renamed.find("\"name\":\"n\""), 10, "\"name\":\"m\"");
  replace_record("web", renamed);
  const auto changed = until(watch, "changed", "web");
  EXPECT_EQ(changed.size(), 1U);
  EXPECT_EQ(string_at(changed.back(), "name"), "m");
}

TEST_F(Watching, AnotherProcessUnderTheSameIdIsTheEndOfTheFirst) {
  Child first = Child::sleeper();
  put_record_of("web", first.pid());
  const auto watch = this->watch();
  Child second = Child::sleeper();
  first.signal(SIGKILL);
  ASSERT_TRUE(first.wait());
  replace_record("web", record("web", second.pid(), testing::start_token_of(second.pid())));
  const auto told = until(watch, "appeared", "web");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(string_at(told[0], "event"), "gone");
  EXPECT_EQ(number_at(told[0], "pid"), first.pid());
  EXPECT_EQ(number_at(told[1], "pid"), second.pid());
  second.signal(SIGKILL);
  EXPECT_EQ(number_at(next(watch, "gone", "web"), "pid"), second.pid());
}

TEST_F(Watching, SaysNothingOfADeadRecordThatNobodySpokeOf) {
  put_record("old", record("old", testing::free_pid(), "1"));
  Child child = Child::sleeper();
  const auto watch = this->watch();
  EXPECT_EQ(skipped_.size(), 1U);
  put_record_of("web", child.pid());
  EXPECT_EQ(until(watch, "appeared", "web").size(), 1U);
}

TEST_F(Watching, TellsTheEndOfOneThatCameAndWentBeforeItWasRead) {
  const auto watch = this->watch();
  put_record("web", record("web", testing::free_pid(), "1"));
  EXPECT_EQ(string_at(next(watch, "gone", "web"), "reason.code"), "no-process");
}

TEST_F(Watching, GoesOnBehindACursorWithWhatHappenedMeanwhile) {
  Child stays = Child::sleeper();
  Child goes = Child::sleeper();
  put_record_of("stays", stays.pid());
  put_record_of("goes", goes.pid());
  std::string cursor;
  {
    auto watch = this->watch();
    cursor = string_at(skipped_.back(), "cursor");
    EXPECT_EQ(skipped_.size(), 3U);
    EXPECT_EQ(end(watch, SIGTERM), 0);
  }
  goes.signal(SIGKILL);
  ASSERT_TRUE(goes.wait());
  Child comes = Child::sleeper();
  put_record_of("comes", comes.pid());
  const auto watch = this->watch({"--after", cursor});
  std::set<std::string> told;
  for (const auto& line : skipped_) {
    if (line.HasMember("event"))
      told.insert(string_at(line, "event") + " " + string_at(line, "session_id"));
  }
  EXPECT_EQ(told, (std::set<std::string>{"appeared comes", "gone goes"}));
}

TEST_F(Watching, SaysWhereACursorIsTooOldAndTellsThePresent) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch({"--after", "12345"});
  ASSERT_EQ(skipped_.size(), 3U);
  EXPECT_EQ(string_at(skipped_[0], "notice"), "lost");
  EXPECT_EQ(string_at(skipped_[1], "event"), "present");
}

TEST_F(Watching, TwoWatchersTellTheSameEachOnce) {
  const auto one = watch();
  const auto two = watch();
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  std::set<std::string> cursors;
  for (const Started* each : {&one, &two}) {
    cursors.insert(string_at(next(*each, "appeared", "web"), "cursor"));
  }
  child.signal(SIGKILL);
  for (const Started* each : {&one, &two}) {
    cursors.insert(string_at(next(*each, "gone", "web"), "cursor"));
  }
  EXPECT_EQ(cursors.size(), 2U);
  const auto all = parse_json(run({"events", "--json"}).out);
  EXPECT_EQ(at(all, "events").Size(), 2U);
}

TEST_F(Watching, TellsWhoAskedForAStop) {
  const auto watch = this->watch();
  Event event;
  event.kind = EventKind::kStopRequested;
  event.session_id = "web";
  event.stop = StopRequest{7, "bash\x1b[2J", "maintenance", {Signal::kTerm}, StopOutcome::kEnded};
  ASSERT_TRUE(journal()->append(event, {}));
  const auto told = next(watch, "stop_requested", "web");
  EXPECT_EQ(number_at(told, "stop.caller_pid"), 7);
  EXPECT_EQ(string_at(told, "stop.reason"), "maintenance");
  EXPECT_EQ(string_at(told, "stop.outcome"), "ended");
}

TEST_F(Watching, TellsThatRegtoolStoppedIt) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch();
  EXPECT_EQ(run({"stop", "web"}).code(), 0);
  const auto asked = next(watch, "stop_requested", "web");
  EXPECT_EQ(string_at(asked, "stop.signals.0"), "SIGTERM");
  EXPECT_EQ(string_at(asked, "stop.outcome"), "ended");
  EXPECT_TRUE(wait_until([&] {
    const auto told = parse_json(run({"events", "--json"}).out);
    const auto events = at(told, "events").GetArray();
    return std::any_of(events.begin(), events.end(),
                       [](const auto& event) { return string_at(event, "event") == "gone"; });
  })) << "its end is told beside it";
}

TEST_F(Watching, SeesAFolderThatGoesAndComesBack) {
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  const auto watch = this->watch();
  std::filesystem::rename(home_ + "/running", home_ + "/elsewhere");
  (void)next(watch, "removed", "web");
  std::filesystem::rename(home_ + "/elsewhere", home_ + "/running");
  (void)next(watch, "appeared", "web");
  child.signal(SIGKILL);
  (void)next(watch, "gone", "web");
}

TEST_F(Watching, BeginsWhereThereIsNoHomeYet) {
  const auto watch = this->watch();
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  (void)next(watch, "appeared", "web");
}

TEST_F(Watching, PollsAndSaysSoWhereDescriptorsRunOut) {
  std::vector<Child> children;
  for (int i = 0; i < 40; ++i) {
    children.push_back(Child::sleeper());
    put_record_of("s" + std::to_string(i), children.back().pid());
  }
  program_ = "/bin/sh";
  const auto watch =
      start({"-c", "ulimit -n 96; exec " + program() + " watch --json --interval 1h"});
  (void)until(watch, "synced");
  const auto polling = next(watch, "polling");
  EXPECT_NE(string_at(polling, "text").find("ulimit -n"), std::string::npos);
  // The last ones of the listing found the limit: which they are is no matter.
  for (Child& child : children) child.signal(SIGKILL);
  std::set<std::string> gone;
  while (gone.size() < children.size()) {
    const std::string id = string_at(next(watch, "gone"), "session_id");
    if (id == "(none)" || !gone.insert(id).second) break;
  }
  EXPECT_EQ(gone.size(), children.size());
}

TEST_F(Watching, DoesNothingWhileNothingHappens) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer has a thread of its own, which wakes";
#endif
  std::vector<Child> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(Child::sleeper());
    put_record_of("s" + std::to_string(i), children.back().pid());
  }
  const auto watch = this->watch();
  const std::string tasks = "/proc/" + std::to_string(watch.child.pid()) + "/task";
  const auto switches = [&] {
    std::string all;
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      const std::string status = testing::slurp(task.path() / "status");
      all += status.substr(status.find("voluntary_ctxt_switches"));
    }
    return all;
  };
  // A wait that is not left is no system call: no thread of it is ever switched to.
  EXPECT_TRUE(wait_until([&] {
    const std::string before = switches();
    std::this_thread::sleep_for(1s);
    return before == switches();
  })) << switches();
}

TEST_F(Watching, EndsCleanlyWhenAsked) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto watch = this->watch();
    EXPECT_EQ(end(watch, signal), 0) << signal;
  }
}

TEST_F(Watching, LeavesASignalIgnoredThatItWasStartedWithIgnored) {
  program_ = "/bin/sh";
  auto watch = start({"-c", "trap '' INT HUP; exec " + program() + " watch --json --interval 1h"});
  (void)until(watch, "synced");
  watch.child.signal(SIGINT);
  watch.child.signal(SIGHUP);
  Child child = Child::sleeper();
  put_record_of("web", child.pid());
  (void)next(watch, "appeared", "web");
  EXPECT_EQ(end(watch, SIGTERM), 0);
}

TEST_F(Watching, EndsQuietlyWhereNobodyReadsThoughNothingHappens) {
  auto watch = this->watch();
  ::close(std::exchange(watch.out, -1));
  const auto status = watch.child.wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
  EXPECT_EQ(read_line(watch.err), "");
}

TEST_F(Watching, TellsEachThingInALineForPeople) {
  Child child = Child::sleeper();
  const auto watch = start({"watch", "--interval", "1h", "-v"});
  while (read_line(watch.err).find("is the present") == std::string::npos) {
  }
  put_record_of("web", child.pid(), R"(,"door_token":"sEcReT")");
  const std::string line = read_line(watch.out);
  EXPECT_NE(line.find("appeared"), std::string::npos) << line;
  EXPECT_NE(line.find("pid " + std::to_string(child.pid())), std::string::npos) << line;
  for (const auto& file : std::filesystem::directory_iterator(home_ + "/journal")) {
    EXPECT_EQ(testing::slurp(file.path()).find("sEcReT"), std::string::npos);
  }
}

TEST_F(Watching, WatchesAStoreOfAnotherProgramToo) {
  const auto folder = dir_ / "running";
  std::filesystem::create_directory(folder);
  ::chmod(folder.c_str(), 0700);
  const auto watch = this->watch({"--store", "rollcall", "--store", "murmur=" + folder.string()});
  Child child = Child::sleeper();
  std::string bytes = record("web", child.pid(), testing::start_token_of(child.pid()));
  bytes.replace(bytes.find("\"name\""), 6, "\"capsule_name\"");
  bytes.replace(bytes.find("\"version\""), 9, "\"capsule_version\"");
  std::ofstream(folder / ".staged") << bytes;
  ::chmod((folder / ".staged").c_str(), 0600);
  std::filesystem::rename(folder / ".staged", folder / "web.json");
  EXPECT_EQ(string_at(next(watch, "appeared", "web"), "store"), "murmur=" + folder.string());
  child.signal(SIGKILL);
  (void)next(watch, "gone", "web");
}

TEST_F(Watching, EventsGivesTheLastOnesAndWhatIsBehindACursor) {
  for (const char* id : {"a", "b", "c"}) {
    Event event;
    event.kind = EventKind::kAppeared;
    event.session_id = id;
    ASSERT_TRUE(journal()->append(event, {}));
  }
  const auto last = parse_json(run({"events", "--json", "--limit", "2"}).out);
  EXPECT_EQ(string_at(last, "schema"), "rollcall.events/1");
  ASSERT_EQ(at(last, "events").Size(), 2U);
  EXPECT_EQ(string_at(last, "events.0.session_id"), "b");
  const auto behind =
      parse_json(run({"events", "--json", "--after", string_at(last, "events.0.cursor")}).out);
  ASSERT_EQ(at(behind, "events").Size(), 1U);
  EXPECT_EQ(string_at(behind, "events.0.session_id"), "c");
  EXPECT_EQ(string_at(behind, "next"), string_at(behind, "events.0.cursor"));
  const Ran old = run({"events", "--json", "--after", "7"});
  EXPECT_EQ(old.code(), 0);
  EXPECT_TRUE(at(parse_json(old.out), "lost").GetBool());
  EXPECT_NE(old.err.find("entries are missing"), std::string::npos);
  EXPECT_EQ(run({"events", "--after", "07"}).code(), 2);
}

TEST_F(Watching, EventsNamesNoCursorThatNobodyGave) {
  const auto small =
      Journal::open({.home = home_, .clock = system_clock(), .segment_bytes = 1}).value();
  for (const char* id : {"a", "b", "c"}) {
    Event event;
    event.kind = EventKind::kAppeared;
    event.session_id = id;
    ASSERT_TRUE(small->append(event, {}));
  }
  std::vector<std::filesystem::path> parts;
  for (const auto& file : std::filesystem::directory_iterator(home_ + "/journal")) {
    if (file.path().extension() == ".jsonl") parts.push_back(file.path());
  }
  std::sort(parts.begin(), parts.end());
  ASSERT_EQ(parts.size(), 3U);
  std::filesystem::remove(parts[1]);
  const Ran ran = run({"events"});
  EXPECT_NE(ran.err.find("a part of the journal was removed"), std::string::npos) << ran.err;
}

TEST_F(Watching, AfterAnOverflowItsViewIsThatOfPs) {
  const char* const kQueue = "/proc/sys/fs/inotify/max_queued_events";
  const std::string before = testing::slurp(kQueue);
  std::ofstream(kQueue) << "64";
  if (testing::slurp(kQueue) != "64\n") GTEST_SKIP() << "lowering the queue needs root";
  Child child = Child::sleeper();
  put_record_of("kept", child.pid());
  put_record_of("removed", child.pid());
  const auto watch = this->watch();  // a queue's length is that of its making
  std::ofstream(kQueue) << before;
  watch.child.signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return testing::state_of(watch.child.pid()) == 'T'; }));
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = "s" + std::to_string(i);
    put_record_of(id, child.pid());
    if (i % 1000 != 0) std::filesystem::remove(record_path(id));
  }
  std::filesystem::remove(record_path("removed"));
  watch.child.signal(SIGCONT);
  std::set<std::string> view = {"kept", "removed"};
  for (const auto& line : until(watch, "overflow")) {
    if (!line.HasMember("event")) continue;
    const std::string word = string_at(line, "event");
    if (word == "gone" || word == "removed") {
      view.erase(string_at(line, "session_id"));
    } else {
      view.insert(string_at(line, "session_id"));
    }
  }
  std::set<std::string> listed;
  const auto ps = parse_json(run({"ps", "--json", "--no-prune"}).out);
  for (const auto& row : at(ps, "sessions").GetArray())
    listed.insert(row["session_id"].GetString());
  EXPECT_EQ(view, listed);
  EXPECT_EQ(listed.size(), 21U);
}

}  // namespace
}  // namespace rollcall::regtool
