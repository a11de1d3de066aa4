// The C API over a real home.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capi/convert.hpp"
#include "capi/registry_fixture.hpp"
#include "plugin/check_suite.hpp"

namespace rollcall::test {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_EQ(during[0].pid, loader::own_pid());
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
}  // namespace rollcall::test
