// What of the journal needs modes, limits and a second process.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "journal/journal_fixture.hpp"
#include "support/process.hpp"

namespace rollcall::testing {
namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(JournalFiles, ArePrivateFromTheBeginningUnderAnyUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const JournalHome home;
    auto child = Child::run([&] {
      ::umask(mask);
      return home.open()->append(event_of("a"), {}) ? 0 : 1;
    });
    const auto status = child.wait();
    ASSERT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
    EXPECT_EQ(mode_of(home.folder()), 0700u);
    EXPECT_EQ(mode_of(home.folder() / "lock"), 0600u);
    EXPECT_EQ(mode_of(home.files().front()), 0600u);
  }
}

TEST(JournalFiles, AreMadePrivateWhereTheyWereNot) {
  const JournalHome home;
  ASSERT_TRUE(home.open()->append(event_of("a"), {}));
  ::chmod(home.files().front().c_str(), 0666);
  ::chmod(home.folder().c_str(), 0777);
  ASSERT_TRUE(home.open()->append(event_of("b"), {}));
  EXPECT_EQ(mode_of(home.files().front()), 0600u);
  EXPECT_EQ(mode_of(home.folder()), 0700u);
}

TEST(JournalFiles, AFolderThatIsALinkIsRefused) {
  const JournalHome home;
  ASSERT_TRUE(home.open()->append(event_of("a"), {}));
  const auto elsewhere = home.home.dir() / "elsewhere";
  std::filesystem::rename(home.folder(), elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, home.folder());
  const auto refused = home.open()->append(event_of("b"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
}

TEST(JournalFiles, ALinkInTheirPlaceIsNotFollowed) {
  const JournalHome home;
  ASSERT_TRUE(home.open()->append(event_of("a"), {}));
  const auto file = home.files().front();
  const auto victim = home.home.dir() / "victim";
  std::ofstream(victim) << "mine\n";
  for (const bool hard : {false, true}) {
    std::filesystem::remove(file);
    if (hard) {
      std::filesystem::create_hard_link(victim, file);
    } else {
      std::filesystem::create_symlink(victim, file);
    }
    EXPECT_FALSE(home.open()->append(event_of("b"), {})) << hard;
    EXPECT_EQ(slurp(victim), "mine\n") << hard;
  }
}

TEST(JournalFiles, AFullDiskIsAnErrorAndLeavesWholeLines) {
  const JournalHome home;
  ASSERT_TRUE(home.open()->append(event_of("a"), {}));
  const auto size = std::filesystem::file_size(home.files().front());
  auto child = Child::run([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto most = static_cast<rlim_t>(size + size + size / 2);
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::vector<Event> events = {event_of("b"), event_of("c"), event_of("d")};
    std::size_t written = 9;
    const auto full = home.open()->append(events, {}, &written);
    return !full && full.error().code == ErrorCode::kIo && written == 1 ? 0 : 1;
  });
  const auto status = child.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  ASSERT_TRUE(home.open()->append(event_of("e"), {}));
  const auto page = page_of(*home.open());
  EXPECT_EQ(ids_of(page), (std::vector<std::string>{"a", "b", "e"}));
  EXPECT_EQ(page.damaged, 0u);
}

TEST(JournalFiles, TwoProcessesWriteWholeLinesAcrossRotations) {
  const JournalHome home;
  constexpr int kEach = 200;
  const auto writer = [&](const char* id) {
    return [&home, id] {
      const auto journal = home.open([](Journal::Options& options) {
        options.segment_bytes = 4000;
        options.segments = 1000;
      });
      for (int i = 0; i < kEach; ++i) {
        if (!journal->append(event_of(id), {})) return 1;
      }
      return 0;
    };
  };
  auto one = Child::run(writer("one"));
  auto two = Child::run(writer("two"));
  for (Child* child : {&one, &two}) {
    const auto status = child->wait(60s);
    ASSERT_TRUE(status && WIFEXITED(*status));
    ASSERT_EQ(WEXITSTATUS(*status), 0);
  }
  const auto page = page_of(*home.open());
  EXPECT_EQ(page.entries.size(), 2u * kEach);
  EXPECT_EQ(page.damaged, 0u);
  EXPECT_GT(home.files().size(), 5u);
}

TEST(JournalFiles, AWriterThatIsKilledLeavesAJournalThatGoesOn) {
  const JournalHome home;
  auto child = Child::run([&] {
    const auto journal = home.open();
    while (journal->append(event_of("a"), {})) {
    }
    return 1;
  });
  ASSERT_TRUE(wait_until([&] {
    const auto files = home.files();
    return !files.empty() && std::filesystem::file_size(files.front()) > 2000;
  }));
  child.signal(SIGKILL);
  ASSERT_TRUE(child.wait());
  ASSERT_TRUE(home.open()->append(event_of("b"), {}));
  EXPECT_EQ(page_of(*home.open()).entries.back().event.session_id, "b");
}

}  // namespace
}  // namespace rollcall::testing
