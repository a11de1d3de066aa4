#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/text.hpp"
#include "journal/journal_fixture.hpp"

namespace rollcall::testing {
namespace {

using ::testing::ElementsAre;
using Ids = std::vector<std::string>;

TEST(Journal, GivesBackEveryPartOfAnEvent) {
  const JournalHome home;
  const auto journal = home.open();
  Event event = event_of("web", EventKind::kUnreachable);
  event.unix_ns = 1'764'453'600'123'000'000;
  event.store = "jupyter";
  event.status = Verdict::kUnreachable;
  event.reason = Reason::kReadTimeout;
  event.text = "it did not answer within 5 s";
  event.url = "http://127.0.0.1:40123";
  ASSERT_TRUE(journal->append(event, {}));
  Event stop = event_of("web", EventKind::kStopRequested);
  stop.unix_ns = 1'764'453'601'000'000'000;
  stop.stop = StopRequest{
      7, "bash", "the disk is full", {Signal::kTerm, Signal::kTerm}, StopOutcome::kStillThere};
  ASSERT_TRUE(journal->append(stop, {}));
  Event begun = event_of("web", EventKind::kStopBegun);
  begun.unix_ns = stop.unix_ns;
  begun.stop = StopRequest{7, "bash", {}, {}, std::nullopt, {Signal::kKill}, true, true, 3, 4};
  ASSERT_TRUE(journal->append(begun, {}));
  const auto page = page_of(*journal);
  ASSERT_EQ(page.entries.size(), 3u);
  EXPECT_EQ(page.entries[0].event, event);
  EXPECT_EQ(page.entries[1].event, stop);
  EXPECT_EQ(page.entries[2].event, begun);
  EXPECT_FALSE(page.lost);
  EXPECT_EQ(page.damaged, 0u);
}

TEST(Journal, KeepsTheTextOfAnEventWithoutAReason) {
  const JournalHome home;
  const auto journal = home.open();
  Event event = event_of("web", EventKind::kRemoved);
  event.text = "its record was removed";
  ASSERT_TRUE(journal->append(event, {}));
  EXPECT_EQ(page_of(*journal).entries.front().event.text, event.text);
}

TEST(Journal, IsEmptyWhereThereIsNone) {
  const JournalHome home;
  const auto journal = home.open();
  const auto page = page_of(*journal);
  EXPECT_TRUE(page.entries.empty());
  EXPECT_FALSE(page.lost);
  EXPECT_EQ(journal->end().value(), 0u);
  EXPECT_FALSE(std::filesystem::exists(home.home.path())) << "reading makes nothing";
}

TEST(Journal, GoesOnBehindACursor) {
  const JournalHome home;
  const auto journal = home.open();
  ASSERT_TRUE(journal->append(event_of("a"), {}));
  const auto cursor = journal->append(event_of("b"), {});
  ASSERT_TRUE(cursor);
  EXPECT_EQ(journal->end().value(), *cursor);
  EXPECT_TRUE(page_of(*journal, *cursor).entries.empty());
  ASSERT_TRUE(journal->append(event_of("c"), {}));
  const auto page = page_of(*journal, *cursor);
  EXPECT_EQ(ids_of(page), Ids{"c"});
  EXPECT_EQ(page.next, page.entries.back().cursor);
}

TEST(Journal, GivesPagesThatJoin) {
  const JournalHome home;
  const auto journal = home.open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(journal->append(event_of("s" + std::to_string(i)), {}));
  Ids all;
  Cursor at = 0;
  bool more = true;
  int pages = 0;
  for (; more; ++pages) {
    const auto page = page_of(*journal, at, 2);
    for (const std::string& id : ids_of(page)) all.push_back(id);
    at = page.next;
    more = page.more;
  }
  EXPECT_EQ(all, (Ids{"s0", "s1", "s2", "s3", "s4"}));
  EXPECT_EQ(pages, 3);
}

TEST(Journal, RotatesAndStaysWithinItsBounds) {
  const JournalHome home;
  const auto journal = home.open_small();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(journal->append(event_of("s" + std::to_string(i)), {}));
  const auto files = home.files();
  ASSERT_EQ(files.size(), 2u);
  for (const auto& file : files) EXPECT_LE(std::filesystem::file_size(file), 1000u) << file;
  const auto page = page_of(*journal);
  EXPECT_EQ(page.entries.back().event.session_id, "s99");
  EXPECT_FALSE(page.lost) << "who asks for all of it has lost nothing";
}

TEST(Journal, CursorsLiveOnThroughARotation) {
  const JournalHome home;
  const auto journal = home.open_small();
  Cursor last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto cursor = journal->append(event_of("s" + std::to_string(i)), {});
    ASSERT_TRUE(cursor);
    EXPECT_GT(*cursor, last);
    const auto page = page_of(*journal, last);
    EXPECT_EQ(ids_of(page), Ids{"s" + std::to_string(i)});
    EXPECT_FALSE(page.lost && i > 0) << i;
    last = *cursor;
  }
}

TEST(Journal, SaysThatEntriesWereLostWhereACursorIsTooOld) {
  const JournalHome home;
  const auto journal = home.open_small();
  const auto old = journal->append(event_of("first"), {});
  ASSERT_TRUE(old);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(journal->append(event_of("s" + std::to_string(i)), {}));
  const auto page = page_of(*journal, *old);
  EXPECT_TRUE(page.lost);
  EXPECT_EQ(page.entries.back().event.session_id, "s49");
}

TEST(Journal, SaysThatEntriesWereLostWhereACursorIsOfNoEntry) {
  const JournalHome home;
  const auto journal = home.open();
  ASSERT_TRUE(journal->append(event_of("a"), {}));
  const auto end = journal->append(event_of("b"), {});
  ASSERT_TRUE(end);
  for (const Cursor odd : {*end - 5, *end + 5, ~Cursor{0}}) {
    const auto page = page_of(*journal, odd);
    EXPECT_TRUE(page.lost) << odd;
    EXPECT_EQ(ids_of(page), (Ids{"a", "b"})) << odd;
  }
}

TEST(Journal, CursorsGrowWhereItIsBegunAnew) {
  const JournalHome home;
  const auto journal = home.open();
  const auto before = journal->append(event_of("a"), {});
  ASSERT_TRUE(before);
  std::filesystem::remove_all(home.folder());
  home.home.clock->shift_ns += kSecond;
  const auto after = journal->append(event_of("b"), {});
  ASSERT_TRUE(after);
  EXPECT_GT(*after, *before);
  const auto page = page_of(*journal, *before);
  EXPECT_TRUE(page.lost);
  EXPECT_EQ(ids_of(page), Ids{"b"});
}

TEST(Journal, LeavesOutALineThatWasCutAndGoesOnBehindIt) {
  const JournalHome home;
  const auto journal = home.open();
  const auto cursor = journal->append(event_of("a"), {});
  ASSERT_TRUE(cursor);
  std::ofstream(home.files().front(), std::ios::app | std::ios::binary) << R"({"time":"2026-)";
  EXPECT_EQ(journal->end().value(), *cursor) << "what was cut is no entry";
  EXPECT_EQ(ids_of(page_of(*journal)), Ids{"a"});
  ASSERT_TRUE(journal->append(event_of("b"), {}));
  const auto page = page_of(*journal, *cursor);
  EXPECT_EQ(ids_of(page), Ids{"b"});
  EXPECT_EQ(page.damaged, 1u);
  EXPECT_FALSE(page.lost);
}

TEST(Journal, LeavesOutWhatIsNoEntry) {
  const JournalHome home;
  const auto journal = home.open();
  ASSERT_TRUE(journal->append(event_of("a"), {}));
  std::ofstream(home.files().front(), std::ios::app | std::ios::binary)
      << "\n[]\n{\"time\":\"yesterday\",\"event\":\"gone\"}\n\xff\xfe\n"
      << std::string(3, '\0') << "\n";
  ASSERT_TRUE(journal->append(event_of("b"), {}));
  const auto page = page_of(*journal);
  EXPECT_EQ(ids_of(page), (Ids{"a", "b"}));
  EXPECT_EQ(page.damaged, 4u);
}

TEST(Journal, PassesALineThatIsLongerThanAnyEntry) {
  const JournalHome home;
  const auto journal = home.open();
  ASSERT_TRUE(journal->append(event_of("a"), {}));
  std::ofstream(home.files().front(), std::ios::app | std::ios::binary)
      << std::string(600 * 1024, 'x');
  ASSERT_TRUE(journal->append(event_of("b"), {}));
  const auto page = page_of(*journal);
  EXPECT_EQ(ids_of(page), (Ids{"a", "b"}));
  EXPECT_GE(page.damaged, 1u);
}

TEST(Journal, SaysThatEntriesWereLostWhereAPartOfItWasRemoved) {
  const JournalHome home;
  const auto journal = home.open([](Journal::Options& options) { options.segment_bytes = 1000; });
  const auto first = journal->append(event_of("first"), {});
  ASSERT_TRUE(first);
  while (home.files().size() < 3) ASSERT_TRUE(journal->append(event_of("s"), {}));
  std::filesystem::remove(home.files()[1]);
  EXPECT_TRUE(page_of(*journal, *first).lost);
}

TEST(Journal, TellsWhatANewerWriterAdds) {
  const JournalHome home;
  const auto journal = home.open();
  ASSERT_TRUE(journal->append(event_of("a"), {}));
  std::ofstream(home.files().front(), std::ios::app | std::ios::binary)
      << R"({"time":"2026-11-29T21:00:00.000Z","event":"moved","session_id":"b","to":[1]})"
      << "\n";
  const auto page = page_of(*journal);
  ASSERT_EQ(ids_of(page), (Ids{"a", "b"}));
  EXPECT_EQ(page.entries[1].event.kind, EventKind::kOther);
  EXPECT_EQ(page.entries[1].kind, "moved");
}

TEST(Journal, HoldsNoRawControlByteAndOnlyUtf8) {
  const JournalHome home;
  const auto journal = home.open();
  Event event = event_of("a");
  event.name = "x\x1b]0;y\x07\r\n\xff\xfe\xc2\x9b\xe2\x80\xae";
  event.text = std::string("\0z", 2);
  ASSERT_TRUE(journal->append(event, {}));
  const std::string bytes = slurp(home.files().front());
  EXPECT_TRUE(text::is_utf8(bytes));
  EXPECT_EQ(text::for_terminal(bytes.substr(0, bytes.size() - 1)),
            bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(page_of(*journal).entries.front().event.name,
            "x\x1b]0;y\x07\r\n\\xff\\xfe\xc2\x9b\xe2\x80\xae");
}

TEST(Journal, CutsALongTextBetweenTwoCharacters) {
  const JournalHome home;
  const auto journal = home.open();
  Event event = event_of("a");
  for (int i = 0; i < 10'000; ++i) event.name += "\xe2\x82\xac";
  ASSERT_TRUE(journal->append(event, {}));
  const std::string name = page_of(*journal).entries.front().event.name;
  EXPECT_EQ(name.size(), 510u);
  EXPECT_TRUE(text::is_utf8(name));
}

TEST(Journal, WritesNothingIntoAnothersHome) {
  const JournalHome home;
  const auto journal = home.open([](Journal::Options& options) { options.read_only = true; });
  const auto refused = journal->append(event_of("a"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
  EXPECT_FALSE(std::filesystem::exists(home.home.path()));
}

TEST(Journal, MakesNoHomeOfAFolderThatIsNone) {
  const JournalHome home;
  std::filesystem::create_directory(home.home.path());
  std::ofstream(home.home.path() / "letters.txt") << "dear";
  const auto refused = home.open()->append(event_of("a"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_FALSE(std::filesystem::exists(home.folder()));
}

TEST(Journal, AnExchangeHearsWhatOthersSaidBeforeItSpeaks) {
  const JournalHome home;
  const auto mine = home.open();
  const auto others = home.open();
  const auto at = mine->append(event_of("a"), {});
  ASSERT_TRUE(at);
  ASSERT_TRUE(others->append(event_of("b"), {}));
  Ids heard;
  const auto done = mine->exchange(
      *at, [&](const JournalEntry& entry) { heard.push_back(entry.event.session_id); },
      [&] { return std::vector<Event>{event_of(heard.front() + "-heard")}; }, {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(heard, Ids{"b"});
  ASSERT_EQ(done->appended.size(), 1u);
  EXPECT_EQ(done->appended.front().event.session_id, "b-heard");
  EXPECT_EQ(done->next, others->end().value());
}

TEST(Journal, AnExchangeMakesNoHome) {
  const JournalHome home;
  const auto journal = home.open();
  const auto done = journal->exchange(
      0, [](const JournalEntry&) {}, [] { return std::vector<Event>{event_of("a")}; }, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(home.home.path()));
}

TEST(Journal, AnExchangeSaysThatTheJournalWasRemoved) {
  const JournalHome home;
  const auto journal = home.open();
  const auto at = journal->append(event_of("a"), {});
  ASSERT_TRUE(at);
  std::filesystem::remove_all(home.folder());
  const auto done = journal->exchange(
      *at, [](const JournalEntry&) {}, [] { return std::vector<Event>{event_of("b")}; }, {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->lost);
  EXPECT_GT(done->next, *at);
}

TEST(Journal, ManyThreadsWriteWholeLinesInOneOrder) {
  const JournalHome home;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto journal = home.open();
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(journal->append(event_of("t" + std::to_string(t)), {}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto page = page_of(*home.open());
  EXPECT_EQ(page.entries.size(), 200u);
  EXPECT_EQ(page.damaged, 0u);
}

TEST(JournalCursor, IsDecimalDigitsAlone) {
  EXPECT_EQ(parse_cursor("0"), 0u);
  EXPECT_EQ(parse_cursor("1764453600123000"), 1'764'453'600'123'000u);
  for (const char* odd : {"", "-1", "+1", " 1", "1 ", "01", "1e3", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(parse_cursor(odd), std::nullopt) << odd;
  }
}

}  // namespace
}  // namespace rollcall::testing
