// What a registry does on the time guard's word: shows it, removes nothing, and signals only where
// that was accepted.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rollcall/registry.hpp"
#include "support/fakes.hpp"

namespace rollcall {
namespace {

using test::absent;
using test::FakeControl;
using test::FakeProbe;
using test::MemoryStore;
using test::present;

constexpr std::int64_t kPid = 4242;
constexpr std::int64_t kRecordedNs = 1'767'225'600'000'000'000;  // 2026-01-01T00:00:00Z
constexpr std::int64_t kS = 1'000'000'000;

class CommandProbe final : public FakeProbe {
 public:
  [[nodiscard]] Result<std::string> read(std::int64_t, ReadWhat, const Call&) override {
    ++reads;
    return command;
  }
  std::string command = std::string("/usr/bin/agent\0--x\0", 19);
  int reads = 0;
};

class TimeGuardActs : public ::testing::Test {
 protected:
  TimeGuardActs() { open(false); }

  void open(bool accept, std::shared_ptr<ProcessProbe> second = nullptr) {
    Registry::Options options;
    options.store = store;
    options.probe = probe;
    options.control = control;
    options.clock = system_clock();
    options.home = HomeKind::kLocal;
    options.time_guard = TimeGuard{{"agent"}, false};
    options.accept_time_guard = accept;
    options.second_opinion = std::move(second);
    auto opened = Registry::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    registry = std::move(*opened);
  }
  void keep(std::string_view start_token = {}) {
    Record record;
    record.session_id = "s";
    record.process.pid = kPid;
    record.process.start_token = start_token;
    record.started_at = "2026-01-01T00:00:00Z";
    const auto bytes = serialize_record(record);
    ASSERT_TRUE(bytes) << bytes.error().message;
    store->put("s", *bytes);
  }
  static Observation began(std::int64_t after_ns) {
    auto read = present(kPid, "77");
    read.start_unix_ns = kRecordedNs + after_ns;
    return read;
  }
  void process(std::int64_t began_after_ns) {
    probe->answer(kPid, {began(began_after_ns)});
    control->readings = {began(began_after_ns)};
  }
  SessionView verified() {
    auto view = registry->verify("s", true, {});
    EXPECT_TRUE(view) << view.error().message;
    return view ? *view : SessionView{};
  }

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::shared_ptr<CommandProbe> probe = std::make_shared<CommandProbe>();
  std::shared_ptr<FakeControl> control = std::make_shared<FakeControl>();
  std::unique_ptr<Registry> registry;
};

TEST_F(TimeGuardActs, CallsLiveWhatFitsAndSaysThatOnlyTheTimeTells) {
  keep();
  process(kS);
  const auto view = verified();
  EXPECT_EQ(view.finding.verdict, Verdict::kLive);
  EXPECT_EQ(view.finding.text, "guarded by time");
}

TEST_F(TimeGuardActs, DoesNotReadACommandThatHasNoSay) {
  keep();
  process(6 * kS);
  EXPECT_EQ(verified().finding.verdict, Verdict::kGone);
  keep("77");
  process(0);
  EXPECT_EQ(verified().process.rule, Rule::kToken);
  EXPECT_EQ(probe->reads, 0);
}

TEST_F(TimeGuardActs, CannotTellWhereThePidChangedHandsWhileItsCommandWasRead) {
  keep();
  auto successor = began(kS);
  successor.start_token.assign("78");
  probe->answer(kPid, {began(kS), successor});
  EXPECT_EQ(verified().process.rule, Rule::kGuardUnreadable);
}

TEST_F(TimeGuardActs, RemoveNothingOnTheWordOfTime) {
  keep();
  process(60 * kS);
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_EQ(sweep->sessions.size(), 1u);
  EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kGone);
  EXPECT_TRUE(sweep->pruned.empty());
  EXPECT_TRUE(registry->prune({}, {}));
  EXPECT_EQ(registry->forget("s", false, {}).error().code, ErrorCode::kRefused);
  EXPECT_EQ(store->rows.size(), 1u);
}

TEST_F(TimeGuardActs, SignalNothingUnlessThatWasAccepted) {
  keep();
  process(kS);
  control->ends = {AwaitResult::kEnded};
  const auto refused = registry->stop("s", {}, {});
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->outcome, StopOutcome::kRefused);
  EXPECT_NE(refused->reason.find("--accept-time-guard"), std::string::npos);
  EXPECT_TRUE(control->sent.empty());
  open(true);
  const auto stopped = registry->stop("s", {}, {});
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->outcome, StopOutcome::kEnded);
  EXPECT_EQ(control->sent.size(), 1u);
}

TEST_F(TimeGuardActs, SignalNobodyWhoDoesNotFitThoughThatWasAccepted) {
  open(true);
  keep();
  process(6 * kS);
  EXPECT_EQ(registry->kill("s", Signal::kKill, 0, {})->outcome, StopOutcome::kAlreadyGone);
  probe->command = std::string("sleep\0", 6);
  process(kS);
  EXPECT_EQ(registry->kill("s", Signal::kKill, 0, {})->outcome, StopOutcome::kRefused);
  probe->command = std::string("agent\0", 6);
  process(-121 * kS);
  EXPECT_EQ(registry->kill("s", Signal::kKill, 0, {})->outcome, StopOutcome::kRefused);
  EXPECT_TRUE(control->sent.empty());
}

TEST_F(TimeGuardActs, AreHeldToASecondOpinionAsFarAsItCanTell) {
  keep();
  process(kS);
  auto second = std::make_shared<FakeProbe>();
  second->platform = false;
  second->answer(kPid, {began(kS)});
  open(false, second);
  EXPECT_EQ(verified().finding.verdict, Verdict::kLive);
  second->answer(kPid, {absent(kPid)});
  EXPECT_EQ(verified().process.rule, Rule::kSecondOpinion);
}

}  // namespace
}  // namespace rollcall
