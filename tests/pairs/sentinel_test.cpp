// What a sentinel of a pair says, in both forms that writers use.
#include <gtest/gtest.h>

#include "rollcall/pairs.hpp"
#include "support/fakes.hpp"

namespace rollcall::pairs {
namespace {

using test::absent;
using test::present;
using test::unreadable;

constexpr std::string_view kBoot = "0fb4a0a2-5d5c-4b0e-9b2e-6c0a2b7c9d10";

Here here(HomeKind home = HomeKind::kLocal) {
  Here machine;
  machine.home = home;
  machine.boot_id = std::string(kBoot);
  return machine;
}

ProcessIdentity identity(std::string_view sentinel) {
  const auto parsed = parse_sentinel(sentinel);
  EXPECT_TRUE(parsed);
  return parsed.value_or(ProcessIdentity{});
}

Liveness judged(std::string_view sentinel, const Observation& read, const Here& machine,
                std::optional<std::int64_t> boot = {}) {
  return judge_sentinel(identity(sentinel), read, machine, boot).state;
}

TEST(PairSentinel, IsAliveDeadOrUnknownAsItsIdentityIs) {
  const std::string recorded = "4242:" + std::string(kBoot) + ":77";
  EXPECT_EQ(judged(recorded, present(4242, "77"), here()), Liveness::kAlive);
  EXPECT_EQ(judged(recorded, present(4242, "78"), here()), Liveness::kDead);
  EXPECT_EQ(judged(recorded, absent(4242), here()), Liveness::kDead);
  EXPECT_EQ(judged(recorded, unreadable(4242, "hidden"), here()), Liveness::kUnknown);
  EXPECT_EQ(judged(recorded, present(4242, ""), here()), Liveness::kUnknown);
  auto unknown_boot = here();
  unknown_boot.boot_id.reset();
  EXPECT_EQ(judged(recorded, present(4242, "77"), unknown_boot), Liveness::kUnknown);
}

TEST(PairSentinel, OfAnotherBootIsDeadUnlessTheHomeMayBeShared) {
  EXPECT_EQ(judged("4242:another-boot:77", present(4242, "77"), here()), Liveness::kDead);
  EXPECT_EQ(judged("4242:another-boot:77", present(4242, "77"), here(HomeKind::kShared)),
            Liveness::kUnknown);
  EXPECT_EQ(judged("4242:another-boot:77", absent(4242), here(HomeKind::kShared)),
            Liveness::kUnknown);
}

TEST(PairSentinel, InSecondsIsComparedInItsWritersFormAndADifferenceProvesNothing) {
  constexpr std::int64_t kBootS = 1'785'713'468;
  const std::string recorded = "4242:1785713468:1785800000";
  EXPECT_EQ(judged(recorded, present(4242, "1785800000.000431"), here(), kBootS), Liveness::kAlive);
  EXPECT_EQ(judged(recorded, present(4242, "1785800001.000431"), here(), kBootS),
            Liveness::kUnknown);
  EXPECT_EQ(judged(recorded, present(4242, "1785800000.000431"), here(), kBootS + 1),
            Liveness::kUnknown);
  EXPECT_EQ(judged(recorded, present(4242, ""), here(), kBootS), Liveness::kUnknown);
  EXPECT_EQ(judged(recorded, unreadable(4242, "hidden"), here(), kBootS), Liveness::kUnknown);
}

TEST(PairSentinel, InSecondsOfAPidThatNobodyHoldsIsDeadOnItsOwnMachine) {
  EXPECT_EQ(judged("4242:1785713468:1785800000", absent(4242), here(), 1'785'713'468),
            Liveness::kDead);
  EXPECT_EQ(
      judged("4242:1785713468:1785800000", absent(4242), here(HomeKind::kShared), 1'785'713'468),
      Liveness::kUnknown);
}

TEST(PairSentinel, InSecondsCannotBeToldWhereNobodyCountsSo) {
  EXPECT_EQ(judged("4242:1785713468:1785800000", present(4242, "1785800000"), here()),
            Liveness::kUnknown);
  EXPECT_EQ(judged("4242:1785713468:1785800000", absent(4242), here()), Liveness::kUnknown);
}

TEST(PairSentinel, OfWindowsIsDecimalAndIsNoOtherWritersForm) {
  auto windows = here();
  windows.boot_rule = BootRule::kWithin120s;
  windows.boot_id = "1785713400";
  EXPECT_FALSE(has_seconds_form(identity("4242:1785713460:134300000000000000")));
  EXPECT_EQ(
      judged("4242:1785713460:134300000000000000", present(4242, "134300000000000000"), windows),
      Liveness::kAlive);
  EXPECT_EQ(
      judged("4242:1785713460:134300000000000000", present(4242, "134300000000000001"), windows),
      Liveness::kDead);
}

}  // namespace
}  // namespace rollcall::pairs
