// Stopping at the door first, and who the journal says has asked.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

// A socket that listens on loopback, and its url as JSON.
struct Listener {
  Listener() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd, 8), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url = "\"http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "\"";
  }
  ~Listener() { ::close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd;
  std::string url;
};

constexpr const char* kToken = R"(,"door_token":"0123456789abcdef0123456789abcdef")";

class StopDoor : public RegtoolTest {
 protected:
  [[nodiscard]] std::string log() const { return (dir_ / "log").string(); }
  // Notes each SIGTERM; `then` follows it.
  Started noting(const std::string& then) const {
    auto started = session("s-door",
                           {"sh", "-c",
                            "trap 'echo TERM >> " + log() + "; " + then + "' TERM; echo ready > " +
                                log() + "; while :; do sleep 0.02; done"},
                           {"--auth"});
    EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\n"; }));
    return started;
  }
  [[nodiscard]] std::string journal() const {
    std::string all;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(home_ + "/journal", error)) {
      if (entry.path().extension() == ".jsonl") all += testing::slurp(entry.path().string());
    }
    return all;
  }
};

TEST_F(StopDoor, IsAskedFirstAndEndsTheCommandByOneSigterm) {
  auto live = noting("exit 3");
  const Ran ran = run({"stop", "s-door", "--total", "20000", "--after", "15000", "--json"});
  EXPECT_EQ(ran.code(), 0) << ran.out << ran.err;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_TRUE(at(json, "door.accepted").GetBool()) << ran.out;
  EXPECT_TRUE(at(json, "door.reason").IsNull()) << ran.out;
  EXPECT_EQ(at(json, "signals").Size(), 0U) << ran.out;
  EXPECT_EQ(testing::slurp(log()), "ready\nTERM\n");
  EXPECT_EQ(finish(std::move(live)).code(), 3);
  EXPECT_FALSE(has_record("s-door"));
}

TEST_F(StopDoor, IsNotAskedWithNoDoor) {
  auto live = noting("exit 3");
  const auto json = parse_json(run({"stop", "s-door", "--no-door", "--json"}).out);
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_TRUE(at(json, "door").IsNull());
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
}

TEST_F(StopDoor, IsNotAskedWithoutAToken) {
  auto live = session("s-open", {"sleep", "600"});
  const auto json = parse_json(run({"stop", "s-open", "--json"}).out);
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_TRUE(at(json, "door").IsNull());
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
}

TEST_F(StopDoor, IsFollowedBySignalsWhereItAcceptedAndNothingEnds) {
  auto live = noting(":");
  const Ran ran = run({"stop", "s-door", "--after", "300", "--total", "900", "--json"});
  EXPECT_EQ(ran.code(), 1) << ran.out;
  const auto json = parse_json(ran.out);
  EXPECT_EQ(string_at(json, "outcome"), "still_there");
  EXPECT_TRUE(at(json, "door.accepted").GetBool());
  EXPECT_EQ(at(json, "signals").Size(), 2U);
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\nTERM\nTERM\nTERM\n"; }))
      << testing::slurp(log());
}

TEST_F(StopDoor, OfAStrangerIsSentNothingAndTheSignalsCome) {
  Listener listener;
  Child stranger = Child::run([&] {  // it writes down what it is sent
    for (;;) {
      const int peer = ::accept(listener.fd, nullptr, nullptr);
      char byte = 0;
      if (::read(peer, &byte, 1) == 1) return 7;
      ::close(peer);
    }
  });
  Child target = Child::sleeper();
  put_record_of("s-door", target.pid(), kToken, listener.url);
  ::shutdown(listener.fd, 0);  // ours; the stranger's stands
  const auto json = parse_json(run({"stop", "s-door", "--json"}).out);
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_FALSE(at(json, "door.accepted").GetBool());
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
  EXPECT_TRUE(stranger.alive());
}

TEST_F(StopDoor, ThatIsSilentCostsABoundedTime) {
  Listener listener;
  Child target = Child::run([&]() -> int {
    for (;;) ::pause();  // its listener is ours too: it inherited it
  });
  ::close(std::exchange(listener.fd, -1));
  put_record_of("s-door", target.pid(), kToken, listener.url);
  const auto begun = std::chrono::steady_clock::now();
  const auto json = parse_json(run({"stop", "s-door", "--after", "300", "--json"}).out);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_EQ(string_at(json, "outcome"), "ended");
  EXPECT_FALSE(at(json, "door.accepted").GetBool());
  EXPECT_EQ(string_at(json, "signals.0"), "SIGTERM");
}

TEST_F(StopDoor, JournalSaysWhoAskedWhyAndWhatCameOfIt) {
  auto live = session("s-told", {"sleep", "600"});
  EXPECT_EQ(run({"stop", "s-told", "--reason", "deploy 7"}).code(), 0);
  const std::string told = journal();
  EXPECT_NE(told.find("stop_requested"), std::string::npos) << told;
  EXPECT_NE(told.find("deploy 7"), std::string::npos) << told;
  EXPECT_NE(told.find("regtool, started by pid " + std::to_string(::getpid())), std::string::npos)
      << told;
  EXPECT_NE(told.find("SIGTERM"), std::string::npos) << told;
}

TEST_F(StopDoor, JournalKnowsWhoAskedThoughTheAskingProcessIsKilled) {
  auto live = noting(":");
  auto stop = start({"stop", "s-door", "--no-door", "--total", "60s", "--reason", "deploy 8"});
  EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\nTERM\n"; }));
  stop.child.signal(SIGKILL);
  ASSERT_TRUE(stop.child.wait());
  const std::string told = journal();
  EXPECT_NE(told.find("stop_begun"), std::string::npos) << told;
  EXPECT_NE(told.find("deploy 8"), std::string::npos) << told;
  EXPECT_EQ(told.find("stop_requested"), std::string::npos) << told;
  const std::string line = run({"events"}).out;
  EXPECT_NE(line.find("to send SIGTERM and SIGTERM: deploy 8"), std::string::npos) << line;
}

TEST_F(StopDoor, ThatIsInterruptedTellsWhatItDid) {
  for (const int signal : {SIGINT, SIGTERM}) {
    auto live = noting(":");
    auto stop =
        start({"stop", "s-door", "--no-door", "--json", "--after", "50s", "--total", "60s"});
    EXPECT_TRUE(wait_until([&] { return testing::slurp(log()) == "ready\nTERM\n"; }));
    stop.child.signal(signal);
    const Ran ran = finish(std::move(stop));
    EXPECT_EQ(ran.code(), 1) << ran.err;
    const auto json = parse_json(ran.out);
    EXPECT_EQ(string_at(json, "outcome"), "still_there");
    EXPECT_EQ(at(json, "signals").Size(), 1U) << ran.out;
    EXPECT_NE(string_at(json, "reason").find("cancelled"), std::string::npos) << ran.out;
    const auto events = parse_json(run({"events", "--json", "--limit", "1"}).out);
    EXPECT_EQ(string_at(events, "events.0.event"), "stop_requested");
    EXPECT_EQ(string_at(events, "events.0.stop.outcome"), "still_there");
    EXPECT_EQ(string_at(events, "events.0.stop.signals.0"), "SIGTERM");
    EXPECT_EQ(run({"kill", "s-door"}).code(), 0);
  }
}

TEST_F(StopDoor, JournalKnowsOfARefusalAndOfAKill) {
  put_record("s-doubt", record("s-doubt", ::getppid(), ""));
  EXPECT_EQ(run({"stop", "s-doubt"}).code(), 4);
  EXPECT_NE(journal().find("refused"), std::string::npos) << journal();
  auto live = session("s-kill", {"sleep", "600"});
  EXPECT_EQ(run({"kill", "s-kill", "--reason", "enough"}).code(), 0);
  EXPECT_NE(journal().find("enough"), std::string::npos) << journal();
}

}  // namespace
}  // namespace rollcall::regtool
