// The C API over a real home and real processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capi/convert.hpp"
#include "rollcall/rollcall.h"
#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;

struct Seen {
  std::string id;
  std::string name;
  std::string reason_code;
  std::string reason;
  std::optional<std::string> url;
  std::int64_t pid = 0;
  std::uint32_t verdict = 0;
};

std::int32_t collect(void* context, const rollcall_session* session) {
  Seen seen;
  seen.id = session->session_id;
  seen.name = session->name;
  seen.reason_code = session->reason_code;
  seen.reason = session->reason;
  if (session->url != nullptr) seen.url = session->url;
  seen.pid = session->pid;
  seen.verdict = session->verdict;
  static_cast<std::vector<Seen>*>(context)->push_back(seen);
  return ROLLCALL_OK;
}

rollcall_error fresh_error() {
  rollcall_error error{};
  error.struct_size = sizeof(error);
  return error;
}

rollcall_new_session session_named(const char* id) {
  rollcall_new_session session{};
  session.struct_size = sizeof(session);
  session.session_id = id;
  session.name = "capi";
  session.version = "1";
  session.workdir = "/";
  return session;
}

class CApi : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rollcall-capi.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    home_ = folder_ / "home";
    registry_ = open();
    ASSERT_NE(registry_, nullptr);
  }
  void TearDown() override {
    rollcall_close(registry_);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  rollcall_registry* open() {
    rollcall_open_options options{};
    options.struct_size = sizeof(options);
    options.flags = ROLLCALL_OPEN_NO_ENVIRONMENT;
    options.home = home_.c_str();
    options.plugin_dir = rollcall::test::kPluginDir;
    rollcall_registry* registry = nullptr;
    auto error = fresh_error();
    EXPECT_EQ(rollcall_open(&options, &registry, &error), ROLLCALL_OK) << error.message;
    return registry;
  }

  std::vector<Seen> list() {
    std::vector<Seen> seen;
    auto error = fresh_error();
    EXPECT_EQ(rollcall_list(registry_, 0, collect, &seen, nullptr, &error), ROLLCALL_OK)
        << error.message;
    return seen;
  }

  rollcall_registration* enrol(const rollcall_new_session& session) {
    rollcall_registration* registration = nullptr;
    auto error = fresh_error();
    EXPECT_EQ(rollcall_register(registry_, &session, &registration, nullptr, &error), ROLLCALL_OK)
        << error.message;
    return registration;
  }

  fs::path folder_;
  fs::path home_;
  rollcall_registry* registry_ = nullptr;
};

// A child that registers itself, says so through a pipe, and then waits for its end.
class RegisteredChild {
 public:
  template <class Enrol>
  explicit RegisteredChild(const Enrol& enrol) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char answer = enrol() ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
  }
  ~RegisteredChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  RegisteredChild(const RegisteredChild&) = delete;
  RegisteredChild& operator=(const RegisteredChild&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST_F(CApi, AMissingHomeIsAnEmptyRegistryAndStaysMissing) {
  EXPECT_TRUE(list().empty());
  EXPECT_FALSE(fs::exists(home_));
}

TEST_F(CApi, ASessionIsListedForAsLongAsItsRegistrationIsHeld) {
  const auto session = session_named("here");
  auto* registration = enrol(session);
  ASSERT_NE(registration, nullptr);
  EXPECT_STREQ(rollcall_registration_id(registration), "here");
  const auto during = list();
  ASSERT_EQ(during.size(), 1u);
  EXPECT_EQ(during[0].id, "here");
  EXPECT_EQ(during[0].name, "capi");
  EXPECT_EQ(during[0].pid, ::getpid());
  EXPECT_EQ(during[0].url, std::nullopt);
  EXPECT_EQ(during[0].verdict, ROLLCALL_VERDICT_LIVE) << during[0].reason;
  EXPECT_EQ(rollcall_registration_release(registration, nullptr), ROLLCALL_OK);
  EXPECT_TRUE(list().empty());
}

TEST_F(CApi, ASessionWithoutAnIdGetsOne) {
  const auto session = session_named(nullptr);
  auto* registration = enrol(session);
  ASSERT_NE(registration, nullptr);
  const std::string id = rollcall_registration_id(registration);
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(id.substr(0, 4), "ses_");
  EXPECT_EQ(rollcall_registration_release(registration, nullptr), ROLLCALL_OK);
}

TEST_F(CApi, AnIdThatIsAliveIsNotGivenTwice) {
  const auto session = session_named("once");
  auto* first = enrol(session);
  rollcall_registration* second = nullptr;
  auto error = fresh_error();
  EXPECT_EQ(rollcall_register(registry_, &session, &second, nullptr, &error), ROLLCALL_E_EXISTS);
  EXPECT_NE(std::string(error.message), "");
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(rollcall_registration_release(first, nullptr), ROLLCALL_OK);
}

TEST_F(CApi, AnUnknownSessionIsNotFoundAndTheMessageSaysWhich) {
  std::vector<Seen> seen;
  auto error = fresh_error();
  EXPECT_EQ(rollcall_verify(registry_, "nobody", collect, &seen, nullptr, &error),
            ROLLCALL_E_NOT_FOUND);
  EXPECT_EQ(error.code, ROLLCALL_E_NOT_FOUND);
  EXPECT_NE(std::string(error.message).find("nobody"), std::string::npos) << error.message;
  EXPECT_TRUE(seen.empty());
}

TEST_F(CApi, StopEndsTheRecordedProcessAndThenFindsItGone) {
  const RegisteredChild child([&] {
    auto* mine = open();
    const auto session = session_named("child");
    rollcall_registration* registration = nullptr;
    return rollcall_register(mine, &session, &registration, nullptr, nullptr) == ROLLCALL_OK;
  });
  rollcall_stop_result result{};
  result.struct_size = sizeof(result);
  auto error = fresh_error();
  ASSERT_EQ(rollcall_stop(registry_, "child", 0, &result, nullptr, &error), ROLLCALL_OK)
      << error.message;
  EXPECT_EQ(result.outcome, ROLLCALL_STOP_ENDED) << result.reason;
  EXPECT_GE(result.signals_sent, 1u);

  // Seen to go: its record went with it.
  EXPECT_TRUE(list().empty());
  EXPECT_EQ(rollcall_stop(registry_, "child", 0, &result, nullptr, &error), ROLLCALL_E_NOT_FOUND);
}

TEST_F(CApi, ASessionThatWasKilledIsGoneAndSignalledNoMore) {
  {
    const RegisteredChild child([&] {
      auto* mine = open();
      const auto session = session_named("child");
      rollcall_registration* registration = nullptr;
      return rollcall_register(mine, &session, &registration, nullptr, nullptr) == ROLLCALL_OK;
    });
  }
  std::vector<Seen> seen;
  auto error = fresh_error();
  ASSERT_EQ(rollcall_verify(registry_, "child", collect, &seen, nullptr, &error), ROLLCALL_OK)
      << error.message;
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].verdict, ROLLCALL_VERDICT_GONE);
  EXPECT_EQ(seen[0].reason_code, "no-process");
  rollcall_stop_result result{};
  result.struct_size = sizeof(result);
  ASSERT_EQ(rollcall_stop(registry_, "child", 0, &result, nullptr, &error), ROLLCALL_OK)
      << error.message;
  EXPECT_EQ(result.outcome, ROLLCALL_STOP_ALREADY_GONE);
  EXPECT_EQ(result.signals_sent, 0u);
}

TEST_F(CApi, ACancelledCallGivesUp) {
  const auto session = session_named("here");
  auto* registration = enrol(session);
  rollcall_bounds bounds{};
  bounds.struct_size = sizeof(bounds);
  bounds.canceller = rollcall_canceller_new();
  rollcall_canceller_cancel(bounds.canceller);
  std::vector<Seen> seen;
  EXPECT_EQ(rollcall_list(registry_, 0, collect, &seen, &bounds, nullptr), ROLLCALL_E_CANCELLED);
  EXPECT_TRUE(seen.empty());
  rollcall_canceller_free(bounds.canceller);
  EXPECT_EQ(rollcall_registration_release(registration, nullptr), ROLLCALL_OK);
}

TEST_F(CApi, ANegativeAnswerEndsTheListingAndIsReturned) {
  auto* first = enrol(session_named("a"));
  auto* second = enrol(session_named("b"));
  int calls = 0;
  const auto stop_at_once = [](void* context, const rollcall_session*) -> std::int32_t {
    ++*static_cast<int*>(context);
    return -77;
  };
  EXPECT_EQ(rollcall_list(registry_, 0, stop_at_once, &calls, nullptr, nullptr), -77);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(rollcall_registration_release(first, nullptr), ROLLCALL_OK);
  EXPECT_EQ(rollcall_registration_release(second, nullptr), ROLLCALL_OK);
}

TEST(CApiText, AMessageIsCutAtACodePoint) {
  std::array<char, 5> out{};
  rollcall::capi::copy_text("abc\xC3\xA9", out.data(), out.size());
  EXPECT_STREQ(out.data(), "abc");
  rollcall::capi::copy_text("abcd", out.data(), out.size());
  EXPECT_STREQ(out.data(), "abcd");
}

TEST(CApiError, AShorterErrorOfAnOlderHostIsNotOverrun) {
  rollcall_error error{};
  error.struct_size = offsetof(rollcall_error, message) + 8;
  error.message[8] = '!';
  rollcall::capi::report({rollcall::ErrorCode::kNotFound, "a long sentence"}, &error);
  EXPECT_EQ(error.code, ROLLCALL_E_NOT_FOUND);
  EXPECT_STREQ(error.message, "a long ");
  EXPECT_EQ(error.message[8], '!');
}

TEST(CApiBounds, ANegativeTimeoutIsInvalidAndAHugeOneIsNone) {
  rollcall_bounds bounds{};
  bounds.struct_size = sizeof(bounds);
  bounds.timeout_ms = -1;
  const auto clock = rollcall::system_clock();
  EXPECT_FALSE(rollcall::capi::to_call(&bounds, *clock));
  bounds.timeout_ms = INT64_MAX;
  const auto call = rollcall::capi::to_call(&bounds, *clock);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->deadline_ns, rollcall::kNoDeadline);
}

}  // namespace
