// Writers killed at random instants, while a reader reads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "registry/posix_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

constexpr int kWriters = 1000;
constexpr int kHomes = 4;  // a writer at a time in each, so that none waits for a lock

// Replaces "kept" and makes and removes "passing", for ever. `began` is counted up at each round.
int write_for_ever(const Home& home, std::atomic<unsigned>& began) {
  const auto store = home.open();
  store->set_writer({.pid = ::getpid(), .start_token = "1", .boot_id = "b"});
  for (unsigned round = 0;; ++round) {
    const auto kept = store->read("kept", {});
    if (!kept) return 1;
    began.fetch_add(1);
    const std::string name(200 + round % 7 * 300, static_cast<char>('a' + round % 26));
    if (!store->replace_if("kept", kept->version, record_bytes("kept", name), {})) return 2;
    if (const auto passing = store->read("passing", {})) {
      if (!store->remove_if("passing", passing->version, {})) return 3;
    } else if (!store->create_if_absent("passing", record_bytes("passing"), {})) {
      return 4;
    }
  }
}

// Until `stop`: every record that is listed is whole, and "kept" is always there.
int read_for_ever(const std::array<Home, kHomes>& homes, const std::atomic<unsigned>& stop) {
  int failures = 0;
  unsigned rounds = 0;
  while (stop.load() == 0 && failures == 0) {
    for (const Home& home : homes) {
      const auto store = home.open();
      const auto records = store->list({});
      CHILD_CHECK(failures, records.has_value());
      if (!records) return failures;
      for (const auto& record : *records) {
        CHILD_CHECK(failures, record.problem.empty());
        CHILD_CHECK(failures, parse_record(record.bytes, record.name).has_value());
      }
      CHILD_CHECK(failures, store->read("kept", {}).has_value());
    }
    ++rounds;
  }
  CHILD_CHECK(failures, rounds > 0);
  return failures;
}

// Memory that children share with us.
struct Shared {
  std::array<std::atomic<unsigned>, kHomes> began{};
  std::atomic<unsigned> stop{0};
};

TEST(FileStoreCrash, NeverTearsOrLosesARecordWhenWritersAreKilled) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* shared = new (memory) Shared;
  const std::array<Home, kHomes> homes;
  for (const Home& home : homes) {
    ASSERT_TRUE(home.open()->create_if_absent("kept", record_bytes("kept"), {}));
  }
  auto reader = Child::run([&] { return read_for_ever(homes, shared->stop); });
  std::mt19937 random(20260915);  // NOLINT(cert-msc51-cpp): the same instants each time
  for (int batch = 0; batch < kWriters / kHomes; ++batch) {
    std::vector<Child> writers;
    for (std::size_t i = 0; i < kHomes; ++i) {
      shared->began[i].store(0);
      writers.push_back(Child::run([&, i] { return write_for_ever(homes[i], shared->began[i]); }));
    }
    for (std::size_t i = 0; i < kHomes; ++i) {
      ASSERT_TRUE(wait_until([&] { return shared->began[i].load() > 0 || !writers[i].alive(); }));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));  // the instant
    for (Child& writer : writers) writer.signal(SIGKILL);
    for (Child& writer : writers) {
      const auto status = writer.wait();
      ASSERT_TRUE(status && WIFSIGNALED(*status)) << "exit code " << WEXITSTATUS(*status);
    }
  }
  shared->stop.store(1);
  EXPECT_EQ(reader.wait(), 0);
  for (const Home& home : homes) {
    home.clock->shift_ns = 2 * kMinute;
    const auto store = home.open();
    ASSERT_TRUE(store->sweep_staging([](const ProcessIdentity&) { return true; }, {}));
    for (const auto& name : names_in(home.running())) {
      EXPECT_TRUE(name == "kept.json" || name == "passing.json") << name;
    }
    const auto kept = store->read("kept", {});
    ASSERT_TRUE(kept);
    EXPECT_TRUE(parse_record(kept->bytes, "kept"));
  }
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace rollcall
