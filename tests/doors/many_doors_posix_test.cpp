// Doors that are asked side by side by a process that may open few descriptors.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"

namespace rollcall::test {
namespace {

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
  void lower_to(rlim_t soft) const {
    rlimit limit = before_;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

 private:
  rlimit before_{};
};

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

}  // namespace
}  // namespace rollcall::test
