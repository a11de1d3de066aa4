// The guard: it removes only what it wrote.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

TEST(Registration, StandsForAsLongAsItsGuardLives) {
  const Home home;
  {
    const Registration registration = guard(home, "a");
    EXPECT_TRUE(registration.active());
    EXPECT_EQ(registration.session_id(), "a");
    EXPECT_TRUE(fs::exists(home.record("a")));
  }
  EXPECT_FALSE(fs::exists(home.record("a")));
}

TEST(Registration, ReleasesOnceAndSaysSo) {
  const Home home;
  Registration registration = guard(home, "a");
  EXPECT_TRUE(registration.release());
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_FALSE(registration.active());
  EXPECT_FALSE(registration.release());
  EXPECT_TRUE(registration.session_id().empty());
}

TEST(Registration, RemovesItsRecordAlsoWhereALinkWasMadeToIt) {
  const Home home;
  Registration registration = guard(home, "a");
  const std::string version = home.open()->read("a", {})->version;
  const auto copy = home.dir().path() / "backup";
  fs::create_hard_link(home.record("a"), copy);
  // Whoever judged it before it changed has to judge it anew.
  EXPECT_EQ(home.open()->remove_if("a", version, {}).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(registration.release());
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_EQ(slurp(copy), record_bytes("a"));
}

TEST(Registration, LeavesARecordThatWasRewrittenInPlace) {
  const Home home;
  Registration registration = guard(home, "a");
  std::ofstream(home.record("a"), std::ios::binary)
      << record_bytes("a", "wOrker");  // as long as it was
  EXPECT_EQ(registration.release().error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "wOrker"));
}

TEST(Registration, MovesItsChargeAlong) {
  const Home home;
  Registration first = guard(home, "a");
  Registration second = std::move(first);
  EXPECT_FALSE(first.active());  // NOLINT(bugprone-use-after-move): what is asked
  EXPECT_TRUE(fs::exists(home.record("a")));
  second = guard(home, "b");
  EXPECT_FALSE(fs::exists(home.record("a")));
  EXPECT_TRUE(fs::exists(home.record("b")));
}

TEST(Registration, LeavesTheRecordOnceDetached) {
  const Home home;
  {
    Registration registration = guard(home, "a");
    registration.detach();
    EXPECT_FALSE(registration.active());
  }
  EXPECT_TRUE(fs::exists(home.record("a")));
}

TEST(Registration, LeavesARecordAndATokenThatAnotherWroteSince) {
  const Home home;
  const auto store = home.open();
  Registration control = Registration::adopt_control(
      store, "s", store->write_control("s", "first", false, {}).value());
  Registration record = guard(home, "s", "first");
  // Another takes the id over: its token, then its record.
  ASSERT_TRUE(store->write_control("s", "second", true, {}));
  ASSERT_TRUE(
      store->replace_if("s", store->read("s", {})->version, record_bytes("s", "second"), {}));
  EXPECT_EQ(record.release().error().code, ErrorCode::kConflict);
  EXPECT_EQ(control.release().error().code, ErrorCode::kConflict);
  EXPECT_FALSE(record.active());
  EXPECT_EQ(slurp(home.record("s")), record_bytes("s", "second"));
  EXPECT_EQ(*store->read_control("s", {}), "second");
}

TEST(Registration, RemovesTheTokenWithTheRecordWhicheverGuardGoesFirst) {
  for (const bool record_first : {true, false}) {
    const Home home;
    const auto store = home.open();
    Registration control = Registration::adopt_control(
        store, "s", store->write_control("s", "t0ken", false, {}).value());
    Registration record = guard(home, "s");
    if (record_first) {
      EXPECT_TRUE(record.release());
      EXPECT_TRUE(names_in(home.running()).empty());
      EXPECT_EQ(control.release().error().code, ErrorCode::kNotFound);
    } else {
      EXPECT_TRUE(control.release());
      EXPECT_TRUE(record.release());
    }
    EXPECT_TRUE(names_in(home.running()).empty());
  }
}

TEST(Registration, TriesAgainWhereTheLockWasHeld) {
  const Home home;
  const auto store = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 10; });
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  Registration registration = Registration::adopt(store, "a", store->read("a", {}).value().version);
  std::optional lock(home.hold_lock());
  EXPECT_EQ(registration.release().error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(registration.active());
  lock.reset();
  EXPECT_TRUE(registration.release());
  EXPECT_FALSE(fs::exists(home.record("a")));
}

}  // namespace
}  // namespace rollcall
