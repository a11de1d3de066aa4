// The mark of a process where two processes have one number.
#include <gtest/gtest.h>
#include <sched.h>

#include "core/process_mark.hpp"
#include "support/process.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST(ProcessMark, KnowsAChildThatHasTheSamePidInItsOwnNamespace) {
  auto outer = Child::run([] {
    if (::unshare(CLONE_NEWPID) != 0) return 77;
    // The first child is pid 1 of a namespace; its own first child in another one is pid 1, too.
    auto first = Child::run([] {
      const core::ProcessMark mark;
      if (::unshare(CLONE_NEWPID) != 0) return 77;
      auto second = Child::run([&] {
        if (::getpid() != 1) return 78;
        return mark.in_same_process() ? 1 : 0;
      });
      const auto status = second.wait();
      return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 79;
    });
    const auto status = first.wait();
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 79;
  });
  const auto status = outer.wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  if (WEXITSTATUS(*status) == 77) GTEST_SKIP() << "a pid namespace of our own needs root";
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

}  // namespace
}  // namespace rollcall
