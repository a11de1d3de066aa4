// Pairs on real files: what is read, and re-binding.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pairs/file_names.hpp"
#include "pairs/pair_record.hpp"
#include "rollcall/pairs.hpp"
#include "support/fakes.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::pairs {
namespace {

namespace fs = std::filesystem;
using test::absent;
using test::FakeProbe;
using test::present;
using test::unreadable;
using testing::slurp;

constexpr std::int64_t kParent = 4242;
constexpr std::int64_t kOther = 4243;

class ParentProbe : public FakeProbe {
 public:
  [[nodiscard]] Result<std::string> read(std::int64_t, ReadWhat what, const Call&) override {
    if (what != ReadWhat::kParent) return fail(ErrorCode::kUnsupported, "only parents here");
    return std::to_string(parent);
  }
  std::int64_t parent = kParent;
};

class FixedClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override { return real->monotonic_ns(); }
  [[nodiscard]] std::int64_t unix_ns() const override { return ahead_ns + real->unix_ns(); }
  std::shared_ptr<const Clock> real = system_clock();
  std::int64_t ahead_ns = 0;
};

class PairHomeTest : public ::testing::Test {
 protected:
  PairHomeTest() { open(); }

  void open(RecordKeys keys = {}) { open(dir.path(), std::move(keys)); }
  void open(const fs::path& path, RecordKeys keys = {}) {
    PairHome::Options options;
    options.dir = testing::utf8(path);
    options.probe = probe;
    options.clock = clock;
    options.keys = std::move(keys);
    options.lock_timeout_ms = 60'000;  // a busy disk is no loser
    auto opened = PairHome::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    home = std::move(*opened);
  }

  void put_record(std::string_view id,
                  std::string_view rest = R"("tab":"t","generation":1)") const {
    dir.write("pair." + std::string(id) + ".json",
              R"({"pair_id":")" + std::string(id) + "\"," + std::string(rest) + "}");
  }
  // Every name and byte of the directory but the lock's.
  [[nodiscard]] std::vector<std::string> snapshot() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(dir.path())) {
      const auto name = entry.path().filename().string();
      if (name != "pairs.lock") all.push_back(name + "=" + slurp(entry.path()));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::string sentinel() const { return slurp(dir / "pair.a.claude-pid"); }

  testing::TempDir dir;
  std::shared_ptr<ParentProbe> probe = std::make_shared<ParentProbe>();
  std::shared_ptr<FixedClock> clock = std::make_shared<FixedClock>();
  std::unique_ptr<PairHome> home;
};

using PairFiles = PairHomeTest;
using PairRebind = PairHomeTest;

TEST(PairFileNames, AreReadFromTheirEnd) {
  struct Row {
    std::string_view name;
    std::string_view id;
    PairFile file;
    std::uint64_t generation;
  };
  const Row rows[] = {
      {"pair.a.json", "a", PairFile::kRecord, 0},
      {"pair.a.g0.tui-pid", "a", PairFile::kTuiPid, 0},
      {"pair.a.g12.tui-exited", "a", PairFile::kTuiExited, 12},
      {"pair.a.g3.wrapper.sh", "a", PairFile::kWrapperSh, 3},
      {"pair.a.g3.wrapper.ps1", "a", PairFile::kWrapperPs1, 3},
      {"pair.a.claude-pid", "a", PairFile::kControllerPid, 0},
      {"pair.a.claude-exited", "a", PairFile::kControllerExited, 0},
      {"pair.a.resume-lock", "a", PairFile::kResumeLock, 0},
      {"pair.a.dead-seen", "a", PairFile::kDeadSeen, 0},
      {"pair.x.g1.claude-pid", "x.g1", PairFile::kControllerPid, 0},
      {"pair.x.g1.g2.tui-pid", "x.g1", PairFile::kTuiPid, 2},
  };
  for (const Row& row : rows) {
    const auto parsed = parse_file_name(row.name);
    ASSERT_TRUE(parsed) << row.name;
    EXPECT_EQ(parsed->id, row.id) << row.name;
    EXPECT_EQ(parsed->file, row.file) << row.name;
    EXPECT_EQ(parsed->generation, row.generation) << row.name;
  }
}

TEST(PairFileNames, OfAnyOtherShapeAreNoPairs) {
  for (const std::string_view name :
       {"pair..json", "pair.json", "pair.a", "pair.a.tui-pid", "pair.a.g.tui-pid",
        "pair.a.g01.tui-pid", "pair.a.g-1.tui-pid", "pair.a.g1x.tui-pid",
        "pair.a.g1234567890123456789.tui-pid", "pair.-a.json", "pair.a b.json", "xpair.a.json",
        "pair.a.json.tmp", "pair.a..claude-pid", ".pair.a.claude-pid.0.tmp", "pair.con.json"}) {
    EXPECT_FALSE(parse_file_name(name)) << name;
  }
}

TEST(PairRecordText, NamesItsSidesByWhateverIsNotEmpty) {
  struct Row {
    std::string_view json;
    bool tab;
    bool controller;
  };
  const Row rows[] = {
      {R"({"pair_id":"a","tab":"t1","generation":3,"controller":"c"})", true, true},
      {R"({"pair_id":"a","tab":{"id":7},"generation":0,"controller":{"pid":3}})", true, true},
      {R"({"pair_id":"a","tab":12,"generation":1,"controller":9})", true, true},
      {R"({"pair_id":"a","tab":null,"controller":null})", false, false},
      {R"({"pair_id":"a","tab":"","controller":{}})", false, false},
      {R"({"pair_id":"a","tab":false,"controller":[]})", false, false},
      {R"({"pair_id":"a"})", false, false},
      {"{\"pair_id\": \"a\", \"tab\": { }, \"controller\": [\n]}", false, false},
      {"\xEF\xBB\xBF{\"pair_id\":\"a\",\"more\":[1,2]}\r\n", false, false},
  };
  for (const Row& row : rows) {
    const auto record = parse_pair_record(row.json, "a", {});
    ASSERT_TRUE(record) << row.json << ' ' << record.error().message;
    EXPECT_EQ(record->has_tab, row.tab) << row.json;
    EXPECT_EQ(record->has_controller, row.controller) << row.json;
  }
}

TEST(PairRecordText, ThatMakesNoSenseIsNoRecord) {
  for (const std::string_view json :
       {"", "{", "[]", "null", R"({"pair_id":"b"})", R"({"pair_id":7})", R"({"tab":"t"})",
        R"({"pair_id":"a","tab":"t"})", R"({"pair_id":"a","tab":"t","generation":"1"})",
        R"({"pair_id":"a","tab":"t","generation":-1})",
        R"({"pair_id":"a","tab":"t","generation":1.5})",
        R"({"pair_id":"a","tab":"t","generation":1000000000000000000})",
        R"({"pair_id":"a","tab":"t","generation":18446744073709551615})",
        R"({"pair_id":"a","tab":"t","generation":1,"generation":2})", R"({"pair_id":"a"} x)"}) {
    EXPECT_FALSE(parse_pair_record(json, "a", {})) << json;
  }
}

TEST_F(PairFiles, AreReadAnewAtEveryCall) {
  put_record("a", R"("tab":"t","generation":1,"controller":"c")");
  dir.write("pair.a.g1.tui-pid", "4242:boot-a:77\n");
  dir.write("pair.a.claude-pid", "4243:boot-a:88");
  probe->answer(kParent, {present(kParent, "77")});
  probe->answer(kOther, {present(kOther, "88")});
  auto view = home->show("a", {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->terminal.state, Liveness::kAlive);
  EXPECT_EQ(view->terminal.process->pid, kParent);
  EXPECT_EQ(view->controller.state, Liveness::kAlive);
  dir.write("pair.a.g1.tui-exited", "0");
  probe->answer(kOther, {present(kOther, "99")});
  view = home->show("a", {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->terminal.state, Liveness::kDead);
  EXPECT_EQ(view->controller.state, Liveness::kDead);
}

TEST_F(PairFiles, StartFor30SecondsByTheirOwnTime) {
  put_record("a");
  const auto wrapper = dir.write("pair.a.g1.wrapper.sh", "#!/bin/sh\n");
  EXPECT_EQ(home->show("a", {})->terminal.state, Liveness::kStarting);
  clock->ahead_ns = 31'000'000'000;
  EXPECT_EQ(home->show("a", {})->terminal.state, Liveness::kUnknown);
  clock->ahead_ns = 0;
  fs::last_write_time(wrapper, fs::file_time_type::clock::now() + std::chrono::hours(24));
  EXPECT_EQ(home->show("a", {})->terminal.state, Liveness::kUnknown);
}

TEST_F(PairFiles, ThatAreNoRegularFilesMakeTheirSideUnknown) {
  put_record("a", R"("tab":"t","generation":1,"controller":"c")");
  dir.write("elsewhere", "4242:boot-a:77");
  probe->answer(kParent, {present(kParent, "77")});
  if (!testing::make_link(dir / "elsewhere", dir / "pair.a.claude-pid")) {
    fs::create_directory(dir / "pair.a.claude-pid");
  }
  fs::create_directory(dir / "pair.a.g1.tui-exited");
  const auto view = home->show("a", {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->controller.state, Liveness::kUnknown);
  EXPECT_NE(view->controller.reason.find("pair.a.claude-pid"), std::string::npos);
  EXPECT_EQ(view->terminal.state, Liveness::kUnknown);
  EXPECT_NE(view->terminal.reason.find("pair.a.g1.tui-exited"), std::string::npos);
}

TEST_F(PairFiles, WithASentinelThatIsNoneMakeTheirSideUnknown) {
  put_record("a", R"("tab":"t","generation":1,"controller":"c")");
  for (const std::string_view bytes :
       {"", "4242", "4242::77", "4242:boot-a:", "0:boot-a:77", "+7:boot-a:77", "4242:boot a:77",
        "4242:boot-a:77\n4243:boot-a:78\n"}) {
    dir.write("pair.a.claude-pid", bytes);
    const auto view = home->show("a", {});
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->controller.state, Liveness::kUnknown) << bytes;
    EXPECT_NE(view->controller.reason, "") << bytes;
  }
}

TEST_F(PairFiles, WithKeysOfAnotherWriterAreReadByThem) {
  open({"id", "terminal", "gen", "claude"});
  dir.write("pair.a.json", R"({"id":"a","terminal":"w1","gen":4,"claude":{"session":"s"}})");
  const auto view = home->show("a", {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->terminal.generation, 4u);
  EXPECT_EQ(view->controller.state, Liveness::kStarting);
}

TEST_F(PairFiles, AreListedById) {
  put_record("b");
  put_record("a");
  dir.write("pair.c.json", "{");
  dir.write("pair.orphan.claude-pid", "4242:boot-a:77");
  dir.write("unrelated", "");
  const auto list = home->list({});
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->pairs.size(), 3u);
  EXPECT_EQ(list->pairs[0].id, "a");
  EXPECT_EQ(list->pairs[1].id, "b");
  EXPECT_EQ(list->pairs[2].terminal.state, Liveness::kUnknown);
  ASSERT_EQ(list->broken.size(), 1u);
  EXPECT_EQ(list->broken[0].file, "pair.c.json");
}

TEST_F(PairFiles, OfNobodyAreNotFound) {
  EXPECT_EQ(home->show("a", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(home->show("../a", {}).error().code, ErrorCode::kInvalid);
  fs::remove_all(dir.path());
  const auto list = home->list({});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_TRUE(list->pairs.empty());
  EXPECT_FALSE(fs::exists(dir.path())) << "reading made it";
  fs::create_directory(dir.path());
}

TEST_F(PairRebind, WritesTheParentAndTakesAwayWhatSaysThatTheLastOneEnded) {
  put_record("a");
  dir.write("pair.a.claude-pid", "4243:boot-a:88");
  dir.write("pair.a.claude-exited", "1");
  dir.write("pair.a.dead-seen", "");
  probe->answer(kParent, {present(kParent, "77")});
  const auto report = home->rebind("a", {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, RebindOutcome::kRebound);
  EXPECT_EQ(sentinel(), "4242:boot-a:77\n");
  EXPECT_FALSE(fs::exists(dir / "pair.a.claude-exited"));
  EXPECT_FALSE(fs::exists(dir / "pair.a.dead-seen"));
  EXPECT_EQ(home->show("a", {})->controller.state, Liveness::kAlive);
  const auto again = home->rebind("a", {}, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->outcome, RebindOutcome::kControllerAlive);
}

TEST_F(PairRebind, WithoutARecordWritesNothingAtAll) {
  probe->answer(kParent, {present(kParent, "77")});
  const auto report = home->rebind("a", {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, RebindOutcome::kNoRecord);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST_F(PairRebind, LeavesAliveControllerAlone) {
  put_record("a");
  dir.write("pair.a.claude-pid", "4243:boot-a:88");
  probe->answer(kParent, {present(kParent, "77")});
  probe->answer(kOther, {present(kOther, "88")});
  const auto before = snapshot();
  const auto report = home->rebind("a", {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, RebindOutcome::kControllerAlive);
  EXPECT_EQ(report->controller->pid, kOther);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(PairRebind, WritesNothingOnAnyError) {
  put_record("a");
  dir.write("pair.a.claude-pid", "4243:boot-a:88");
  dir.write("pair.a.claude-exited", "1");
  dir.write("pair.a.dead-seen", "");
  const auto before = snapshot();
  const auto expect = [&](ErrorCode code, std::optional<std::int64_t> parent = {}) {
    const auto report = home->rebind("a", parent, {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, code) << report.error().message;
    EXPECT_EQ(snapshot(), before);
  };
  expect(ErrorCode::kRefused);  // the parent is gone
  probe->answer(kParent, {unreadable(kParent, "hidden")});
  expect(ErrorCode::kUnreadable);
  probe->answer(kParent, {present(kParent, "")});
  expect(ErrorCode::kUnreadable);
  probe->answer(kParent, {present(kParent, "77")});
  probe->parent = 1;
  expect(ErrorCode::kRefused);
  probe->parent = 0;
  expect(ErrorCode::kRefused);
  for (const std::int64_t pid : {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1},
                                 std::int64_t{1} << 40, probe->me.self.pid}) {
    expect(ErrorCode::kRefused, pid);
  }
  probe->parent = kParent;
  probe->me.self.boot_id.reset();
  expect(ErrorCode::kUnreadable);
}

TEST_F(PairRebind, RefusesAControllerThatCannotBeTold) {
  put_record("a");
  probe->answer(kParent, {present(kParent, "77")});
  probe->answer(kOther, {unreadable(kOther, "hidden")});
  for (const std::string_view bytes : {"4243:boot-a:88", "torn"}) {
    dir.write("pair.a.claude-pid", bytes);
    const auto before = snapshot();
    const auto report = home->rebind("a", {}, {});
    ASSERT_FALSE(report) << bytes;
    EXPECT_EQ(report.error().code, ErrorCode::kRefused) << bytes;
    EXPECT_EQ(snapshot(), before) << bytes;
  }
}

TEST_F(PairRebind, RefusesAParentThatIsYoungerThanItsChild) {
  put_record("a");
  auto young = present(kParent, "77");
  young.age_ns = 1;
  auto self = present(100, "1000");
  self.age_ns = 1'000'000'000;
  probe->answer(kParent, {young});
  probe->answer(100, {self});
  const auto before = snapshot();
  const auto report = home->rebind("a", {}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kRefused);
  EXPECT_EQ(snapshot(), before);
}

// In memory where that can be had: a thousand flushes to a busy disk take minutes.
class FastDir {
 public:
  explicit FastDir(fs::path otherwise) : path_(std::move(otherwise)) {
    std::error_code error;
    const fs::path memory = fs::path("/dev/shm") / ("rollcall-pairs-" + path_.filename().string());
    if (!memory.is_absolute() || !fs::create_directory(memory, error)) return;
    path_ = memory;
    made_ = true;
  }
  FastDir(const FastDir&) = delete;
  FastDir& operator=(const FastDir&) = delete;
  ~FastDir() {
    std::error_code ignored;
    if (made_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool made_ = false;
};

TEST_F(PairRebind, OfTwoThatRaceOneWinsAndNothingIsLost) {
  const FastDir fast(dir.path());
  open(fast.path());
  const auto file = [&](const std::string& id, const char* end) {
    return fast.path() / ("pair." + id + end);
  };
  probe->answer(kParent, {present(kParent, "77")});
  probe->answer(kOther, {present(kOther, "88")});
  for (int round = 0; round < 500; ++round) {
    const std::string id = "r" + std::to_string(round);
    std::ofstream(file(id, ".json")) << R"({"pair_id":")" << id << "\"}";
    std::ofstream(file(id, ".claude-exited")) << "1";
    std::atomic<int> begun = 0;  // and no std::latch: mingw-w64's loses a waiter now and then
    Result<RebindReport> reports[2];
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        for (++begun; begun < 2;) std::this_thread::yield();
        reports[i] = home->rebind(id, i == 0 ? kParent : kOther, {});
      });
    }
    for (auto& thread : threads) thread.join();
    int winners = 0;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(reports[i]) << reports[i].error().message;
      if (reports[i]->outcome == RebindOutcome::kRebound) {
        ++winners;
        EXPECT_EQ(slurp(file(id, ".claude-pid")), i == 0 ? "4242:boot-a:77\n" : "4243:boot-a:88\n");
      } else {
        EXPECT_EQ(reports[i]->outcome, RebindOutcome::kControllerAlive);
      }
    }
    ASSERT_EQ(winners, 1) << "round " << round;
    EXPECT_TRUE(fs::exists(file(id, ".json")));
    EXPECT_FALSE(fs::exists(file(id, ".claude-exited")));
  }
  for (const auto& entry : fs::directory_iterator(fast.path())) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

}  // namespace
}  // namespace rollcall::pairs
