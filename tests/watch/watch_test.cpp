#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_dir.hpp"
#include "watch/watch_fixture.hpp"

namespace rollcall::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(WatchTest, BeginsWithWhatIsThere) {
  put("web", 7);
  put("old", 8);
  runs(7);
  EXPECT_THAT(begin(), ElementsAre("present web", "(synced)"));
}

TEST_F(WatchTest, ArmsTheFolderBeforeItIsRead) {
  store->before_list = [this] {
    ASSERT_FALSE(watcher->steps.empty());
    EXPECT_EQ(watcher->steps.front(), "arm /records");
  };
  begin();
  EXPECT_EQ(store->lists, 1);
}

TEST_F(WatchTest, AnEndBetweenTheReadingAndThePinIsTold) {
  put("web", 7);
  probe->answer(7, {test::present(7, "78475"), test::absent(7)});
  watcher->pinned = [](std::int64_t pid) { return test::absent(pid); };
  EXPECT_THAT(begin(), ElementsAre("(synced)")) << "nothing is there, and nobody spoke of it";
  put("db", 8);
  probe->answer(8, {test::present(8, "78475"), test::absent(8)});
  watcher->changed("db.json");
  EXPECT_THAT(next(), ElementsAre("appeared db", "gone db"));
}

TEST_F(WatchTest, ASuccessorOnThePidIsNotPinned) {
  put("web", 7);
  probe->answer(7, {test::present(7, "78475"), test::present(7, "99999")});
  watcher->pinned = [](std::int64_t pid) { return test::present(pid, "99999"); };
  begin();
  EXPECT_TRUE(watcher->processes.empty());
}

TEST_F(WatchTest, GoneIsSaidOnAReadingAndNotOnAKernelEvent) {
  put("web", 7);
  runs(7);
  begin();
  watcher->ended(7);
  EXPECT_THAT(next(), IsEmpty()) << "it still reads as present";
  dies(7);
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("gone web")) << "the sweep finds it";
}

TEST_F(WatchTest, GoneIsSaidOnce) {
  put("web", 7);
  runs(7);
  begin();
  dies(7);
  watcher->ended(7);
  EXPECT_THAT(next(), ElementsAre("gone web"));
  watcher->changed("web.json");
  EXPECT_THAT(next(), IsEmpty());
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty());
  store->rows.clear();
  watcher->changed("web.json");
  EXPECT_THAT(next(), IsEmpty());
}

TEST_F(WatchTest, AReadingThatFailedIsNoDeath) {
  put("web", 7);
  runs(7);
  begin();
  probe->answer(7, {test::unreadable(7, "no permission")});
  watcher->ended(7);
  EXPECT_THAT(next(), IsEmpty());
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("unreachable web"));
}

TEST_F(WatchTest, ARecordThatCannotBeReadForAMomentIsNotRemoved) {
  put("web", 7);
  runs(7);
  begin();
  store->rows.find("web")->second.problem = "torn";
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty());
  watcher->changed("web.json");
  EXPECT_THAT(next(), IsEmpty());
}

TEST_F(WatchTest, AStoreThatCannotBeReadIsNoticedAndNothingIsTakenForGone) {
  put("web", 7);
  runs(7);
  begin();
  store->problem = "the disk is broken";
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("(store)"));
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty()) << "once is enough";
  store->problem.clear();
  dies(7);
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("gone web"));
}

TEST_F(WatchTest, AfterAnOverflowAllIsReadAnew) {
  put("web", 7);
  put("db", 8);
  runs(7);
  runs(8);
  begin();
  store->rows.erase("web");
  put("new", 9);
  runs(9);
  watcher->events.push_back({KernelEventKind::kOverflow, 0, {}});
  EXPECT_THAT(next(), ElementsAre("appeared new", "removed web", "(overflow)"));
}

TEST_F(WatchTest, OneChangeReadsOneRecord) {
  for (int i = 1; i <= 9; ++i) {
    put("s" + std::to_string(i), i + 10);
    runs(i + 10);
  }
  begin();
  put("s1", 11, "renamed");
  watcher->changed("s1.json");
  watcher->changed(".staged");
  watcher->changed("s1.control");
  EXPECT_THAT(next(), ElementsAre("changed s1"));
  EXPECT_EQ(store->lists, 1);
}

TEST_F(WatchTest, NothingIsReadBetweenTwoSweeps) {
  put("web", 7);
  runs(7);
  begin();
  dies(7);
  EXPECT_THAT(next(29 * kSecondNs), IsEmpty());
  EXPECT_EQ(store->lists, 1);
  EXPECT_THAT(next(2 * kSecondNs), ElementsAre("gone web"));
}

TEST_F(WatchTest, WhatFindsNoDescriptorIsPolledAndThatIsSaid) {
  put("web", 7);
  put("db", 8);
  runs(7);
  runs(8);
  watcher->most_processes = 1;
  auto told = begin();
  ASSERT_THAT(told, ElementsAre("present db", "present web", "(synced)", "(polling)"));
  EXPECT_THAT(last.back().notice->text, HasSubstr("no more descriptors"));
  dies(7);
  dies(8);
  EXPECT_THAT(next(3 * kSecondNs), ElementsAre("gone db", "(watching)"))
      << "the one that is polled";
  watcher->ended(7);
  EXPECT_THAT(next(), ElementsAre("gone web"));
}

TEST_F(WatchTest, AFolderThatFindsNoWatchIsPolledAndThatIsSaid) {
  watcher->no_directories = "watches are used up";
  EXPECT_THAT(begin(), ElementsAre("(synced)", "(polling)"));
  put("web", 7);
  runs(7);
  EXPECT_THAT(next(3 * kSecondNs), ElementsAre("appeared web"));
  watcher->no_directories.clear();
  EXPECT_THAT(next(60 * kSecondNs), ElementsAre("(watching)")) << "the sweep tries again";
}

TEST_F(WatchTest, AKernelThatFailsLaterIsPolledAround) {
  put("web", 7);
  runs(7);
  begin();
  watcher->failure = "epoll is broken";
  EXPECT_THAT(next(), ElementsAre("(polling)"));
  EXPECT_THAT(last.back().notice->text, HasSubstr("epoll is broken"));
}

TEST_F(WatchTest, WithoutAWatcherAllIsPolled) {
  put("web", 7);
  runs(7);
  const auto told = begin([](Watch::Options& options) {
    options.watcher = nullptr;
    options.no_watcher = "this platform has none";
  });
  EXPECT_THAT(told, ElementsAre("present web", "(synced)", "(polling)"));
  dies(7);
  clock->now += 3 * kSecondNs;
  EXPECT_THAT(next(0), ElementsAre("gone web"));
}

TEST_F(WatchTest, AJournalThatCannotBeWrittenHoldsNothingBack) {
  const TempDir dir;
  dir.write("home/letters.txt", "dear");  // no home of ours
  put("web", 7);
  runs(7);
  const auto told = begin([&](Watch::Options& options) {
    options.journal = *Journal::open({.home = utf8(dir / "home"), .clock = clock});
    options.journal_dir = utf8(dir / "home/journal");
  });
  EXPECT_THAT(told, ElementsAre("(journal)", "present web", "(synced)"));
  dies(7);
  watcher->ended(7);
  EXPECT_THAT(next(), ElementsAre("gone web"));
  EXPECT_EQ(last.back().cursor, std::nullopt);
}

void with_journal(Watch::Options& options, const std::filesystem::path& home,
                  std::shared_ptr<const Clock> clock) {
  options.journal = *Journal::open({.home = utf8(home), .clock = std::move(clock)});
  options.journal_dir = utf8(home / "journal");
}

TEST_F(WatchTest, WhatEndedWhileNobodyWatchedIsTold) {
  const TempDir dir;
  put("killed", 7);
  put("forgotten", 8);
  put("replaced", 9);
  put("stays", 10);
  for (const int pid : {7, 8, 9, 10}) runs(pid);
  begin([&](Watch::Options& options) { with_journal(options, dir / "home", clock); });
  const Cursor cursor = *last.back().cursor;
  watch.reset();
  dies(7);
  store->rows.erase("forgotten");
  dies(9);
  put("replaced", 11);
  runs(11);
  const auto told = begin([&](Watch::Options& options) {
    with_journal(options, dir / "home", clock);
    options.after = cursor;
  });
  EXPECT_THAT(told, UnorderedElementsAre("gone killed", "removed forgotten", "gone replaced",
                                         "appeared replaced", "(synced)"));
}

TEST_F(WatchTest, ThatTheJournalWasRemovedIsSaidOnce) {
  const TempDir dir;
  put("web", 7);
  runs(7);
  begin([&](Watch::Options& options) { with_journal(options, dir / "home", clock); });
  std::filesystem::remove_all(dir / "home/journal");
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("(lost)"));
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty());
  put("db", 8);
  runs(8);
  watcher->changed("db.json");
  EXPECT_THAT(next(), ElementsAre("appeared db")) << "in a journal that is begun anew";
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty());
  std::filesystem::remove_all(dir / "home/journal");
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("(lost)")) << "that is another one";
}

TEST_F(WatchTest, AHomeThatIsRemovedIsNotMadeAnew) {
  const TempDir dir;
  put("web", 7);
  runs(7);
  begin([&](Watch::Options& options) { with_journal(options, dir / "home", clock); });
  std::filesystem::remove_all(dir / "home");
  dies(7);
  watcher->ended(7);
  EXPECT_THAT(next(), ElementsAre("(journal)", "gone web"));
  EXPECT_EQ(last.back().cursor, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(dir / "home"));
}

TEST_F(WatchTest, ThatAStopIsAskedForIsNoWordOnTheSession) {
  const TempDir dir;
  const auto journal = *Journal::open({.home = utf8(dir / "home"), .clock = clock});
  put("web", 7);
  runs(7);
  begin([&](Watch::Options& options) {
    options.journal = journal;
    options.journal_dir = utf8(dir / "home/journal");
  });
  Event event;
  event.session_id = "web";
  event.kind = EventKind::kStopBegun;
  event.stop = StopRequest{};
  ASSERT_TRUE(journal->append(event, {}));
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), ElementsAre("stop_begun web"));
  clock->now += 40 * kSecondNs;
  EXPECT_THAT(next(), IsEmpty()) << "it is what it was";
}

TEST_F(WatchTest, ACancelledCallEndsIt) {
  begin();
  Call call;
  call.cancel.cancel();
  const auto items = watch->next(call);
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().code, ErrorCode::kCancelled);
}

TEST_F(WatchTest, RefusesToWatchNothing) {
  EXPECT_EQ(Watch::open({}, {}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace rollcall::testing
