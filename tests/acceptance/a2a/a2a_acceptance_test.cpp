// Our prober against the official A2A servers, and the official clients against our own door.
#include <gtest/gtest.h>

#include <algorithm>

#include "acceptance/a2a/node_process.hpp"
#include "doors/session_door.hpp"
#include "support/rig.hpp"

namespace rollcall::test {
namespace {

constexpr const char* kSession = "ses_0199c4e2f1b7712a9d3e4f5061728394";
constexpr const char* kToken = "mdt1.cGF5bG9hZA.bWFj";
constexpr const char* kMurmur = "https://docs.murmur.nexus/reference/agent-card/#murmur-capsule-v1";

std::string field(const char* key, const std::string& value) {
  return std::string(",\"") + key + "\":\"" + value + "\"";
}

// An official server with a session behind it.
class Peer {
 public:
  explicit Peer(const std::string& profile, const std::string& more = {},
                const std::string& session = kSession)
      : node_("peer.mjs", R"({"profile":")" + profile + '"' + field("session", session) +
                              field("token", kToken) + more + "}") {
    const std::string ready = node_.line_with("\"port\"");
    if (!ready.empty()) port_ = std::atoi(ready.c_str() + ready.find(':') + 1);
  }
  [[nodiscard]] pid_t pid() const { return node_.pid(); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] NodeProcess& node() { return node_; }
  // How many requests came, and how many of them with the right token.
  [[nodiscard]] std::size_t requests(const char* with = "\"path\"") {
    const auto lines = node_.lines();
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return line.find(with) != std::string::npos; }));
  }
  [[nodiscard]] std::size_t tokens_seen() { return requests("\"token\":true"); }

 private:
  NodeProcess node_;
  int port_ = 0;
};

class A2aAcceptance : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_no_node()) GTEST_SKIP() << *why;
    ASSERT_TRUE(rig.problem.empty()) << rig.problem;
  }

  // Records the process as the session and says what verifying it gives: "live", or the reason.
  std::string verify(std::int64_t pid, const std::string& url,
                     const std::optional<std::string>& token = {},
                     const std::optional<DoorSpec>& door = {}) {
    Record record;
    record.session_id = kSession;
    record.name = "peer";
    record.version = "1";
    record.workdir = "/";
    record.url = url;
    record.door_token = token;
    record.door = door;
    auto identity = rig.registry->identify(pid, {});
    if (!identity) return identity.error().message;
    record.process = *identity;
    RegisterOptions options;
    options.guarded = false;
    options.replace = true;
    auto written = rig.registry->register_session(record, options, {});
    if (!written) return written.error().message;
    return again();
  }
  std::string verify(const Peer& peer, const std::optional<std::string>& token = {},
                     const std::optional<DoorSpec>& door = {}) {
    return verify(peer.pid(), peer.url(), token, door);
  }
  // Verifies the session that is recorded already.
  std::string again() {
    auto view = rig.registry->verify(kSession, true, {});
    if (!view) return view.error().message;
    last = *view;
    if (view->finding.verdict == Verdict::kLive) return "live";
    return std::string(to_text(view->finding.reason));
  }
  // Everything that was said of the last verdict.
  std::string told() {
    std::string text = last.finding.text;
    auto here = rig.registry->here({});
    if (!here) return text;
    for (const auto& line : explain(last, *here)) {
      text += "\n" + line.layer + line.recorded + line.read + line.by + line.follows;
    }
    return text;
  }

  Rig rig;
  SessionView last;
};

struct Profile {
  const char* name;
  bool token;
  const char* without_token;  // the outcome where a token is wanted and none, or a wrong one, given
  const char* with_wrong_token;
};

const Profile kProfiles[] = {
    {"open-v1", false, "", ""},
    {"open-both", false, "", ""},
    {"open-v03", false, "", ""},
    {"token-v1", true, "token-missing", "no-session"},
    {"token-v1-gate", true, "token-missing", "token-refused"},
    {"token-both", true, "token-missing", "token-refused"},
    {"token-v03", true, "token-missing", "no-session"},
    {"token-v03-gate", true, "token-missing", "token-refused"},
};

class OfficialServer : public A2aAcceptance, public ::testing::WithParamInterface<Profile> {};

TEST_P(OfficialServer, IsProvenLiveAndOnlyWithItsOwnToken) {
  const Profile& profile = GetParam();
  Peer peer(profile.name);
  ASSERT_NE(peer.port(), 0);
  if (!profile.token) {
    EXPECT_EQ(verify(peer), "live");
    return;
  }
  EXPECT_EQ(verify(peer, kToken), "live");
  EXPECT_EQ(verify(peer), profile.without_token);
  EXPECT_EQ(verify(peer, "wrong-token-0"), profile.with_wrong_token);
  EXPECT_EQ(told().find("wrong-token-0"), std::string::npos);
}

TEST_P(OfficialServer, IsNotLiveForAnotherSessionOrForNobody) {
  const Profile& profile = GetParam();
  const std::optional<std::string> token =
      profile.token ? std::optional<std::string>(kToken) : std::nullopt;
  Peer other(profile.name, {}, "ses_somebody_else");
  EXPECT_EQ(verify(other, token), "other-session");
  Peer nobody(profile.name, field("names", "nobody"));
  EXPECT_EQ(verify(nobody, token), "no-session");
  Peer empty(profile.name, field("names", "empty"));
  EXPECT_EQ(verify(empty, token), "no-session");
}

INSTANTIATE_TEST_SUITE_P(Profiles, OfficialServer, ::testing::ValuesIn(kProfiles),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(A2aAcceptance, TheOldestServerIsLiveOnlyWhereItsPathIsEnabled) {
  Peer peer("open-v02");
  EXPECT_EQ(verify(peer), "http-status");
  EXPECT_EQ(verify(peer, {}, DoorSpec{"a2a", {{"legacy_card_path", "1"}}}), "live");
}

TEST_F(A2aAcceptance, TheOtherKnownExtensionNamesTheSessionToo) {
  Peer peer("open-v1", field("uri", kMurmur));
  EXPECT_EQ(verify(peer), "live");
}

TEST_F(A2aAcceptance, AServerThatPromisesAnExtendedCardItHasNotIsAnRpcError) {
  Peer peer("token-v1-promise");
  EXPECT_EQ(verify(peer, kToken), "rpc-error");
}

TEST_F(A2aAcceptance, AStoppedServerIsUnreachableAndLiveAgainOnceItGoesOn) {
  Peer peer("open-v1");
  EXPECT_EQ(verify(peer), "live");
  peer.node().signal(SIGSTOP);
  ASSERT_TRUE(testing::wait_until([&] { return testing::state_of(peer.pid()) == 'T'; }));
  EXPECT_NE(again(), "live");
  EXPECT_EQ(last.finding.verdict, Verdict::kUnreachable);
  EXPECT_EQ(last.process.state, ProcessState::kAlive);
  peer.node().signal(SIGCONT);
  EXPECT_EQ(again(), "live");
}

TEST_F(A2aAcceptance, AnotherServerOnTheSamePortIsNeverLiveForTheOldRecord) {
  Peer first("token-v1");
  EXPECT_EQ(verify(first, kToken), "live");
  const int port = first.port();
  first.node().end();
  Peer second("token-v1", ",\"port\":" + std::to_string(port));
  ASSERT_EQ(second.port(), port);
  EXPECT_NE(again(), "live");
  EXPECT_EQ(last.finding.verdict, Verdict::kGone);
  EXPECT_EQ(second.requests(), 0U);
}

TEST_F(A2aAcceptance, AStrangerOnThePortOfALivingProcessIsNotLiveAndGetsNoToken) {
  testing::Child session = testing::Child::sleeper();
  for (const char* profile : {"open-v1", "token-v1"}) {
    Peer stranger(profile);
    EXPECT_EQ(verify(session.pid(), stranger.url(), kToken), "foreign-listener");
    EXPECT_EQ(stranger.requests(), 0U);
  }
}

TEST_F(A2aAcceptance, AServerThatTakesFourSecondsIsLive) {
  Peer peer("open-v1", ",\"delayMs\":4000");
  EXPECT_EQ(verify(peer), "live");
}

TEST_F(A2aAcceptance, AServerThatTakesSixSecondsIsCutOffAtFive) {
  Peer peer("open-v1", ",\"delayMs\":6000");
  EXPECT_EQ(verify(peer), "read-timeout");
  ASSERT_TRUE(last.door);
  EXPECT_GE(last.door->elapsed_ns, 4'900'000'000);
  EXPECT_LT(last.door->elapsed_ns, 5'900'000'000);
}

TEST_F(A2aAcceptance, TheTokenGoesToTheServerAndStandsInNothingThatIsTold) {
  Peer peer("token-both", {}, "ses_somebody_else");
  EXPECT_EQ(verify(peer, kToken), "other-session");
  EXPECT_EQ(peer.tokens_seen(), 1U);
  EXPECT_EQ(told().find(kToken), std::string::npos);
}

struct Reader {
  const char* client;
  const char* protocol;
};

class OfficialClient : public A2aAcceptance, public ::testing::WithParamInterface<Reader> {
 protected:
  static std::string read(const SessionDoor& door, const std::string& token) {
    NodeProcess reader("reader.mjs", R"({"client":")" + std::string(GetParam().client) + '"' +
                                         field("url", door.url()) + field("token", token) + "}");
    return reader.line_with("{");
  }
  static std::unique_ptr<SessionDoor> open(std::optional<std::string> token = {}) {
    auto door = SessionDoor::open(
        {.session_id = kSession, .name = "own", .version = "1", .token = std::move(token)});
    EXPECT_TRUE(door) << door.error().message;
    return door ? std::move(*door) : nullptr;
  }
};

TEST_P(OfficialClient, ReadsOurOwnDoor) {
  const auto door = open();
  const auto said = read(*door, "");
  EXPECT_NE(said.find(kSession), std::string::npos) << said;
  EXPECT_NE(said.find(std::string("\"protocol\":\"") + GetParam().protocol), std::string::npos)
      << said;
}

TEST_P(OfficialClient, ReadsOurOwnDoorWithItsTokenOnly) {
  const auto door = open(kToken);
  EXPECT_NE(read(*door, kToken).find(kSession), std::string::npos);
  EXPECT_NE(read(*door, "wrong").find("error"), std::string::npos);
  EXPECT_EQ(read(*door, "").find(kSession), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Clients, OfficialClient,
                         ::testing::Values(Reader{"v1", "1.0"}, Reader{"v1-old", "0.3"},
                                           Reader{"v03", "0.3"}),
                         [](const auto& tested) {
                           std::string name = tested.param.client;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace rollcall::test
