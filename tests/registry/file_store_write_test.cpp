// Writing a home: nothing half done, nothing replaced that was not meant.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "registry/staging_name.hpp"
#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(FileStoreCreate, WritesTheRecordAndLeavesNothingElse) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
  EXPECT_EQ(store->read("a", {})->bytes, record_bytes("a"));
}

TEST(FileStoreCreate, NeverReplaces) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const auto again = store->create_if_absent("a", record_bytes("a", "other"), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
  EXPECT_EQ(again.error().message, "session a is already registered");
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a"));
  EXPECT_EQ(names_in(home.running()).size(), 1U);
}

TEST(FileStoreCreate, RefusesIdsThatDifferInCaseOnly) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("s1", record_bytes("s1"), {}));
  const auto other = store->create_if_absent("S1", record_bytes("S1"), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kExists);
  EXPECT_NE(other.error().message.find("case"), std::string::npos);
  EXPECT_TRUE(store->create_if_absent("s2", record_bytes("s2"), {}));
}

TEST(FileStoreCreate, RefusesARecordThatNoReaderWouldOpen) {
  const Home home;
  const auto store = home.open();
  EXPECT_EQ(store->create_if_absent("a", std::string(kMaxRecordBytes + 1, 'x'), {}).error().code,
            ErrorCode::kTooLarge);
}

TEST(FileStoreReadOnly, ChangesNothing) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  home.plant("b.control", "t0ken");
  const auto store = home.open([](FileStore::Options& o) { o.read_only = true; });
  const auto stored = store->read("a", {}).value();
  EXPECT_EQ(store->create_if_absent("b", record_bytes("b"), {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(store->replace_if("a", stored.version, record_bytes("a"), {}).error().code,
            ErrorCode::kRefused);
  EXPECT_EQ(store->remove_if("a", stored.version, {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(store->archive_gone(stored, sample_record("a"), {}, {}).error().code,
            ErrorCode::kRefused);
  EXPECT_EQ(store->write_control("a", "t", false, {}).error().code, ErrorCode::kRefused);
  EXPECT_FALSE(store->quarantine(stored, {}, {}));
  EXPECT_EQ(names_in(home.running()), (std::vector<std::string>{"a.json", "b.control"}));
  EXPECT_EQ(names_in(home.path()), std::vector<std::string>{"running"});
}

TEST(FileStoreReplace, SwapsOneRecordForAnother) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const std::string version = store->read("a", {})->version;
  ASSERT_TRUE(store->replace_if("a", version, record_bytes("a", "new"), {}));
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "new"));
  EXPECT_EQ(store->replace_if("a", version, record_bytes("a", "newer"), {}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "new"));
  EXPECT_EQ(store->replace_if("b", version, record_bytes("b"), {}).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
}

TEST(FileStoreReplace, KeepsAForeignWritersRecordThatCameInBetween) {
  const Home home;
  const auto store = home.open([&](FileStore::Options& o) {
    o.before_step = [&](std::string_view step) {
      if (step == "swap") home.plant_over("a.json", record_bytes("a", "foreign"));
    };
  });
  home.plant("a.json", record_bytes("a"));
  const std::string version = store->read("a", {})->version;
  EXPECT_EQ(store->replace_if("a", version, record_bytes("a", "ours"), {}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "foreign"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
}

TEST(FileStoreLock, LetsNothingChangeWhileAnotherHoldsIt) {
  const Home home;
  const auto store = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 50; });
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const auto stored = store->read("a", {}).value();
  std::optional lock(home.hold_lock());
  const auto removed = store->remove_if("a", stored.version, {});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, ErrorCode::kTimeout);
  EXPECT_NE(removed.error().message.find(utf8(home.path() / "lock")), std::string::npos);
  EXPECT_EQ(store->archive_gone(stored, sample_record("a"), {}, {}).error().code,
            ErrorCode::kTimeout);
  EXPECT_TRUE(fs::exists(home.record("a")));
  EXPECT_TRUE(store->list({}));  // readers take none
  lock.reset();
  EXPECT_TRUE(store->remove_if("a", stored.version, {}));
}

TEST(FileStoreLock, EndsItsWaitWhenCancelledOrAtTheCallsDeadline) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const core::FileLock lock = home.hold_lock();
  Call cancelled;
  cancelled.cancel.cancel();
  EXPECT_EQ(store->remove_if("a", "v", cancelled).error().code, ErrorCode::kCancelled);
  Call late;
  late.deadline_ns = system_clock()->monotonic_ns() + 20'000'000;
  EXPECT_EQ(store->remove_if("a", "v", late).error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace rollcall
