// A plugin that hangs costs its own deadline and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "plugin/detached_thread.hpp"
#include "plugin/load.hpp"
#include "plugin/support.hpp"

namespace rollcall::testing {
namespace {

using ::testing::HasSubstr;

Call call_within(std::chrono::nanoseconds time) {
  return {.deadline_ns = system_clock()->monotonic_ns() + time.count()};
}

std::int64_t seconds_since(std::int64_t began_ns) {
  return (system_clock()->monotonic_ns() - began_ns) / 1'000'000'000;
}

TEST(Hang, InObserveMakesThePluginUnresponsiveAndItsReadingsUnknown) {
  PluginFolder folder;
  folder.add("fault_observe_hangs");
  const auto host = open_host(folder);
  const auto probe = host->probe("com.example.fault.observe-hangs");
  ASSERT_TRUE(probe) << probe.error().message;
  const Ask ask{.pid = 7, .wants = kWantStartToken};
  Observation out;
  const std::int64_t began = system_clock()->monotonic_ns();
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, call_within(std::chrono::milliseconds(50))));
  EXPECT_EQ(out.presence, Presence::kUnreadable);
  EXPECT_THAT(std::string(out.reason.view()), HasSubstr("unresponsive"));
  const auto infos = host->plugins();
  EXPECT_EQ(infos.front().state, PluginState::kUnresponsive);
  EXPECT_THAT(infos.front().reason, HasSubstr("observe"));

  // From then on nobody waits for it, whatever the deadline.
  out = {};
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));
  EXPECT_EQ(out.presence, Presence::kUnreadable);
  EXPECT_FALSE(host->probe("com.example.fault.observe-hangs"));
  EXPECT_LT(seconds_since(began), 10);
}

TEST(Hang, IsNotWaitedForOnceTheCallIsCancelled) {
  PluginFolder folder;
  folder.add("fault_observe_hangs");
  const auto host = open_host(folder);
  const auto probe = host->probe("com.example.fault.observe-hangs");
  ASSERT_TRUE(probe) << probe.error().message;
  const Ask ask{.pid = 7};
  Observation out;
  Call call;  // without a deadline
  call.cancel.cancel();
  const std::int64_t began = system_clock()->monotonic_ns();
  ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, call));
  EXPECT_EQ(out.presence, Presence::kUnreadable);
  EXPECT_LT(seconds_since(began), 20);
}

TEST(Hang, InInitIsRefusedAndNotTriedAgain) {
  PluginFolder folder;
  folder.add("fault_init_hangs");
  const auto candidate = loader::read_candidate(folder.library("fault_init_hangs"), {}, false);
  const loader::LoadOptions options = {.init_limit_ns = 50'000'000,
                                       .log = std::make_shared<loader::LogSink>(nullptr)};
  const auto first = loader::load_plugin(candidate, options);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message, HasSubstr("its init did not return within 50 ms"));
  const auto second = loader::load_plugin(candidate, options);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("it hung earlier in this process"));
}

TEST(Hang, InOnePluginLeavesAnotherAlone) {
  PluginFolder folder;
  folder.add("fault_observe_hangs");
  folder.add("fault_none");
  const auto host = open_host(folder);
  const auto hanging = host->probe("com.example.fault.observe-hangs");
  // Lost in an earlier test of this process or not: either way it must not reach the other.
  const Ask ask{.pid = 7};
  Observation out;
  if (hanging) {
    (void)(*hanging)->observe({&ask, 1}, {&out, 1}, call_within(std::chrono::milliseconds(1)));
  }
  const auto good = host->probe("com.example.fault.none");
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_TRUE((*good)->observe({&ask, 1}, {&out, 1}, {}));
  EXPECT_EQ(out.presence, Presence::kAbsent);
}

TEST(DetachedThread, RunsEachOfManyThatAreStartedAndLeft) {
  constexpr int kThreads = 301;
  const auto ran = std::make_shared<std::atomic<int>>(0);
  for (int i = 1; i <= kThreads; ++i) {
    loader::start_detached([ran] { ++*ran; });
    if (i % 3 == 0) continue;  // the next one starts beside it
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (*ran < i && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(*ran, i);
  }
}

}  // namespace
}  // namespace rollcall::testing
