#include "rollcall/registry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rollcall/journal.hpp"
#include "support/fakes.hpp"
#include "support/temp_dir.hpp"

namespace rollcall {
namespace {

using test::absent;
using test::FakeControl;
using test::FakeProbe;
using test::MemoryStore;
using test::present;
using test::unreadable;

constexpr std::int64_t kPid = 4242;

// A store whose entry under "link" cannot be read and counts as nothing for a writer.
class LinkStore : public MemoryStore {
 public:
  [[nodiscard]] Status create_if_absent(std::string_view name, std::string_view bytes,
                                        const Call& call) override {
    const auto row = rows.find(name);
    if (row != rows.end() && name == "link" && !row->second.problem.empty()) rows.erase(row);
    return MemoryStore::create_if_absent(name, bytes, call);
  }
};

// A store in which somebody else removes what was just written.
class ForgettingStore : public MemoryStore {
 public:
  [[nodiscard]] Status create_if_absent(std::string_view name, std::string_view bytes,
                                        const Call& call) override {
    auto created = MemoryStore::create_if_absent(name, bytes, call);
    rows.erase(std::string(name));
    return created;
  }
};

// A store whose lock somebody else holds.
class LockedStore : public MemoryStore {
 public:
  [[nodiscard]] Status remove_if(std::string_view, std::string_view, const Call&) override {
    ++waits;
    return fail(ErrorCode::kTimeout, "another process holds the lock");
  }
  int waits = 0;
};

// A door that names the session to whoever is let in, and keeps what it was given.
class NamingDoor : public DoorProber {
 public:
  [[nodiscard]] std::string id() const override { return "test.naming"; }
  [[nodiscard]] bool may_have_token() const override { return true; }
  [[nodiscard]] Status probe(std::span<const DoorAsk> asks, const DoorLimits&, const Admit& admit,
                             const Answer& answer, const Call&) override {
    const ConnectedSocket socket{0, -1};
    admit({&socket, 1}, {&admission, 1});
    DoorReading reading;
    reading.answered = reading.named = true;
    reading.session = asks.front().session_id;
    answer(0, std::move(reading));
    return {};
  }

  Admission admission;
};

// Looks around right before each signal.
class LookingControl : public FakeControl {
 public:
  [[nodiscard]] Result<SignalOutcome> signal(std::int64_t pid, Signal signal, const Judge& judge,
                                             const Call& call) override {
    if (look) look();
    return FakeControl::signal(pid, signal, judge, call);
  }
  std::function<void()> look;
};

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() { open(); }

  void open(std::shared_ptr<ProcessProbe> second = nullptr, bool foreign = false) {
    Registry::Options options;
    options.store = store;
    options.probe = probe;
    options.control = control;
    options.clock = system_clock();
    options.doors = [this](std::string_view) -> Result<std::shared_ptr<DoorProber>> {
      if (door) return door;
      return fail(ErrorCode::kNotFound, "no doors here");
    };
    options.second_opinion = std::move(second);
    options.is_foreign_store = foreign;
    options.journal = journal;
    auto opened = Registry::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    registry = std::move(*opened);
  }

  static Record record(std::string id) {
    Record result;
    result.session_id = std::move(id);
    result.process.pid = kPid;
    result.process.start_token = "77";
    result.process.boot_id = "boot-a";
    result.process.host_id = "hash-host";
    result.name = "agent";
    result.version = "1";
    result.workdir = "/";
    result.started_at = "2026-01-01T00:00:00Z";
    return result;
  }

  void keep(const Record& kept) {
    const auto bytes = serialize_record(kept);
    ASSERT_TRUE(bytes) << bytes.error().message;
    store->put(kept.session_id, *bytes);
  }

  [[nodiscard]] bool kept(std::string_view id) const { return store->rows.count(id) == 1; }

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::shared_ptr<FakeProbe> probe = std::make_shared<FakeProbe>();
  std::shared_ptr<LookingControl> control = std::make_shared<LookingControl>();
  std::shared_ptr<Journal> journal;  // null: none
  std::shared_ptr<NamingDoor> door;  // null: none
  std::unique_ptr<Registry> registry;
};

// With a journal of the test's own.
class RegistryJournal : public RegistryTest {
 protected:
  RegistryJournal() { keep_journal(testing::utf8(dir / "home")); }

  void keep_journal(const std::string& home) {
    journal = Journal::open({.home = home, .clock = system_clock()}).value();
    open();
  }
  [[nodiscard]] std::vector<Event> told() const {
    std::vector<Event> events;
    const auto page = journal->read(0, 100, {});
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return events;
    for (const JournalEntry& entry : page->entries) events.push_back(entry.event);
    return events;
  }

  testing::TempDir dir;
};

using RegistryOpen = RegistryTest;
using RegistrySweep = RegistryTest;
using RegistryRegister = RegistryTest;
using RegistryStop = RegistryTest;
using RegistryKill = RegistryTest;
using RegistryForget = RegistryTest;

TEST_F(RegistryOpen, RefusesAThirdPartyProbeAsTheOneThatActs) {
  probe->platform = false;
  Registry::Options options;
  options.store = store;
  options.probe = probe;
  options.clock = system_clock();
  const auto opened = Registry::open(std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

TEST_F(RegistrySweep, PrunesTheGoneAndKeepsTheAliveAndTheUntold) {
  auto alive = record("alive");
  auto gone = record("gone");
  gone.process.pid = 4243;
  auto untold = record("untold");
  untold.process.pid = 4244;
  keep(alive);
  keep(gone);
  keep(untold);
  probe->answer(kPid, {present(kPid, "77")});
  probe->answer(4244, {unreadable(4244, "hidden")});
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_EQ(sweep->sessions.size(), 2u);
  EXPECT_EQ(sweep->sessions[0].record.session_id, "untold");
  EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(sweep->sessions[1].finding.verdict, Verdict::kLive);
  ASSERT_EQ(sweep->pruned.size(), 1u);
  EXPECT_EQ(sweep->pruned[0].session_id, "gone");
  EXPECT_EQ(sweep->pruned[0].reason, "no process holds pid 4243");
  EXPECT_FALSE(kept("gone"));
  EXPECT_TRUE(kept("alive") && kept("untold"));
}

TEST_F(RegistrySweep, ReadsOnceMoreBeforeItRemoves) {
  keep(record("s"));
  probe->answer(kPid, {absent(kPid), present(kPid, "77")});
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep);
  EXPECT_TRUE(sweep->pruned.empty());
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistrySweep, LeavesTheSuccessorsRecordWhereItStands) {
  keep(record("s"));
  probe->answer(kPid, {absent(kPid)});
  auto successor = record("s");
  successor.process.pid = 5000;
  store->before_remove = [&] { keep(successor); };
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep);
  EXPECT_TRUE(sweep->pruned.empty());
  EXPECT_TRUE(sweep->warnings.empty());
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistrySweep, WaitsOnceForAHeldLockAndNotOnceForEachRecord) {
  const auto locked = std::make_shared<LockedStore>();
  store = locked;
  open();
  for (const char* const id : {"a", "b", "c"}) keep(record(id));
  probe->answer(kPid, {absent(kPid)});
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(locked->waits, 1);
  EXPECT_TRUE(sweep->pruned.empty());
  EXPECT_EQ(sweep->sessions.size(), 3u);
  EXPECT_EQ(sweep->warnings.size(), 3u) << "each record that was left is told of";
}

TEST_F(RegistrySweep, RemovesNothingOfAForeignStore) {
  open(nullptr, true);
  keep(record("s"));
  probe->answer(kPid, {absent(kPid)});
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep);
  EXPECT_TRUE(kept("s"));
  EXPECT_FALSE(registry->prune({}, {}));
}

TEST_F(RegistrySweep, ReportsWhatIsNoRecordAndKeepsIt) {
  store->put("torn", "{\"session_id\":");
  store->put("odd", "x");
  store->rows["odd"].problem = "is a directory";
  SweepOptions options;
  options.prune = true;
  const auto sweep = registry->sweep(options, {});
  ASSERT_TRUE(sweep);
  ASSERT_EQ(sweep->unreadable.size(), 2u);
  EXPECT_EQ(sweep->unreadable[0].file, "torn.json");
  EXPECT_TRUE(sweep->unreadable[0].is_record_problem);
  EXPECT_EQ(sweep->unreadable[1].reason, "is a directory");
  EXPECT_FALSE(sweep->unreadable[1].is_record_problem);
  EXPECT_TRUE(kept("torn") && kept("odd"));
}

TEST_F(RegistrySweep, CountsADryRunWithoutRemoving) {
  keep(record("s"));
  probe->answer(kPid, {absent(kPid)});
  PruneOptions options;
  options.dry_run = true;
  const auto sweep = registry->prune(options, {});
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->pruned.size(), 1u);
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistrySweep, SaysThatADoorHasNoPlugin) {
  auto doored = record("s");
  doored.url = "127.0.0.1:1";
  keep(doored);
  probe->answer(kPid, {present(kPid, "77")});
  const auto sweep = registry->sweep({}, {});
  ASSERT_TRUE(sweep);
  ASSERT_EQ(sweep->sessions.size(), 1u);
  EXPECT_EQ(sweep->sessions[0].finding.reason, Reason::kNoPlugin);
  EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kUnreachable);
}

// The process ended, and its pid and port were taken, while its door was connected to.
TEST_F(RegistrySweep, GivesNoTokenToWhoeverTookThePidMeanwhile) {
  auto doored = record("s");
  doored.url = "127.0.0.1:1";
  doored.door_token = "secret";
  keep(doored);
  door = std::make_shared<NamingDoor>();
  probe->owner = {.owner = Ownership::kProcess, .loopback = true, .peer = "127.0.0.1:1"};
  probe->answer(kPid, {present(kPid, "77")});
  auto sweep = registry->sweep({}, {});
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kLive);
  EXPECT_EQ(door->admission.token, "secret");

  for (const Observation& later :
       {present(kPid, "78"), present(kPid, ""), absent(kPid), unreadable(kPid, "hidden")}) {
    probe->answer(kPid, {present(kPid, "77"), later});
    sweep = registry->sweep({}, {});
    ASSERT_TRUE(sweep);
    EXPECT_EQ(sweep->sessions[0].finding.verdict, Verdict::kUnreachable);
    EXPECT_EQ(sweep->sessions[0].finding.reason, Reason::kOwnerUnknown);
    EXPECT_FALSE(door->admission.admitted);
    EXPECT_FALSE(door->admission.token.has_value());
  }
}

TEST_F(RegistrySweep, LowersByASecondOpinionAndNeverRaises) {
  auto second = std::make_shared<FakeProbe>();
  second->platform = false;
  second->name = "com.example.probe";
  open(second);
  keep(record("s"));
  probe->answer(kPid, {present(kPid, "77")});
  second->answer(kPid, {present(kPid, "78")});
  auto sweep = registry->sweep({}, {});
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->sessions[0].process.state, ProcessState::kUnverified);
  EXPECT_EQ(sweep->sessions[0].finding.reason, Reason::kUnverified);

  probe->answer(kPid, {unreadable(kPid, "hidden")});
  second->answer(kPid, {present(kPid, "77")});
  sweep = registry->sweep({}, {});
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->sessions[0].process.state, ProcessState::kUnverified);
}

TEST_F(RegistrySweep, ShowsNoUptimeForARecordOfNonsenseTime) {
  auto read = present(kPid, "77");
  read.age_ns = 90'000'000'000;
  probe->answer(kPid, {read});
  const std::int64_t now = system_clock()->unix_ns();
  for (const char* const text : {"1970-01-01T00:00:00Z", "2106-02-07T06:28:16Z",
                                 "2026-01-01T24:61:00Z", "", "2026-01-01T00:00:00+02:00"}) {
    auto odd = record("s");
    odd.started_at = text;
    keep(odd);
    const auto sweep = registry->sweep({}, {});
    ASSERT_TRUE(sweep);
    ASSERT_EQ(sweep->sessions.size(), 1u) << text;
    EXPECT_FALSE(sweep->sessions[0].uptime_s(now)) << text;
  }
  keep(record("s"));
  EXPECT_EQ(registry->sweep({}, {})->sessions[0].uptime_s(now), 90);
}

TEST_F(RegistryRegister, StandsAsLongAsTheGuardLives) {
  auto mine = record("s");
  mine.process = {};
  {
    const auto guard = registry->register_session(mine, {}, {});
    ASSERT_TRUE(guard) << guard.error().message;
    const auto written = parse_record(store->rows.at("s").bytes, "s");
    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(written->process, probe->me.self);
  }
  EXPECT_FALSE(kept("s"));
}

TEST_F(RegistryRegister, RefusesAnIdWhoseRecordIsAliveOrUntold) {
  keep(record("s"));
  for (const auto& read : {present(kPid, "77"), unreadable(kPid, "hidden")}) {
    probe->answer(kPid, {read});
    auto mine = record("s");
    mine.process = {};
    const auto guard = registry->register_session(mine, {}, {});
    ASSERT_FALSE(guard);
    EXPECT_EQ(guard.error().code, ErrorCode::kExists);
    EXPECT_TRUE(guard.error().message.find("already registered") != std::string::npos);
  }
  RegisterOptions options;
  options.replace = true;
  EXPECT_TRUE(registry->register_session(record("s"), options, {}));
}

TEST_F(RegistryRegister, ReplacesARecordThatIsGone) {
  keep(record("s"));
  auto mine = record("s");
  mine.process = {};
  EXPECT_TRUE(registry->register_session(mine, {}, {}));
}

TEST_F(RegistryRegister, LeavesAFileThatIsNoRecord) {
  store->put("s", "torn");
  RegisterOptions options;
  options.replace = true;
  const auto guard = registry->register_session(record("s"), options, {});
  ASSERT_FALSE(guard);
  EXPECT_EQ(store->rows.at("s").bytes, "torn");
}

TEST_F(RegistryRegister, ReplacesWhatTheStoreTakesForNothing) {
  const auto links = std::make_shared<LinkStore>();
  store = links;
  open();
  for (const char* id : {"link", "fifo"}) {
    store->put(id, "");
    store->rows.at(id).problem = "it is no regular file";
  }
  auto guard = registry->register_session(record("link"), {}, {});
  EXPECT_TRUE(guard) << guard.error().message;
  EXPECT_TRUE(store->rows.at("link").problem.empty());
  const auto refused = registry->register_session(record("fifo"), {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_NE(refused.error().message.find("no regular file"), std::string::npos);
}

// Nobody has the id then: whoever registers is told that, and runs on unrecorded.
TEST_F(RegistryRegister, TellsARecordThatWasRemovedAtOnceFromAnIdThatIsInUse) {
  store = std::make_shared<ForgettingStore>();
  open();
  const auto guard = registry->register_session(record("s"), {}, {});
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().code, ErrorCode::kConflict);
  EXPECT_NE(guard.error().message.find("removed as soon as"), std::string::npos)
      << guard.error().message;
}

TEST_F(RegistryRegister, WritesNoRecordWithoutAnIdentity) {
  auto mine = record("s");
  mine.process = {};
  probe->me.self.boot_id.reset();
  probe->me.boot_id_why = "no such file";
  auto guard = registry->register_session(mine, {}, {});
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(guard.error().message.find("no such file"), std::string::npos);
  probe->me.self.boot_id = "boot-a";
  probe->me.self.start_token.clear();
  guard = registry->register_session(mine, {}, {});
  ASSERT_FALSE(guard);
  EXPECT_TRUE(store->rows.empty());
}

TEST_F(RegistryRegister, AlwaysSaysWhyAnIdentityIsMissing) {
  auto mine = record("s");
  mine.process = {};
  probe->me.self.start_token.clear();
  EXPECT_EQ(registry->register_session(mine, {}, {}).error().message.find("read: the system"),
            std::string("no record was written: pid 100's start time could not be ").size());
  probe->me.self.start_token = "1000";
  probe->me.self.boot_id.reset();
  const auto guard = registry->register_session(mine, {}, {});
  ASSERT_FALSE(guard);
  EXPECT_NE(guard.error().message.find("the boot id could not be read: the system"),
            std::string::npos);
}

TEST_F(RegistryRegister, RefusesADoorElsewhereAndATokenThatCouldInjectAHeader) {
  auto elsewhere = record("s");
  elsewhere.url = "http://localhost:80@evil.example/";
  EXPECT_FALSE(registry->register_session(elsewhere, {}, {}));
  auto injected = record("s");
  injected.door_token = "secret\r\nX: y";
  const auto guard = registry->register_session(injected, {}, {});
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().message.find("secret"), std::string::npos);
  EXPECT_TRUE(store->rows.empty());
}

TEST_F(RegistryStop, SendsTwoTermsAndNothingElse) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(control->sent, (std::vector<Signal>{Signal::kTerm, Signal::kTerm}));
  EXPECT_EQ(report->signals, control->sent);
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistryStop, WithholdsTheSecondSignalFromANewcomerOnThePid) {
  keep(record("s"));
  control->readings = {present(kPid, "77"), present(kPid, "99")};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(control->sent, std::vector<Signal>{Signal::kTerm});
}

TEST_F(RegistryStop, SendsOneSignalToOneThatGoesAtOnce) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->ends = {AwaitResult::kEnded};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_TRUE(report->reason.empty());
  EXPECT_EQ(control->sent, std::vector<Signal>{Signal::kTerm});
  EXPECT_FALSE(kept("s"));  // the probe too says that nobody holds the pid
}

TEST_F(RegistryStop, SendsNothingToAStranger) {
  keep(record("s"));
  control->readings = {present(kPid, "76")};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kAlreadyGone);
  EXPECT_EQ(report->reason, "pid 4242 is held by a process that started at another time");
  EXPECT_TRUE(control->sent.empty());
}

TEST_F(RegistryStop, RefusesWhatCannotBeTold) {
  auto foreign = record("s");
  foreign.process.host_id = "other-host";
  keep(foreign);
  control->readings = {present(kPid, "77")};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kRefused);
  EXPECT_EQ(report->reason, "it was recorded on another host; only there can it be told");
  EXPECT_TRUE(control->sent.empty());
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistryStop, CarriesTheSystemsRefusal) {
  keep(record("s"));
  control->refusal = "cannot pin pid 4242: Function not implemented";
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kRefused);
  EXPECT_EQ(report->reason, control->refusal);
}

TEST_F(RegistryStop, SendsOneKillInPlaceOfBothWhenForced) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->ends = {AwaitResult::kEnded};
  StopOptions options;
  options.force = true;
  const auto report = registry->stop("s", options, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(control->sent, std::vector<Signal>{Signal::kKill});
}

TEST_F(RegistryStop, SaysThatASuspendedTargetKeepsTheSignalPending) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->suspended = true;
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_NE(report->reason.find("suspended (stopped)"), std::string::npos);
}

TEST_F(RegistryStop, DoesNotTakeAnEndThatWasNotSeenForOne) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->ends = {AwaitResult::kUnknown};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_TRUE(kept("s"));
}

TEST_F(RegistryStop, IsHeldBackByASecondOpinion) {
  auto second = std::make_shared<FakeProbe>();
  second->platform = false;
  open(second);
  keep(record("s"));
  probe->answer(kPid, {present(kPid, "77")});
  control->readings = {present(kPid, "77")};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kRefused);
  EXPECT_TRUE(control->sent.empty());
}

TEST_F(RegistryStop, KnowsNoSessionWithoutARecord) {
  EXPECT_EQ(registry->stop("none", {}, {}).error().code, ErrorCode::kNotFound);
  for (const char* const id : {"../x", "/tmp/x", "a/b", "", ".", "..", "-rf", "x.json"}) {
    EXPECT_EQ(registry->stop(id, {}, {}).error().code, ErrorCode::kInvalid) << id;
  }
}

TEST_F(RegistryKill, SendsTheSignalThatWasNamedAndAwaitsKillOnly) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  auto report = registry->kill("s", Signal::kUsr1, 100, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kSent);
  report = registry->kill("s", Signal::kKill, 100, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, StopOutcome::kStillThere);
  EXPECT_EQ(control->sent, (std::vector<Signal>{Signal::kUsr1, Signal::kKill}));
}

TEST_F(RegistryKill, SaysByItsKindThatThePlatformHasNoSuchSignal) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->unsupported = Signal::kHup;
  const auto report = registry->kill("s", Signal::kHup, 0, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(control->sent.empty());
}

TEST_F(RegistryJournal, KnowsWhoAsksBeforeTheFirstSignal) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  std::vector<Event> before;
  control->look = [&] {
    if (before.empty()) before = told();
  };
  StopOptions options;
  options.caller_name = "operator";
  options.reason = "deploy";
  ASSERT_TRUE(registry->stop("s", options, {}));
  ASSERT_EQ(before.size(), 1u);
  const Event& begun = before.front();
  EXPECT_EQ(begun.kind, EventKind::kStopBegun);
  EXPECT_EQ(begun.session_id, "s");
  EXPECT_EQ(begun.pid, kPid);
  ASSERT_TRUE(begun.stop);
  EXPECT_EQ(begun.stop->caller_name, "operator");
  EXPECT_EQ(begun.stop->reason, "deploy");
  EXPECT_EQ(begun.stop->planned, (std::vector<Signal>{Signal::kTerm, Signal::kTerm}));
  EXPECT_TRUE(begun.stop->signals.empty());
  EXPECT_EQ(begun.stop->outcome, std::nullopt);
  EXPECT_FALSE(begun.stop->forced);
}

TEST_F(RegistryJournal, KnowsWhatCameOfWhatWasAskedFor) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->ends = {AwaitResult::kEnded};
  StopOptions options;
  options.force = true;
  ASSERT_TRUE(registry->stop("s", options, {}));
  const auto events = told();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].kind, EventKind::kStopRequested);
  EXPECT_EQ(events[1].stop->outcome, StopOutcome::kEnded);
  EXPECT_EQ(events[1].stop->signals, std::vector<Signal>{Signal::kKill});
  for (const Event& event : events) {
    EXPECT_EQ(event.stop->planned, std::vector<Signal>{Signal::kKill});
    EXPECT_TRUE(event.stop->forced);
  }
}

TEST_F(RegistryJournal, NeverKeepsASignalBack) {
  dir.write("other/letters.txt", "dear");  // no home of ours
  keep_journal(testing::utf8(dir / "other"));
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->ends = {AwaitResult::kEnded};
  const auto report = registry->stop("s", {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, StopOutcome::kEnded);
  EXPECT_EQ(control->sent, std::vector<Signal>{Signal::kTerm});
  EXPECT_NE(report->journal_problem, "");
}

TEST_F(RegistryJournal, KnowsThatASignalWhichThePlatformLacksWasNotSent) {
  keep(record("s"));
  control->readings = {present(kPid, "77")};
  control->unsupported = Signal::kUsr1;
  ASSERT_FALSE(registry->kill("s", Signal::kUsr1, 0, {}));
  const auto events = told();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].stop->outcome, StopOutcome::kRefused);
  EXPECT_TRUE(events[1].stop->signals.empty());
}

TEST_F(RegistryForget, KeepsTheAliveAndTheUntoldUnlessForced) {
  keep(record("s"));
  for (const auto& read : {present(kPid, "77"), unreadable(kPid, "hidden")}) {
    probe->answer(kPid, {read});
    const auto status = registry->forget("s", false, {});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kRefused);
    EXPECT_TRUE(kept("s"));
  }
  EXPECT_TRUE(registry->forget("s", true, {}));
  EXPECT_FALSE(kept("s"));
  EXPECT_EQ(registry->forget("s", false, {}).error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryForget, RemovesTheGone) {
  keep(record("s"));
  EXPECT_TRUE(registry->forget("s", false, {}));
  EXPECT_FALSE(kept("s"));
}

TEST_F(RegistryTest, ReadsTheBytesOfAProcessThatIsTheSessions) {
  keep(record("s"));
  probe->answer(kPid, {present(kPid, "77")});
  probe->reads = [] { return std::string("A=1"); };
  EXPECT_EQ(registry->read_process("s", ReadWhat::kEnvironment, {}).value(), "A=1");
}

TEST_F(RegistryTest, GivesNoBytesOfASuccessorThatTookThePidMeanwhile) {
  keep(record("s"));
  probe->answer(kPid, {present(kPid, "77"), present(kPid, "78")});
  probe->reads = [] { return std::string("SECRET=of the successor"); };
  const auto bytes = registry->read_process("s", ReadWhat::kEnvironment, {});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, ReadsSeveralThingsBetweenOneProofAndTheNext) {
  keep(record("s"));
  constexpr ReadWhat kWhat[] = {ReadWhat::kUsers, ReadWhat::kEnvironment, ReadWhat::kUsers};
  int reading = 0;
  probe->reads = [&] { return std::to_string(++reading); };
  probe->answer(kPid, {present(kPid, "77")});
  EXPECT_EQ(registry->read_process("s", kWhat, {}).value(),
            (std::vector<std::string>{"1", "2", "3"}));
  probe->answer(kPid, {present(kPid, "77"), present(kPid, "78")});
  EXPECT_FALSE(registry->read_process("s", kWhat, {}));
  probe->answer(kPid, {present(kPid, "77")});
  probe->reads = [&]() -> Result<std::string> {
    if (++reading == 8) return fail(ErrorCode::kDenied, "not yours");
    return std::string("0");
  };
  const auto denied = registry->read_process("s", kWhat, {});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kDenied);
  EXPECT_EQ(reading, 8) << "it went on reading";
}

TEST_F(RegistryTest, ReadsNothingWhereItCannotBeToldWhoseProcessItIs) {
  keep(record("s"));
  probe->answer(kPid, {unreadable(kPid, "hidden")});
  probe->reads = []() -> Result<std::string> {
    ADD_FAILURE() << "it was read";
    return std::string();
  };
  const auto bytes = registry->read_process("s", ReadWhat::kEnvironment, {});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kRefused);
}

TEST_F(RegistryTest, TellsRefusedFromGoneWhereAReadingFails) {
  keep(record("s"));
  probe->answer(kPid, {present(kPid, "77")});
  probe->reads = []() -> Result<std::string> { return fail(ErrorCode::kDenied, "not yours"); };
  EXPECT_EQ(registry->read_process("s", ReadWhat::kEnvironment, {}).error().code,
            ErrorCode::kDenied);
  probe->answer(kPid, {present(kPid, "77"), absent(kPid)});
  EXPECT_EQ(registry->read_process("s", ReadWhat::kEnvironment, {}).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rollcall
