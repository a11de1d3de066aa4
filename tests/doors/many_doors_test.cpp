// Many doors at once: one deadline, one question to the host, and no door judged falsely.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"

namespace rollcall::test {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

DoorServer::Behaviour good_door() {
  return [](DoorConnection& door) {
    door.read_request();
    door.send(ok_response(card_naming(kSession)));
  };
}

std::size_t count_of(const std::vector<DoorReading>& readings, std::string_view outcome) {
  return static_cast<std::size_t>(
      std::count_if(readings.begin(), readings.end(),
                    [&](const DoorReading& reading) { return outcome_of(reading) == outcome; }));
}

#if defined(_WIN32)
constexpr const char* kFullQueue = "refused";
#else
constexpr const char* kFullQueue = "connect-timeout";
#endif

TEST(ManyDoors, OneGoodDoorAmongHungOnesIsLiveWithinOneDeadline) {
  const DoorLimits limits{1'000'000'000, 1'500'000'000};
  SilentListener hung;
  std::vector<std::unique_ptr<SilentListener>> full;
  std::vector<std::unique_ptr<DoorServer>> good;
  std::vector<Record> records;
  for (int i = 0; i < 5; ++i) {
    full.push_back(std::make_unique<SilentListener>(0));
    full.back()->fill();
    good.push_back(std::make_unique<DoorServer>(good_door()));
    for (int j = 0; j < 4; ++j) records.push_back(record_of(hung.url()));
    records.push_back(record_of(full.back()->url()));
    records.push_back(record_of(good.back()->url()));
  }
  PortProbe probe;
  const auto start = SteadyClock::now();
  const auto readings = ask_all(records, probe, {.limits = limits});
  EXPECT_LT(seconds_since(start), 10.0) << "30 deadlines would be 45 s";
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const std::string outcome = outcome_of(readings[i]);
    if (i % 6 == 4) {  // a full queue: Windows refuses
      EXPECT_TRUE(outcome == "connect-timeout" || outcome == kFullQueue) << i << outcome;
    } else {
      EXPECT_EQ(outcome, i % 6 == 5 ? "live" : "read-timeout") << i;
    }
  }
}

TEST(ManyDoors, AThousandHungOnesCostOneDeadline) {
  if (!may_hold_sockets(1200)) GTEST_SKIP() << "the hard limit of descriptors is too low";
  SilentListener hung;
  const std::vector<Record> records(1000, record_of(hung.url()));
  PortProbe probe;
  const auto start = SteadyClock::now();
  const auto readings = ask_all(records, probe, {.limits = {2'000'000'000, 2'000'000'000}});
  EXPECT_LT(seconds_since(start), 20.0) << "a deadline each would be 2000 s";
  EXPECT_EQ(count_of(readings, "read-timeout"), 1000U);
}

TEST(ManyDoors, AreShownToTheHostTogether) {
  DoorServer server(good_door());
  const std::vector<Record> records(200, record_of(server.url()));
  PortProbe probe;
  const auto readings = ask_all(records, probe);
  EXPECT_EQ(count_of(readings, "live"), 200U);
  EXPECT_EQ(probe.sockets(), 200U);
  EXPECT_LT(probe.questions(), 50) << "the host reads the system's tables at each question";
}

TEST(ManyDoors, AreGivenUpWhenTheCallIsCancelled) {
  DoorServer hung([](DoorConnection& door) { door.hold(); });
  PortProbe probe;
  Call call;
  std::thread canceller([&] {
    hung.wait_for_connections(1);
    call.cancel.cancel();
  });
  const auto reading = ask_one(record_of(hung.url()), probe, {.call = call});
  canceller.join();
  EXPECT_EQ(outcome_of(reading), "unverified");
  EXPECT_NE(reading.detail.find("cancelled"), std::string::npos) << reading.detail;
}

TEST(ManyDoors, AreGivenUpAtTheCallsDeadline) {
  SilentListener hung;
  PortProbe probe;
  Call call;
  call.deadline_ns = system_clock()->monotonic_ns() + 100'000'000;
  const auto reading = ask_one(record_of(hung.url()), probe, {.call = call});
  EXPECT_EQ(outcome_of(reading), "unverified");
  EXPECT_NE(reading.detail.find("deadline"), std::string::npos) << reading.detail;
}

TEST(ManyDoors, EachHasItsOwnAnswer) {
  std::vector<std::unique_ptr<DoorServer>> servers;
  std::vector<Record> records;
  for (int i = 0; i < 20; ++i) {
    const std::string session = "ses_" + std::to_string(i);
    servers.push_back(std::make_unique<DoorServer>([session](DoorConnection& door) {
      door.read_request();
      door.send(ok_response(card_naming(session)));
    }));
    records.push_back(record_of(servers.back()->url()));
  }
  PortProbe probe;
  const auto readings = ask_all(records, probe);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(readings[static_cast<std::size_t>(i)].session, "ses_" + std::to_string(i));
  }
}

TEST(ManyDoors, AreCutOffTogetherWhereTheyFloodTogether) {
  const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
  const std::string piece(65536, ' ');
  DoorServer server([&](DoorConnection& door) {
    door.read_request();
    bool going = door.send(head);
    while (going) going = door.send(piece);
  });
  const std::vector<Record> records(40, record_of(server.url()));
  PortProbe probe;
  const auto readings = ask_all(records, probe);
  EXPECT_EQ(count_of(readings, "too-large"), 40U);
}

}  // namespace
}  // namespace rollcall::test
