// A home of one test's own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/private_files.hpp"
#include "registry/record_samples.hpp"
#include "rollcall/file_store.hpp"
#include "rollcall/registration.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {

// The system's clock, with a wall clock that a test moves.
class ShiftedClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override { return real_->monotonic_ns(); }
  [[nodiscard]] std::int64_t unix_ns() const override { return real_->unix_ns() + shift_ns; }
  std::int64_t shift_ns = 0;

 private:
  std::shared_ptr<const Clock> real_ = system_clock();
};

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kMinute = 60 * kSecond;
inline constexpr std::int64_t kDay = 86'400 * kSecond;

inline std::string record_bytes(std::string_view id, std::string_view name = "worker") {
  Record record = sample_record(id);
  record.name = name;
  return *serialize_record(record);
}

class Home {
 public:
  using Tweak = std::function<void(FileStore::Options&)>;

  [[nodiscard]] std::shared_ptr<FileStore> open(const Tweak& tweak = {}) const {
    FileStore::Options options{.home = utf8(path()), .clock = clock};
    options.lock_timeout_ms = 30'000;  // a busy machine is no fault
    if (tweak) tweak(options);
    return FileStore::open(options).value();
  }
  [[nodiscard]] std::filesystem::path path() const { return dir_ / "home"; }
  [[nodiscard]] std::filesystem::path running() const { return path() / "running"; }
  [[nodiscard]] std::filesystem::path record(std::string_view id) const {
    return running() / (std::string(id) + ".json");
  }
  // Writes a file as a foreign program would.
  void plant(std::string_view name, std::string_view bytes) const {
    dir_.write("home/running/" + std::string(name), bytes);
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
    std::filesystem::permissions(running(), std::filesystem::perms::owner_all);
  }
  // As plant(), by rename over whatever stands there.
  void plant_over(std::string_view name, std::string_view bytes) const {
    plant("foreign-writer", bytes);
    std::filesystem::rename(running() / "foreign-writer", running() / name);
  }
  [[nodiscard]] const TempDir& dir() const { return dir_; }
  // Holds the lock of a home that is there, as another process would.
  [[nodiscard]] core::FileLock hold_lock() const {
    const auto home = core::PrivateDir::open(utf8(path()), core::current_owner()).value();
    return home->lock("lock", *clock, kNoDeadline, {}).value();
  }

  std::shared_ptr<ShiftedClock> clock = std::make_shared<ShiftedClock>();

 private:
  TempDir dir_;
};

// The names in a directory, sorted; none where there is no directory.
inline std::vector<std::string> names_in(const std::filesystem::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    names.push_back(utf8(entry.path().filename()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> names_of(const std::vector<StoredRecord>& records) {
  std::vector<std::string> names;
  for (const auto& record : records) names.push_back(record.name);
  return names;
}

inline std::string version_in(const Home& home, std::string_view id) {
  return home.open()->read(id, {}).value().version;
}

// A guarded record that was just made.
inline Registration guard(const Home& home, std::string_view id, std::string_view name = "worker") {
  const auto store = home.open();
  EXPECT_TRUE(store->create_if_absent(id, record_bytes(id, name), {}));
  return Registration::adopt(store, std::string(id), store->read(id, {}).value().version);
}

// Asks for each odd entry in turn, by list() and by read().
inline void expect_reported(const Home& home, std::string_view id, std::string_view what) {
  const auto store = home.open();
  const auto records = store->list({});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(names_of(*records), (std::vector<std::string>{"zz-good", std::string(id)}));
  const auto alone = store->read(id, {});
  ASSERT_TRUE(alone) << alone.error().message;
  for (const auto& record : {records->at(1), *alone}) {
    EXPECT_NE(record.problem.find(what), std::string::npos) << record.problem;
    EXPECT_NE(record.problem.find(utf8(home.record(id))), std::string::npos);
    EXPECT_TRUE(record.bytes.empty());
    EXPECT_TRUE(record.version.empty());
  }
  EXPECT_TRUE(records->at(0).problem.empty());
  EXPECT_EQ(names_in(home.running()).size(), 2U);
}

// In a child or another thread: says why and counts one up.
#define CHILD_CHECK(failures, condition)                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      ::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      ++(failures);                                                                    \
    }                                                                                  \
  } while (false)

}  // namespace rollcall::testing
