#include "doors/gate.hpp"

#include <gtest/gtest.h>

#include "doors/asking.hpp"
#include "doors/door_server.hpp"

namespace rollcall::test {
namespace {

// A prober that says what a test wants, and may break every rule.
class ScriptedProber final : public DoorProber {
 public:
  using Script = std::function<Status(std::span<const DoorAsk>, const Admit&, const Answer&)>;
  explicit ScriptedProber(Script script) : script_(std::move(script)) {}
  [[nodiscard]] std::string id() const override { return "test.scripted"; }
  [[nodiscard]] bool may_have_token() const override { return true; }
  [[nodiscard]] Status probe(std::span<const DoorAsk> asks, const DoorLimits&, const Admit& admit,
                             const Answer& answer, const Call&) override {
    return script_(asks, admit, answer);
  }

 private:
  Script script_;
};

DoorReading ask_scripted(ScriptedProber::Script script, PortProbe& probe,
                         const Record& record = record_of("127.0.0.1:9", kToken)) {
  const DoorQuestion question{&record, record.process.pid, 0};
  const auto clock = system_clock();
  DoorContext context;
  context.probe = &probe;
  context.clock = clock.get();
  context.doors = [&](std::string_view) -> Result<std::shared_ptr<DoorProber>> {
    return std::make_shared<ScriptedProber>(std::move(script));
  };
  return ask_doors({&question, 1}, context, {}).front();
}

DoorReading named() {
  DoorReading reading;
  reading.answered = reading.named = true;
  reading.session = kSession;
  return reading;
}

PortProbe probe_saying(SocketAnswer answer) {
  return PortProbe([answer](const SocketAsk&, SocketAnswer& out) { out = answer; });
}

Admission admitted_by(PortProbe& probe, DoorGate::Item item, DoorGate::Ruling* ruling = nullptr) {
  DoorGate gate(probe, {item}, Call{});
  const ConnectedSocket socket{0, -1};
  Admission admission;
  gate.admit()({&socket, 1}, {&admission, 1});
  if (ruling != nullptr) *ruling = gate.ruling(0);
  return admission;
}

const std::string kSecret = kToken;

TEST(DoorGate, GivesTheTokenToTheRecordedProcessOnLoopback) {
  for (const Ownership owner : {Ownership::kProcess, Ownership::kDescendant, Ownership::kUidOnly}) {
    auto probe = probe_saying({.owner = owner, .loopback = true, .peer = "127.0.0.1:80"});
    const Admission admission = admitted_by(probe, {.pid = 1, .token = &kSecret});
    EXPECT_TRUE(admission.admitted);
    EXPECT_EQ(admission.token, kSecret);
  }
}

struct Refusal {
  SocketAnswer answer;
  Reason reason;
};

TEST(DoorGate, RefusesEveryoneElse) {
  const Refusal refusals[] = {
      {{.owner = Ownership::kForeign, .loopback = true, .peer = "127.0.0.1:80"},
       Reason::kForeignListener},
      {{.owner = Ownership::kUnknown, .loopback = true, .peer = "127.0.0.1:80"},
       Reason::kOwnerUnknown},
      {{.owner = Ownership::kProcess, .loopback = false, .peer = "10.0.0.1:80"},
       Reason::kNotLoopback},
      {{.owner = Ownership::kProcess, .loopback = true, .self_connect = true, .peer = "x"},
       Reason::kRefused},
      {{}, Reason::kClosedEarly},
  };
  for (const Refusal& refusal : refusals) {
    auto probe = probe_saying(refusal.answer);
    DoorGate::Ruling ruling;
    const Admission admission = admitted_by(probe, {.pid = 1, .token = &kSecret}, &ruling);
    EXPECT_FALSE(admission.admitted);
    EXPECT_FALSE(admission.token.has_value());
    EXPECT_EQ(ruling.refused, refusal.reason);
    EXPECT_FALSE(ruling.detail.empty());
  }
}

TEST(DoorGate, AdmitsAListedHostWithoutToken) {
  auto probe = probe_saying({.owner = Ownership::kUnknown, .peer = "10.0.0.1:80"});
  const Admission admission =
      admitted_by(probe, {.pid = 1, .token = &kSecret, .allowed_host = true});
  EXPECT_TRUE(admission.admitted);
  EXPECT_FALSE(admission.token.has_value());
}

TEST(DoorGate, NamesTheStrangerWhoHoldsThePort) {
  auto probe = probe_saying(
      {.owner = Ownership::kForeign, .loopback = true, .holder_pid = 77, .peer = "127.0.0.1:80"});
  DoorGate::Ruling ruling;
  (void)admitted_by(probe, {.pid = 1}, &ruling);
  EXPECT_NE(ruling.detail.find("127.0.0.1:80"), std::string::npos);
  EXPECT_NE(ruling.detail.find("77"), std::string::npos);
}

TEST(DoorGate, TakesAFailedReadingForNoEvidence) {
  class Failing final : public ProcessProbe {
   public:
    [[nodiscard]] std::string id() const override { return "test.failing"; }
    [[nodiscard]] bool is_platform() const override { return true; }
    [[nodiscard]] Status observe(std::span<const Ask>, std::span<Observation>,
                                 const Call&) override {
      return {};
    }
    [[nodiscard]] Result<WhoAmI> whoami(const Call&) override { return WhoAmI{}; }
    [[nodiscard]] Result<std::vector<ProcessRow>> list(const Call&) override {
      return std::vector<ProcessRow>{};
    }
    [[nodiscard]] Result<std::string> read(std::int64_t, ReadWhat, const Call&) override {
      return std::string();
    }
    [[nodiscard]] Status port_owner(std::span<const SocketAsk>, std::span<SocketAnswer>,
                                    const Call&) override {
      return fail(ErrorCode::kIo, "the tables are out of reach");
    }
  } probe;
  DoorGate gate(probe, {{.pid = 1, .token = &kSecret}}, Call{});
  const ConnectedSocket socket{0, -1};
  Admission admission;
  gate.admit()({&socket, 1}, {&admission, 1});
  EXPECT_FALSE(admission.admitted);
  EXPECT_EQ(gate.ruling(0).refused, Reason::kOwnerUnknown);
  EXPECT_NE(gate.ruling(0).detail.find("out of reach"), std::string::npos);
}

TEST(DoorGate, AdmitsNoSocketOfAnItemThatIsNotThere) {
  PortProbe probe;
  DoorGate gate(probe, {{.pid = 1}}, Call{});
  const ConnectedSocket sockets[] = {{1, -1}, {SIZE_MAX, -1}};
  Admission admissions[2];
  gate.admit()(sockets, admissions);
  EXPECT_FALSE(admissions[0].admitted);
  EXPECT_FALSE(admissions[1].admitted);
  EXPECT_EQ(probe.questions(), 0);
}

TEST(AskDoors, BelievesNoAnswerOnASocketThatTheHostNeverSaw) {
  PortProbe probe;
  const DoorReading reading = ask_scripted(
      [](std::span<const DoorAsk>, const DoorProber::Admit&, const DoorProber::Answer& answer) {
        answer(0, named());
        return Status{};
      },
      probe);
  EXPECT_EQ(outcome_of(reading), "owner-unknown");
}

TEST(AskDoors, BelievesNoAnswerAfterARefusal) {
  auto probe =
      probe_saying({.owner = Ownership::kForeign, .loopback = true, .peer = "127.0.0.1:80"});
  const DoorReading reading = ask_scripted(
      [](std::span<const DoorAsk>, const DoorProber::Admit& admit,
         const DoorProber::Answer& answer) {
        const ConnectedSocket socket{0, -1};
        Admission admission;
        admit({&socket, 1}, {&admission, 1});
        answer(0, named());
        return Status{};
      },
      probe);
  EXPECT_EQ(outcome_of(reading), "foreign-listener");
}

TEST(AskDoors, TakesTheFirstAnswerAndNoneForItemsThatAreNotThere) {
  auto probe =
      probe_saying({.owner = Ownership::kProcess, .loopback = true, .peer = "127.0.0.1:80"});
  const DoorReading reading = ask_scripted(
      [](std::span<const DoorAsk>, const DoorProber::Admit& admit,
         const DoorProber::Answer& answer) {
        const ConnectedSocket socket{0, -1};
        Admission admission;
        admit({&socket, 1}, {&admission, 1});
        answer(7, named());
        DoorReading failed;
        failed.reason = Reason::kNotJson;
        answer(0, failed);
        answer(0, named());
        return Status{};
      },
      probe);
  EXPECT_EQ(outcome_of(reading), "not-json");
}

TEST(AskDoors, IsUnverifiedWhereThePluginFailedOrForgot) {
  PortProbe probe;
  const DoorReading failed = ask_scripted(
      [](std::span<const DoorAsk>, const DoorProber::Admit&, const DoorProber::Answer&) -> Status {
        return fail(ErrorCode::kInternal, "it broke");
      },
      probe);
  EXPECT_EQ(outcome_of(failed), "unverified");
  EXPECT_NE(failed.detail.find("it broke"), std::string::npos);
  const DoorReading forgot = ask_scripted([](std::span<const DoorAsk>, const DoorProber::Admit&,
                                             const DoorProber::Answer&) { return Status{}; },
                                          probe);
  EXPECT_EQ(outcome_of(forgot), "unverified");
  EXPECT_EQ(forgot.plugin, "test.scripted");
}

TEST(AskDoors, MakesNoConnectionForABadUrl) {
  DoorServer server([](DoorConnection& door) { door.hold(); });
  const std::string port = std::to_string(server.port());
  PortProbe probe;
  const std::pair<std::string, const char*> rows[] = {
      {"https://127.0.0.1:" + port, "not-supported"},
      {"http://user@127.0.0.1:" + port, "bad-url"},
      {"127.1:" + port, "bad-url"},
      {"0.0.0.0:" + port, "not-loopback"},
      {"[::]:" + port, "not-loopback"},
      {"10.0.0.1:" + port, "not-loopback"}};
  for (const auto& [url, outcome] : rows) {
    EXPECT_EQ(outcome_of(ask_one(record_of(url, kToken), probe)), outcome) << url;
  }
  EXPECT_EQ(server.connections(), 0U);
  EXPECT_EQ(probe.questions(), 0);
}

TEST(AskDoors, DoesNotExplainAFailureByWhoHoldsTheDoor) {
  auto probe = probe_saying({.owner = Ownership::kProcess,
                             .loopback = true,
                             .peer = "127.0.0.1:80",
                             .reason = "it holds every listener there"});
  const DoorReading reading = ask_scripted(
      [](std::span<const DoorAsk>, const DoorProber::Admit& admit,
         const DoorProber::Answer& answer) {
        const ConnectedSocket socket{0, -1};
        Admission admission;
        admit({&socket, 1}, {&admission, 1});
        DoorReading failed;
        failed.reason = Reason::kNoSession;
        answer(0, failed);
        return Status{};
      },
      probe);
  EXPECT_EQ(outcome_of(reading), "no-session");
  EXPECT_EQ(reading.ownership, Ownership::kProcess);
  EXPECT_EQ(reading.detail, "");
}

TEST(AskDoors, SaysWhichPathAnsweredWithAnHttpError) {
  DoorServer server([](DoorConnection& door) {
    door.read_request();
    door.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  });
  PortProbe probe;
  const DoorReading posted = ask_one(record_of(server.url(), kToken), probe);
  EXPECT_EQ(outcome_of(posted), "http-status");
  EXPECT_EQ(posted.detail, "it answers 503 Busy to POST /");
  Record without = record_of(server.url(), kToken);
  without.door_token.reset();
  EXPECT_EQ(ask_one(without, probe).detail,
            "it answers 503 Busy to GET /.well-known/agent-card.json");
}

TEST(AskDoors, SaysWhichKindHasNoPlugin) {
  PortProbe probe;
  const DoorReading reading = ask_one(record_of(DoorSpec{"gopher", {}}, "127.0.0.1:70"), probe);
  EXPECT_EQ(outcome_of(reading), "no-plugin");
  EXPECT_FALSE(reading.detail.empty());
}

TEST(AskDoors, AnswersInTheOrderOfTheQuestionsOverManyKinds) {
  DoorServer slow([](DoorConnection& door) {
    door.read_request();
    if (door.pause(100)) door.send(ok_response(card_naming(kSession)));
  });
  DoorServer held([](DoorConnection& door) { door.hold(); });
  PortProbe probe;
  const auto readings = ask_all({record_of(DoorSpec{"gopher", {}}), record_of(slow.url()),
                                 record_of(DoorSpec{"tcp", {}}, held.url()), record_of("127.1:80"),
                                 record_of("127.0.0.1:" + std::to_string(free_port()))},
                                probe);
  ASSERT_EQ(readings.size(), 5U);
  EXPECT_EQ(outcome_of(readings[0]), "no-plugin");
  EXPECT_EQ(outcome_of(readings[1]), "live");
  EXPECT_EQ(outcome_of(readings[2]), "live");
  EXPECT_EQ(outcome_of(readings[3]), "bad-url");
  EXPECT_EQ(outcome_of(readings[4]), "refused");
  EXPECT_EQ(readings[1].plugin, "rollcall.a2a_door");
  EXPECT_EQ(readings[2].plugin, "rollcall.tcp_door");
}

TEST(AskDoors, AnswersNoQuestions) {
  PortProbe probe;
  EXPECT_TRUE(ask_all({}, probe).empty());
}

TEST(AskDoors, AsksAListedHostWithoutItsToken) {
  const std::string host = outside_address();
  if (host.empty()) GTEST_SKIP() << "this machine has no address beside loopback";
  DoorServer server(
      [](DoorConnection& door) {
        door.read_request();
        door.send(ok_response(card_naming(kSession)));
      },
      Where::kAnyIpv4);
  const auto record = record_of(host + ":" + std::to_string(server.port()), kToken);
  PortProbe probe;
  EXPECT_EQ(outcome_of(ask_one(record, probe)), "not-loopback");
  EXPECT_EQ(server.connections(), 0U);
  EXPECT_EQ(outcome_of(ask_one(record, probe, {.allow_hosts = {host}})), "live");
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].find(kToken), std::string::npos);
}

}  // namespace
}  // namespace rollcall::test
