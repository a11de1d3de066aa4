#include "doors/session_door.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"

namespace rollcall::test {
namespace {

std::unique_ptr<SessionDoor> open_door(std::optional<std::string> token = {},
                                       std::int64_t connection_ms = 20'000, int connections = 8) {
  SessionDoor::Options options;
  options.session_id = kSession;
  options.name = "agent";
  options.version = "1.0";
  options.token = std::move(token);
  options.connection_ms = connection_ms;
  options.max_connections = connections;
  auto door = SessionDoor::open(std::move(options));
  EXPECT_TRUE(door) << door.error().message;
  return door ? std::move(*door) : nullptr;
}

// A raw client.
class Client {
 public:
  explicit Client(const SessionDoor& door) : socket_(connect_to(door.port(), true)) {
    EXPECT_GE(socket_, 0);
  }
  ~Client() { close_socket(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool send(std::string_view text) {
    return send_some(socket_, text) == static_cast<std::int64_t>(text.size());
  }
  // Until the door closes.
  std::string read_all() { return read_until(std::nullopt); }
  // Or until that was read.
  std::string read_until(std::optional<std::string_view> last) {
    std::string text;
    char piece[4096];
    for (std::int64_t got = 1; got > 0 && (!last || text.find(*last) == std::string::npos);) {
      got = receive_some(socket_, piece, sizeof(piece));
      if (got > 0) text.append(piece, static_cast<std::size_t>(got));
      if (got < 0) timed_out_ = patience_is_over();
    }
    return text;
  }
  [[nodiscard]] bool timed_out() const { return timed_out_; }

 private:
  RawSocket socket_;
  bool timed_out_ = false;
};

std::string request_for(const SessionDoor& door, std::string_view line,
                        std::string_view fields = {}, std::string_view body = {}) {
  return std::string(line) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(door.port()) +
         "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

std::string talk(const SessionDoor& door, std::string_view request) {
  Client client(door);
  EXPECT_TRUE(client.send(request));
  return client.read_all();
}

TEST(SessionDoor, IsProvenLiveByOurOwnProber) {
  const auto door = open_door();
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url()))), "live");
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url(), kToken))), "live");
  const DoorSpec legacy{"a2a", {{"legacy_card_path", "1"}}};
  EXPECT_EQ(outcome_of(ask_one(record_of(legacy, door->url()))), "live");
}

TEST(SessionDoor, IsProvenLiveWithItsTokenOnly) {
  const auto door = open_door(kToken);
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url(), kToken))), "live");
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url(), "other"))), "token-refused");
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url()))), "token-missing");
}

// Who accepts to be stopped may end at once.
TEST(SessionDoor, HasAnsweredBeforeItEndsAnything) {
  std::promise<void> answered;
  bool in_time = false;
  SessionDoor::Options options;
  options.session_id = kSession;
  options.token = kToken;
  options.on_stop = [&, heard = answered.get_future().share()](const std::string&) {
    in_time = heard.wait_for(std::chrono::seconds(2)) == std::future_status::ready;
  };
  auto door = SessionDoor::open(std::move(options));
  ASSERT_TRUE(door) << door.error().message;
  const std::string body =
      R"({"jsonrpc":"2.0","id":"x","method":"session/stop","params":{"sessionId":")" +
      std::string(kSession) + R"(","reason":"r"}})";
  Client client(**door);
  ASSERT_TRUE(client.send(request_for(**door, "POST /",
                                      "Authorization: Bearer " + std::string(kToken) +
                                          "\r\nContent-Type: application/json\r\n" +
                                          "Content-Length: " + std::to_string(body.size()) + "\r\n",
                                      body)));
  EXPECT_NE(client.read_until(R"("accepted":true)").find("HTTP/1.1 200"), std::string::npos);
  answered.set_value();
  door->reset();
  EXPECT_TRUE(in_time);
}

TEST(SessionDoor, ListensOnLoopbackOnAnyPort) {
  const auto first = open_door();
  const auto second = open_door();
  EXPECT_NE(first->port(), second->port());
  EXPECT_EQ(first->url(), "http://127.0.0.1:" + std::to_string(first->port()));
}

TEST(SessionDoor, RefusesWhatItCannotServe) {
  EXPECT_FALSE(SessionDoor::open({.session_id = "../x"}));
  const auto bad = SessionDoor::open({.session_id = kSession, .token = "s3c ret"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("s3c"), std::string::npos) << "the token is not shown";
  const auto door = open_door();
  const auto taken = SessionDoor::open({.session_id = kSession, .port = door->port()});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
}

TEST(SessionDoor, RefusesOriginsOverTheWire) {
  const auto door = open_door();
  const auto answer = talk(*door, request_for(*door, "GET /.well-known/agent-card.json",
                                              "Origin: http://127.0.0.1\r\n"));
  EXPECT_EQ(answer.find("HTTP/1.1 403"), 0U) << answer;
  EXPECT_EQ(answer.find(kSession), std::string::npos);
}

TEST(SessionDoor, RefusesForeignHostsOverTheWire) {
  const auto door = open_door();
  const auto answer =
      talk(*door, "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 421"), 0U) << answer;
  const auto twice =
      talk(*door, request_for(*door, "GET /.well-known/agent-card.json", "Host: evil.example\r\n"));
  EXPECT_EQ(twice.find("HTTP/1.1 421"), 0U) << twice;
}

TEST(SessionDoor, ChallengesOverTheWire) {
  const auto door = open_door(kToken);
  const std::string body = R"({"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"})";
  const auto answer = talk(*door, request_for(*door, "POST /",
                                              "Content-Type: application/json\r\nContent-Length: " +
                                                  std::to_string(body.size()) + "\r\n",
                                              body));
  EXPECT_EQ(answer.find("HTTP/1.1 401"), 0U) << answer;
  EXPECT_NE(answer.find("WWW-Authenticate: Bearer"), std::string::npos);
}

TEST(SessionDoor, SendsNoBodyToHead) {
  const auto door = open_door();
  const auto answer = talk(*door, request_for(*door, "HEAD /.well-known/agent-card.json"));
  EXPECT_EQ(answer.find("HTTP/1.1 200"), 0U);
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST(SessionDoor, CutsOffASlowRequestAsAWhole) {
  const auto door = open_door({}, 300);
  Client client(*door);
  client.send("GET /.well-known/agent-card.json HTTP/1.1\r\nX: ");
  bool open = true;
  for (int i = 0; i < 1000 && open; ++i) {  // each byte would begin a time-out per read anew
    open = client.send("y");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(open) << "20 s of a byte every 20 ms";
}

TEST(SessionDoor, CutsOffASilentConnection) {
  const auto door = open_door({}, 300);
  Client client(*door);
  client.read_all();
  EXPECT_FALSE(client.timed_out());
}

TEST(SessionDoor, CutsOffALargeHeader) {
  const auto door = open_door();
  Client client(*door);
  std::string flood = "GET /.well-known/agent-card.json HTTP/1.1\r\n";
  for (int i = 0; i < 100'000; ++i) flood += "X" + std::to_string(i) + ": " + "yyyyyyyyyy\r\n";
  client.send(flood);
  const auto answer = client.read_all();
  EXPECT_FALSE(client.timed_out());
  EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos);
}

TEST(SessionDoor, CutsOffALargeBody) {
  const auto door = open_door();
  Client client(*door);
  client.send(request_for(*door, "POST /",
                          "Content-Type: application/json\r\nContent-Length: 100000000\r\n"));
  const std::string piece(65536, ' ');
  for (int i = 0; i < 1500 && client.send(piece); ++i) {
  }
  const auto answer = client.read_all();
  EXPECT_FALSE(client.timed_out());
  EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos);
}

TEST(SessionDoor, AnswersOthersWhileSomeHangOn) {
  const auto door = open_door({}, 20'000, 8);
  std::vector<std::unique_ptr<Client>> hanging;
  for (int i = 0; i < 6; ++i) hanging.push_back(std::make_unique<Client>(*door));
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url()))), "live");
}

TEST(SessionDoor, AnswersThoseWhoWaitedOnceTheHangingAreCutOff) {
  const auto door = open_door({}, 300, 1);
  Client hanging(*door);
  hanging.send("GET /");
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url()))), "live");
}

TEST(SessionDoor, StopsAtOnceWhileConnectionsHangOn) {
  auto door = open_door({}, 600'000);
  Client silent(*door);
  Client half(*door);
  half.send("GET /");
  EXPECT_EQ(outcome_of(ask_one(record_of(door->url()))), "live");
  const std::string url = door->url();
  door.reset();  // would take ten minutes if it waited for them
  EXPECT_EQ(outcome_of(ask_one(record_of(url))), "refused");
}

// Poco wakes one of the threads that wait for a connection; the others would sleep on for ten
// seconds, and whoever connected a few times would hold up the end of the command.
TEST(SessionDoor, StopsAtOnceHoweverManyConnectionsItAnswered) {
  const auto begun = std::chrono::steady_clock::now();
  for (int round = 0; round < 10; ++round) {
    auto door = open_door({}, 20'000);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 8; ++i) {
      clients.push_back(std::make_unique<Client>(*door));
      clients.back()->send(request_for(*door, "GET /.well-known/agent-card.json"));
    }
    for (const auto& client : clients)
      EXPECT_NE(client->read_all().find("200 OK"), std::string::npos);
    door.reset();
    ASSERT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(9)) << round;
  }
}

}  // namespace
}  // namespace rollcall::test
