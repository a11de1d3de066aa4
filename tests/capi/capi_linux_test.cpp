// The C API over a real home and real processes that end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "capi/registry_fixture.hpp"

namespace rollcall::test {
namespace {

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

}  // namespace
}  // namespace rollcall::test
