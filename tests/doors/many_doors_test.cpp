// Many doors at once: one deadline, one question to the host, and no door judged falsely.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

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

// The process's soft limit on descriptors, put back at the end.
class DescriptorLimit {
 public:
  DescriptorLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  [[nodiscard]] bool raise_to(rlim_t soft) const {
    rlimit limit = before_;
    limit.rlim_cur = std::max(soft, limit.rlim_cur);
    return limit.rlim_cur <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  }
  void lower_to(rlim_t soft) const {
    rlimit limit = before_;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

 private:
  rlimit before_{};
};

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
    const char* expected = i % 6 == 5 ? "live" : i % 6 == 4 ? "connect-timeout" : "read-timeout";
    EXPECT_EQ(outcome_of(readings[i]), expected) << i;
  }
}

TEST(ManyDoors, AThousandHungOnesCostOneDeadline) {
  const DescriptorLimit descriptors;
  if (!descriptors.raise_to(1200)) GTEST_SKIP() << "the hard limit of descriptors is too low";
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

TEST(ManyDoors, RunInWindowsWhereDescriptorsAreFew) {
  SilentListener hung;
  DoorServer server(good_door());
  std::vector<Record> records;
  for (int i = 0; i < 60; ++i) records.push_back(record_of(i % 2 == 0 ? hung.url() : server.url()));
  PortProbe probe;
  const DescriptorLimit descriptors;
  const int next = ::dup(0);  // the lowest free number
  ::close(next);
  descriptors.lower_to(static_cast<rlim_t>(next) + 40);
  const auto readings = ask_all(records, probe, {.limits = {500'000'000, 1'000'000'000}});
  EXPECT_EQ(count_of(readings, "live") + count_of(readings, "read-timeout"), 60U);
  EXPECT_EQ(count_of(readings, "live"), 30U);
  for (const auto& reading : readings) EXPECT_LT(reading.elapsed_ns, 20'000'000'000);
}

TEST(ManyDoors, AreLeftUnjudgedWhereNoDescriptorIsToBeHad) {
#if defined(ROLLCALL_SANITIZED)
  GTEST_SKIP() << "the sanitizer itself wants a pipe to look at an object";
#endif
  DoorServer server(good_door());
  PortProbe probe;
  const std::vector<Record> records(3, record_of(server.url()));
  std::vector<DoorReading> readings;
  {
    const DescriptorLimit descriptors;
    const int next = ::dup(0);
    ::close(next);
    descriptors.lower_to(static_cast<rlim_t>(next) + 1);  // the poller's own, and none for a socket
    readings = ask_all(records, probe, {.limits = {200'000'000, 200'000'000}});
  }
  EXPECT_EQ(count_of(readings, "unverified"), 3U);
  EXPECT_NE(readings[0].detail.find("ulimit"), std::string::npos) << readings[0].detail;
  EXPECT_EQ(server.connections(), 0U);
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
