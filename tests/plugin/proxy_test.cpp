// What the framework makes of what plugins hand back. Tables are handed over without a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "plugin/proxies.hpp"
#include "plugin/support.hpp"
#include "rollcall/plugin.hpp"
#include "rollcall/record.hpp"

namespace rollcall::testing {
namespace {

namespace rp = rollcall::plugin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Host> host_with(const rollcall_entry& entry) {
  Host::Options options = quiet_options();
  options.tables = {&entry};
  return open_host(std::move(options));
}

rollcall_observation raw_reading(std::uint32_t presence) {
  rollcall_observation raw{};
  raw.pid = 7;
  raw.presence = presence;
  return raw;
}

Observation taken(const rollcall_observation& raw) {
  Observation into;
  into.start_token.assign("left from before");
  into.suspended = true;
  loader::take_observation(raw, 7, into);
  return into;
}

TEST(TakenReading, IsWhatThePluginSaid) {
  rollcall_observation raw = raw_reading(ROLLCALL_PRESENCE_PRESENT);
  rp::set_start_token(raw, "78475");
  rp::set_exact_id(raw, 99);
  rp::set_suspended(raw, false);
  raw.flags |= ROLLCALL_OBS_AGE | ROLLCALL_OBS_START_TIME;
  raw.age_ns = 5;
  raw.start_unix_ns = -6;
  const Observation read = taken(raw);
  EXPECT_EQ(read.presence, Presence::kPresent);
  EXPECT_EQ(read.start_token.view(), "78475");
  EXPECT_EQ(read.exact_id, 99U);
  EXPECT_EQ(read.suspended, false);
  EXPECT_EQ(read.age_ns, 5);
  EXPECT_EQ(read.start_unix_ns, -6);
}

TEST(TakenReading, OfAPluginThatDidNothingIsUnreadable) {
  const Observation read = taken({});
  EXPECT_EQ(read.presence, Presence::kUnreadable);
  EXPECT_TRUE(read.start_token.empty());
  EXPECT_FALSE(read.suspended);
  EXPECT_EQ(read.reason.view(), "the plugin gives no reason");
}

TEST(TakenReading, WithAnUnknownPresenceIsUnreadable) {
  EXPECT_EQ(taken(raw_reading(4)).presence, Presence::kUnreadable);
}

TEST(TakenReading, WithSizesOverItsBuffersIsUnreadable) {
  rollcall_observation raw = raw_reading(ROLLCALL_PRESENCE_ABSENT);
  raw.start_token_size = 65;
  EXPECT_EQ(taken(raw).presence, Presence::kUnreadable);
  raw.start_token_size = 0;
  raw.reason_size = 129;
  EXPECT_EQ(taken(raw).presence, Presence::kUnreadable);
}

TEST(TakenReading, OfAnotherPidIsUnreadable) {
  rollcall_observation raw = raw_reading(ROLLCALL_PRESENCE_ABSENT);
  raw.pid = 8;
  EXPECT_EQ(taken(raw).presence, Presence::kUnreadable);
}

TEST(TakenReading, HasNoTokenThatIsNotVisibleAscii) {
  for (const std::string token : {"a b", "\x7f", "\xc3\xa9", "a\n"}) {
    rollcall_observation raw = raw_reading(ROLLCALL_PRESENCE_PRESENT);
    raw.flags = ROLLCALL_OBS_START_TOKEN;
    rp::set_text(raw.start_token, raw.start_token_size, token);
    EXPECT_EQ(taken(raw).presence, Presence::kPresent);
    EXPECT_TRUE(taken(raw).start_token.empty()) << token;
  }
}

TEST(TakenReading, HasNoNegativeAgeAndNoExactIdOfZero) {
  rollcall_observation raw = raw_reading(ROLLCALL_PRESENCE_PRESENT);
  raw.flags = ROLLCALL_OBS_AGE | ROLLCALL_OBS_EXACT_ID;
  raw.age_ns = -1;
  EXPECT_FALSE(taken(raw).age_ns);
  EXPECT_FALSE(taken(raw).exact_id);
}

rollcall_whoami raw_whoami() {
  rollcall_whoami raw{};
  raw.struct_size = sizeof(raw);
  raw.pid = 7;
  rp::set_text(raw.boot_id, raw.boot_id_size, "b00t");
  rp::set_text(raw.machine_id, raw.machine_id_size, "key");
  rp::set_text(raw.nodename, raw.nodename_size, "node");
  rp::set_text(raw.start_token, raw.start_token_size, "11");
  return raw;
}

TEST(WhoAmI, NamesTheHostByAKeyedHashAndItsNodeName) {
  const auto me = loader::take_whoami(raw_whoami());
  ASSERT_TRUE(me);
  // printf rollcall | openssl dgst -sha256 -hmac key
  EXPECT_EQ(me->self.host_id,
            "618ccde1867e0036acee92cdad33d844a650ffeb66b1cf721e12cf43e9564568-node");
}

TEST(WhoAmI, LeavesTheHostOutWhereEitherPartIsUnreadable) {
  rollcall_whoami raw = raw_whoami();
  raw.machine_id_size = 0;
  EXPECT_FALSE(loader::take_whoami(raw)->self.host_id);
  raw = raw_whoami();
  raw.nodename_size = 0;
  EXPECT_FALSE(loader::take_whoami(raw)->self.host_id);
}

TEST(WhoAmI, SaysWhyThereIsNoBootId) {
  rollcall_whoami raw = raw_whoami();
  raw.boot_id_size = 0;
  rp::set_text(raw.boot_id_why, raw.boot_id_why_size, "no /proc");
  const auto me = loader::take_whoami(raw);
  ASSERT_TRUE(me);
  EXPECT_FALSE(me->self.boot_id);
  EXPECT_EQ(me->boot_id_why, "no /proc");
}

TEST(WhoAmI, TakesNoBootIdOfSecondsThatIsNotDecimal) {
  rollcall_whoami raw = raw_whoami();
  raw.boot_rule = ROLLCALL_BOOT_WITHIN_120_S;
  EXPECT_FALSE(loader::take_whoami(raw)->self.boot_id);
  rp::set_text(raw.boot_id, raw.boot_id_size, "1785713468");
  const auto me = loader::take_whoami(raw);
  EXPECT_EQ(me->self.boot_id, "1785713468");
  EXPECT_EQ(me->boot_rule, BootRule::kWithin120s);
}

TEST(WhoAmI, ThatMakesNoSenseIsAnError) {
  rollcall_whoami raw = raw_whoami();
  raw.nodename_size = 257;
  EXPECT_FALSE(loader::take_whoami(raw));
  raw = raw_whoami();
  raw.pid = 0;
  EXPECT_FALSE(loader::take_whoami(raw));
  raw = raw_whoami();
  raw.boot_rule = 3;
  EXPECT_FALSE(loader::take_whoami(raw));
}

// ------------------------------------------------------------------------------------ probe

class SerialProbe final : public rp::ProcessProbe {
 public:
  static inline std::atomic<int> inside{0};
  static inline std::atomic<bool> overlapped{false};
  static inline std::atomic<int> inits{0};
  static inline std::atomic<int> deinits{0};
  static rp::Status plugin_init() {
    ++inits;
    return {};
  }
  static void plugin_deinit() { ++deinits; }
  rp::Status observe(const rp::ObserveBatch& batch, const rp::Call& call) override {
    if (inside.fetch_add(1) != 0) overlapped = true;
    std::this_thread::yield();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch.observation(i).pid = batch.ask(i).pid;
      batch.observation(i).presence = ROLLCALL_PRESENCE_ABSENT;
    }
    inside.fetch_sub(1);
    return call.check();
  }
};
const rollcall_entry kSerial =
    rp::Plugin<SerialProbe>::entry("rollcall.serial", "1", "Rollcall tests");

TEST(Probe, OfOneInstanceIsCalledByOneThreadAtATime) {
  const auto host = host_with(kSerial);
  const auto probe = host->platform_probe();
  ASSERT_TRUE(probe) << probe.error().message;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const std::vector<Ask> asks(10, Ask{.pid = 5});
      std::vector<Observation> out(asks.size());
      for (int i = 0; i < 50; ++i) (void)(*probe)->observe(asks, out, {});
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(SerialProbe::overlapped);
}

TEST(Probe, FillsBatchesOfAnySize) {
  const auto host = host_with(kSerial);
  const auto probe = host->platform_probe();
  ASSERT_TRUE(probe);
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    std::vector<Ask> asks;
    for (std::size_t i = 0; i < count; ++i) asks.push_back({.pid = static_cast<int>(i) + 1});
    std::vector<Observation> out(count);
    ASSERT_TRUE((*probe)->observe(asks, out, {}));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(out[i].pid, asks[i].pid);
      ASSERT_EQ(out[i].presence, Presence::kAbsent);
    }
  }
}

TEST(Probe, IsToldOfTheDeadlineOnItsOwnClockAndOfTheCancellation) {
  class Stopped final : public Clock {
   public:
    [[nodiscard]] std::int64_t monotonic_ns() const override { return 1000; }
    [[nodiscard]] std::int64_t unix_ns() const override { return 0; }
  };
  Host::Options options = quiet_options();
  options.tables = {&kSerial};
  options.clock = std::make_shared<Stopped>();
  const auto host = open_host(std::move(options));
  const auto probe = host->platform_probe();
  ASSERT_TRUE(probe);
  const Ask ask{.pid = 5};
  Observation out;
  EXPECT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {.deadline_ns = 1000 + 60'000'000'000}));
  const Status late = (*probe)->observe({&ask, 1}, {&out, 1}, {.deadline_ns = 999});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  Call cancelled;
  cancelled.cancel.cancel();
  const Status stopped = (*probe)->observe({&ask, 1}, {&out, 1}, cancelled);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
}

TEST(Probe, SaysWhatThePluginDoesNotOffer) {
  const auto host = host_with(kSerial);
  const auto probe = host->platform_probe();
  ASSERT_TRUE(probe);
  const auto rows = (*probe)->list({});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(rows.error().message, HasSubstr("rollcall.serial does not offer `list`"));
}

TEST(Init, IsCalledOnceInAProcessAndDeinitAfterTheLastInstance) {
  ASSERT_EQ(SerialProbe::inits, SerialProbe::deinits);
  const int before = SerialProbe::inits;
  auto first = host_with(kSerial);
  auto second = host_with(kSerial);
  auto probe = second->platform_probe();
  EXPECT_EQ(SerialProbe::inits, before + 1);
  first.reset();
  second.reset();
  EXPECT_EQ(SerialProbe::deinits, before);
  const Ask ask{.pid = 5};
  Observation out;
  EXPECT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));  // it outlives its host
  probe->reset();
  EXPECT_EQ(SerialProbe::deinits, before + 1);
}

// ---------------------------------------------------------------------------------- control

class LawlessControl final : public rp::ProcessControl {
 public:
  rp::Status signal(std::int64_t pid, std::uint32_t, const rp::Judge& judge,
                    rollcall_signal_outcome& out, const rp::Call&) override {
    rollcall_observation reading{};
    reading.pid = pid;
    reading.presence = ROLLCALL_PRESENCE_PRESENT;
    (void)judge(reading);
    out.outcome = ROLLCALL_SIGNAL_SENT;  // whatever the judge said
    return {};
  }
  rp::Status await_exit(std::int64_t, const rp::Judge&, rollcall_await_outcome& out,
                        const rp::Call&) override {
    out.outcome = 9;
    return {};
  }
};
class ReadsNothing final : public rp::ProcessProbe {
 public:
  rp::Status observe(const rp::ObserveBatch&, const rp::Call&) override { return {}; }
};
const rollcall_entry kLawless =
    rp::Plugin<ReadsNothing, LawlessControl>::entry("rollcall.lawless", "1", "Rollcall tests");
const rollcall_entry kForeignLawless =
    rp::Plugin<ReadsNothing, LawlessControl>::entry("com.example.lawless", "1", "Rollcall tests");

rollcall::Judge judge_of(ProcessState state) {
  return {.judge = [state](const Observation&) { return state; }};
}

TEST(Control, ThatSignalsWithoutALicenceIsFoundOut) {
  const auto host = host_with(kLawless);
  const auto control = host->platform_control();
  ASSERT_TRUE(control) << control.error().message;
  const auto alive = (*control)->signal(77, Signal::kTerm, judge_of(ProcessState::kAlive), {});
  ASSERT_TRUE(alive);
  EXPECT_EQ(alive->result, SignalResult::kSent);
  const auto doubted =
      (*control)->signal(77, Signal::kTerm, judge_of(ProcessState::kUnverified), {});
  ASSERT_FALSE(doubted);
  EXPECT_THAT(doubted.error().message, HasSubstr("without the judge's licence"));
}

TEST(Control, TakesAJudgeThatThrowsForNoLicence) {
  const auto host = host_with(kLawless);
  const auto control = host->platform_control();
  ASSERT_TRUE(control);
  const rollcall::Judge throwing{
      .judge = [](const Observation&) -> ProcessState { throw std::runtime_error("judge"); }};
  EXPECT_FALSE((*control)->signal(77, Signal::kTerm, throwing, {}));
}

TEST(Control, IsNeverAskedAboutPid1AndPidsOutOfRange) {
  const auto host = host_with(kLawless);
  const auto control = host->platform_control();
  ASSERT_TRUE(control);
  for (const std::int64_t pid : {std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, kMaxPid + 1}) {
    const auto outcome = (*control)->signal(pid, Signal::kTerm, judge_of(ProcessState::kAlive), {});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->result, SignalResult::kRefused) << pid;
  }
}

TEST(Control, WithAnOutcomeThatIsNoneKnowsNothing) {
  const auto host = host_with(kLawless);
  const auto control = host->platform_control();
  ASSERT_TRUE(control);
  const auto outcome = (*control)->await_exit(77, judge_of(ProcessState::kAlive), {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->result, AwaitResult::kUnknown);
}

TEST(Control, OfAThirdPartyIsNotHandedOut) {
  const auto host = host_with(kForeignLawless);
  EXPECT_FALSE(host->platform_control());
  EXPECT_FALSE(host->platform_probe());
  EXPECT_TRUE(host->probe("com.example.lawless"));
  EXPECT_FALSE((*host->probe("com.example.lawless"))->is_platform());
}

// ------------------------------------------------------------------------------------ store

class SmallStore final : public rp::RecordStore {
 public:
  rp::Status list(const rp::StoreSink& sink, const rp::Call&) override {
    for (const char* name : {"a", "c", "b", "c"}) {
      const rp::Status status = sink.entry({.name = name, .version = "1", .bytes = "x"});
      if (!status.ok()) return status;
    }
    const std::string large(kMaxRecordBytes + 1, 'x');
    return sink.entry({.name = "large", .version = "1", .bytes = large, .owner_uid = 5});
  }
  rp::Status read(std::string_view name, const rp::StoreSink& sink, const rp::Call&) override {
    if (name == "nothing") return {};
    if (name == "missing") return rp::Status(ROLLCALL_E_NOT_FOUND, "there is no such entry");
    return sink.entry({.name = "another", .version = "1", .bytes = "x"});
  }
};
const rollcall_entry kSmallStore =
    rp::Plugin<SmallStore>::entry("com.example.store", "1", "Rollcall tests");

TEST(Store, ListsNewestFirstAndEachNameOnce) {
  const auto host = host_with(kSmallStore);
  const auto store = host->record_store("com.example.store");
  ASSERT_TRUE(store) << store.error().message;
  const auto entries = (*store)->list({});
  ASSERT_TRUE(entries) << entries.error().message;
  std::vector<std::string> names;
  for (const auto& entry : *entries) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("large", "c", "b", "a"));
  EXPECT_EQ((*entries)[1].problem, "the store lists this name twice");
  EXPECT_TRUE((*entries)[1].bytes.empty());
}

TEST(Store, GivesNoEntryThatIsTooLarge) {
  const auto host = host_with(kSmallStore);
  const auto entries = (*host->record_store("com.example.store"))->list({});
  ASSERT_TRUE(entries);
  EXPECT_THAT(entries->front().problem, HasSubstr("more than 65536 bytes"));
  EXPECT_TRUE(entries->front().bytes.empty());
  EXPECT_EQ(entries->front().owner_uid, 5U);
}

TEST(Store, AnswersForTheNameThatWasAsked) {
  const auto host = host_with(kSmallStore);
  const auto store = host->record_store("com.example.store");
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->read("missing", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*store)->read("nothing", {}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ((*store)->read("this", {}).error().code, ErrorCode::kCorrupt);
}

TEST(Store, ThatIsReadOnlySaysSo) {
  const auto host = host_with(kSmallStore);
  const auto store = host->record_store("com.example.store");
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->remove_if("a", "1", {}).error().code, ErrorCode::kUnsupported);
}

// ------------------------------------------------------------------------------------- door

// Answers by the item's session id.
class OddDoor final : public rp::DoorProber {
 public:
  rp::Status probe(const rp::DoorBatch& batch, const rp::DoorSink& sink, const rp::Call&) override {
    for (std::size_t i = 0; i < batch.size(); ++i) one(batch.item(i).session_id(), i, sink);
    return {};
  }

 private:
  static void one(std::string_view what, std::size_t i, const rp::DoorSink& sink) {
    if (what == "never") return;
    if (what == "token") {
      const rollcall_admission admission = sink.admit(i, 3);
      sink.answer(i, rp::door_named(admission.has_token != 0 ? rp::view(admission.token)
                                                             : std::string_view("no token")));
    } else if (what == "twice") {
      sink.answer(i, rp::door_named("first"));
      sink.answer(i, rp::door_named("second"));
    } else if (what == "nobody") {
      sink.answer(i, rp::door_named(""));
    } else if (what == "held") {
      sink.answer(i, rp::door_held());
    } else if (what == "wild reason") {
      sink.answer(i, rp::door_failed(4711));
    } else if (what == "wild item") {
      sink.answer(i + 1000, rp::door_named("x"));
    } else if (what == "endless") {
      sink.answer(i, rp::door_named(std::string(100'000, 'x')));
    } else {
      sink.answer(i, rp::door_failed(ROLLCALL_DOOR_REFUSED, "errno 111"));
    }
  }
};
const rollcall_entry kOddDoor = rp::Plugin<OddDoor>::entry("rollcall.odd", "1", "Rollcall tests");
const rollcall_entry kForeignDoor =
    rp::Plugin<OddDoor>::entry("com.example.odd", "1", "Rollcall tests");

DoorReading ask_door(const rollcall_entry& entry, const std::string& what, int* answers = nullptr) {
  const auto host = host_with(entry);
  const auto prober = host->door_prober("odd");
  if (!prober) throw std::runtime_error(prober.error().message);
  const DoorAsk ask{.session_id = what, .kind = "odd"};
  DoorReading reading;
  int count = 0;
  const Status status = (*prober)->probe(
      {&ask, 1}, {},
      [](std::span<const ConnectedSocket>, std::span<Admission> rulings) {
        rulings[0] = {.admitted = true, .token = "s3cret"};
      },
      [&](std::size_t, DoorReading got) {
        ++count;
        reading = std::move(got);
      },
      {});
  if (!status) throw std::runtime_error(status.error().message);
  if (answers != nullptr) *answers = count;
  return reading;
}

TEST(Door, ThatIsNeverAnsweredIsLeftUnjudged) {
  for (const char* what : {"never", "wild item"}) {
    const DoorReading reading = ask_door(kOddDoor, what);
    EXPECT_FALSE(reading.answered);
    EXPECT_EQ(reading.reason, Reason::kUnverified);
    EXPECT_THAT(reading.detail, HasSubstr("gave no answer for this door"));
    EXPECT_EQ(reading.plugin, "rollcall.odd");
  }
}

TEST(Door, ThatIsAnsweredTwiceKeepsItsFirstAnswer) {
  int answers = 0;
  EXPECT_EQ(ask_door(kOddDoor, "twice", &answers).session, "first");
  EXPECT_EQ(answers, 1);
}

TEST(Door, ThatNamesNobodyHasNoSession) {
  const DoorReading reading = ask_door(kOddDoor, "nobody");
  EXPECT_FALSE(reading.answered);
  EXPECT_EQ(reading.reason, Reason::kNoSession);
  EXPECT_EQ(ask_door(kOddDoor, "endless").reason, Reason::kNoSession);
}

TEST(Door, ThatIsHeldNamesNobodyByDesign) {
  const DoorReading reading = ask_door(kOddDoor, "held");
  EXPECT_TRUE(reading.answered);
  EXPECT_FALSE(reading.named);
}

TEST(Door, GivesReasonsOfTheClosedSetOnly) {
  EXPECT_EQ(ask_door(kOddDoor, "else").reason, Reason::kRefused);
  EXPECT_EQ(ask_door(kOddDoor, "else").detail, "errno 111");
  EXPECT_EQ(ask_door(kOddDoor, "wild reason").reason, Reason::kNotSupported);
}

TEST(Door, OfAThirdPartyGetsNoTokenThatNobodyAllowed) {
  EXPECT_EQ(ask_door(kOddDoor, "token").session, "s3cret");
  EXPECT_EQ(ask_door(kForeignDoor, "token").session, "no token");
}

TEST(Door, OfAnUnknownKindHasNoPlugin) {
  const auto host = host_with(kOddDoor);
  const auto prober = host->door_prober("even");
  ASSERT_FALSE(prober);
  EXPECT_EQ(prober.error().code, ErrorCode::kUnsupported);
}

// One door at a time, by the adapter's threads.
class SlowDoor final : public rp::OneDoorProber {
 public:
  static inline std::atomic<int> inside{0};
  static inline std::atomic<int> most{0};
  rp::DoorAnswer ask(const rp::OneDoor& door) override {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (most < 8 && rp::now_ns() < door.deadline_ns()) std::this_thread::yield();
    --inside;
    if (door.item().session_id() == "throws") throw std::runtime_error("the door is stuck");
    return rp::door_named(door.item().session_id());
  }
};
const rollcall_entry kSlowDoor =
    rp::Plugin<SlowDoor>::entry("com.example.slow", "1", "Rollcall tests");

TEST(OneDoorProber, AsksSideBySideAndCatchesWhatIsThrown) {
  const auto host = host_with(kSlowDoor);
  const auto prober = host->door_prober("slow");
  ASSERT_TRUE(prober) << prober.error().message;
  std::vector<DoorAsk> asks(100, DoorAsk{.session_id = "s", .kind = "slow"});
  asks[50].session_id = "throws";
  std::vector<DoorReading> readings(asks.size());
  ASSERT_TRUE((*prober)->probe(
      asks, {}, [](auto, auto) {},
      [&](std::size_t i, DoorReading reading) { readings[i] = std::move(reading); }, {}));
  EXPECT_GE(SlowDoor::most, 8);
  EXPECT_EQ(readings[0].session, "s");
  EXPECT_EQ(readings[99].session, "s");
  EXPECT_FALSE(readings[50].answered);
  EXPECT_THAT(readings[50].detail, HasSubstr("the door is stuck"));
}

}  // namespace
}  // namespace rollcall::testing
