// A home on Windows: access lists, links, files that others have open, and processes that race or
// are ended in the middle.
#include <gtest/gtest.h>

#include <windows.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/handle_windows.hpp"
#include "core/security_windows.hpp"
#include "core/spawn_windows.hpp"
#include "registry/store_fixture.hpp"
#include "support/links_windows.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test
using core::Handle;

// An event that the writers are told by its name.
class Event {
 public:
  Event() {
    std::random_device random;
    name_ = "rollcall-test-" + std::to_string(random()) + "-" + std::to_string(random());
    event_ = Handle(::CreateEventA(nullptr, TRUE, FALSE, name_.c_str()));
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] HANDLE get() const { return event_.get(); }
  void set() const { ::SetEvent(get()); }
  void reset() const { ::ResetEvent(get()); }

 private:
  std::string name_;
  Handle event_;
};

// The helper beside this program. It is ended with the object.
class Writer {
 public:
  Writer(const std::string& what, const Home& home, const Event& event,
         const std::string& more = {}) {
    std::wstring own(1024, L'\0');
    own.resize(::GetModuleFileNameW(nullptr, own.data(), static_cast<DWORD>(own.size())));
    const std::string program = utf8(fs::path(own).parent_path() / "store_writer.exe");
    auto spawned = core::spawn({.program = program,
                                .command_line = "store_writer " + what + " \"" + utf8(home.path()) +
                                                "\" " + event.name() + " " + more});
    if (spawned) {
      process_ = std::move(spawned->process);
    } else {
      ADD_FAILURE() << spawned.error().message;
    }
  }
  Writer(Writer&&) = default;
  Writer& operator=(Writer&&) = delete;
  ~Writer() { end(); }

  [[nodiscard]] HANDLE process() const { return process_.get(); }
  // As SIGKILL: nothing of it runs any more. The pid stays its own until the handle is closed.
  void end() {
    if (!process_.valid()) return;
    ::TerminateProcess(process_.get(), 99);
    ::WaitForSingleObject(process_.get(), 20'000);
  }
  [[nodiscard]] std::optional<DWORD> exit_code(DWORD limit_ms) const {
    DWORD code = 0;
    if (::WaitForSingleObject(process_.get(), limit_ms) != WAIT_OBJECT_0 ||
        ::GetExitCodeProcess(process_.get(), &code) == 0) {
      return std::nullopt;
    }
    return code;
  }

 private:
  Handle process_;
};

std::vector<std::string> others_of(const fs::path& path) {
  const Handle file(::CreateFileW(path.c_str(), READ_CONTROL,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  const auto access = core::read_access(file.get());
  if (!access || access->owned_by != core::OwnedBy::kUser) return {"nobody knows who"};
  std::vector<std::string> others;
  for (const auto& grant : access->others) others.push_back(grant.who);
  return others;
}

TEST(FileStoreAccess, IsTheUsersAloneFromTheCreationOn) {
  const Home home;
  const auto store = home.open([](FileStore::Options& o) { o.home += "\\b\\c"; });
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  ASSERT_TRUE(store->write_control("a", "t0ken", false, {}));
  const fs::path inner = home.path() / "b" / "c";
  ASSERT_TRUE(store->archive_gone(*store->read("a", {}), sample_record("a"), {}, {}));
  ASSERT_TRUE(store->create_if_absent("b", record_bytes("b"), {}));
  for (const auto& path :
       {home.path(), home.path() / "b", inner, inner / "lock", inner / "running",
        inner / "running" / "b.json", inner / "gone", inner / "gone" / "a.json"}) {
    EXPECT_EQ(others_of(path), std::vector<std::string>{}) << path;
  }
}

TEST(FileStoreAccess, IsTakenFromOthersOnWriting) {
  const Home home;
  home.plant("x.json", record_bytes("x"));
  ASSERT_TRUE(home.open()->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(others_of(home.path()), std::vector<std::string>{});
  EXPECT_EQ(others_of(home.running()), std::vector<std::string>{});
}

TEST(FileStoreOpen, WantsAHomeWithADriveOrAShare) {
  for (const char* home : {"", "relative", "\\x", "C:", "C:x", "C:\\", "C:/", "C:\\.\\",
                           "\\\\server\\share", "\\\\.\\pipe\\x"}) {
    EXPECT_FALSE(FileStore::open({.home = home, .clock = system_clock()})) << home;
  }
  EXPECT_TRUE(FileStore::open({.home = "C:/x/", .clock = system_clock()}));
}

TEST(FileStoreList, RefusesAHomeThatIsALink) {
  const Home home;
  const auto victim = home.dir() / "victim";
  fs::create_directories(victim / "running");
  const FolderLink link(home.path(), victim);
  if (!link.made() || !link.shows_by_handle()) {
    GTEST_SKIP() << "no link to a folder can be made and told here";
  }
  for (const char* ending : {"", "/", "\\.", "\\\\"}) {
    const auto store = home.open([&](FileStore::Options& o) { o.home += ending; });
    EXPECT_EQ(store->list({}).error().code, ErrorCode::kDenied) << ending;
    EXPECT_EQ(store->create_if_absent("a", record_bytes("a"), {}).error().code, ErrorCode::kDenied)
        << ending;
  }
  EXPECT_TRUE(names_in(victim / "running").empty());
}

TEST(FileStoreList, ReportsALinkInARecordsPlace) {
  const Home home;
  home.plant("zz-good.json", record_bytes("zz-good"));
  fs::create_directory(home.dir() / "victim");
  const FolderLink link(home.record("s"), home.dir() / "victim");
  if (!link.made()) {
    GTEST_SKIP() << "no link to a folder can be made here";
  }
  const auto records = home.open()->list({});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(names_of(*records), (std::vector<std::string>{"zz-good", "s"}));
  EXPECT_NE(records->at(1).problem.find("symbolic link"), std::string::npos);
  EXPECT_TRUE(records->at(0).problem.empty());
}

TEST(FileStoreList, CallsAPlainFileInTheDirectorysPlaceAnError) {
  const Home home;
  home.dir().write("home/running", "x");
  const auto records = home.open()->list({});
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().os_code, ERROR_DIRECTORY);
  EXPECT_NE(records.error().message.find(utf8(home.running())), std::string::npos);
}

// A scanner or a backup has the record open without sharing it.
TEST(FileStoreShare, ReportsARecordThatAnotherHasForItselfAndKeepsIt) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  ASSERT_TRUE(store->create_if_absent("b", record_bytes("b"), {}));
  const Handle holder(
      ::CreateFileW(home.record("a").c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(holder.valid());
  const auto records = store->list({});
  ASSERT_TRUE(records) << records.error().message;
  ASSERT_EQ(names_of(*records), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(records->at(0).problem.empty());
  EXPECT_FALSE(records->at(1).problem.empty());
}

TEST(FileStoreShare, WaitsForAReaderThatLetsGo) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const std::string version = store->read("a", {})->version;
  Handle holder(::CreateFileW(home.record("a").c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr,
                              OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(holder.valid());
  std::thread closer([&] {
    ::Sleep(30);
    static_cast<void>(holder.close());
  });
  const auto replaced = store->replace_if("a", version, record_bytes("a", "new"), {});
  closer.join();
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "new"));
}

TEST(FileStoreShare, KeepsTheEarlierRecordWhereAReaderNeverLetsGo) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const std::string version = store->read("a", {})->version;
  {
    const Handle holder(::CreateFileW(home.record("a").c_str(), GENERIC_READ, FILE_SHARE_READ,
                                      nullptr, OPEN_EXISTING, 0, nullptr));
    ASSERT_TRUE(holder.valid());
    EXPECT_FALSE(store->replace_if("a", version, record_bytes("a", "new"), {}));
    EXPECT_FALSE(store->remove_if("a", version, {}));
  }
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
  EXPECT_TRUE(store->remove_if("a", version, {}));
}

TEST(FileStoreLock, IsGivenBackWhenItsHolderIsEnded) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  const Event held;
  Writer holder("hold", home, held);
  ASSERT_EQ(::WaitForSingleObject(held.get(), 20'000), WAIT_OBJECT_0);
  const auto hasty = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 20; });
  const std::string version = store->read("a", {})->version;
  EXPECT_EQ(hasty->remove_if("a", version, {}).error().code, ErrorCode::kTimeout);
  holder.end();
  EXPECT_TRUE(store->remove_if("a", version, {}));
}

TEST(FileStoreCreate, HasOneWinnerAmongTwentyProcesses) {
  const Home home;
  constexpr int kProcesses = 20;
  const Event begin;
  std::vector<Writer> writers;
  for (int i = 0; i < kProcesses; ++i) {
    writers.emplace_back("create", home, begin, "writer-" + std::to_string(i));
  }
  begin.set();
  std::vector<int> winners;
  for (int i = 0; i < kProcesses; ++i) {
    const auto code = writers[static_cast<std::size_t>(i)].exit_code(60'000);
    ASSERT_TRUE(code == 0U || code == 1U) << i << ": " << code.value_or(999);
    if (code == 0U) winners.push_back(i);
  }
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(slurp(home.record("one")), record_bytes("one", "writer-" + std::to_string(winners[0])));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"one.json"});
}

constexpr int kHomes = 4;  // a writer at a time in each, so that none waits for a lock

// Until `stop`: every record that is listed is whole, and "kept" is always there.
void read_for_ever(const std::array<Home, kHomes>& homes, const std::atomic<bool>& stop,
                   std::atomic<int>& failures) {
  int mine = 0;
  while (!stop.load() && mine == 0) {
    for (const Home& home : homes) {
      const auto records = home.open()->list({});
      CHILD_CHECK(mine, records.has_value());
      if (!records) break;
      for (const auto& record : *records) {
        CHILD_CHECK(mine, record.problem.empty());
        CHILD_CHECK(mine, parse_record(record.bytes, record.name).has_value());
      }
      CHILD_CHECK(mine, home.open()->read("kept", {}).has_value());
    }
  }
  failures.fetch_add(mine);
}

// Nothing but "kept" and "passing" is left, and "kept" is whole.
void expect_whole(const Home& home) {
  home.clock->shift_ns = 2 * kMinute;
  const auto store = home.open();
  const auto swept = store->sweep_staging([](const ProcessIdentity&) { return true; }, {});
  ASSERT_TRUE(swept) << swept.error().message;
  for (const auto& name : names_in(home.running())) {
    EXPECT_TRUE(name == "kept.json" || name == "passing.json") << name;
  }
  const auto kept = store->read("kept", {});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(parse_record(kept->bytes, "kept"));
}

TEST(FileStoreCrash, NeverTearsOrLosesARecordWhenWritersAreEnded) {
  constexpr int kWriters = 120;
  const std::array<Home, kHomes> homes;
  const std::array<Event, kHomes> events;
  for (const Home& home : homes) {
    ASSERT_TRUE(home.open()->create_if_absent("kept", record_bytes("kept"), {}));
  }
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::thread reader([&] { read_for_ever(homes, stop, failures); });
  std::mt19937 random(20260915);  // NOLINT(cert-msc51-cpp): the same instants each time
  for (int batch = 0; batch < kWriters / kHomes; ++batch) {
    std::vector<Writer> writers;
    for (std::size_t i = 0; i < kHomes; ++i) {
      events[i].reset();
      writers.emplace_back("write", homes[i], events[i]);
    }
    for (std::size_t i = 0; i < kHomes; ++i) {
      const HANDLE either[] = {events[i].get(), writers[i].process()};
      EXPECT_EQ(::WaitForMultipleObjects(2, either, FALSE, 60'000), WAIT_OBJECT_0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));  // the instant
    for (Writer& writer : writers) {
      writer.end();
      EXPECT_EQ(writer.exit_code(0), 99U);
    }
  }
  stop.store(true);
  reader.join();
  EXPECT_EQ(failures.load(), 0);
  for (const Home& home : homes) expect_whole(home);
}

}  // namespace
}  // namespace rollcall
