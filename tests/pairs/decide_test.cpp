// Every row of the rules of docs/pairs.md, and every combination of files.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "rollcall/pairs.hpp"

namespace rollcall::pairs {
namespace {

constexpr std::int64_t kNow = 1'790'000'000'000'000'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kS = 1'000 * kMs;

// What stands where a file may stand.
enum class Mark { kAbsent, kPresent, kUnreadable };
constexpr Mark kMarks[] = {Mark::kAbsent, Mark::kPresent, Mark::kUnreadable};

enum class Sentinel { kAbsent, kUnreadable, kAlive, kDead, kUntold };
constexpr Sentinel kSentinels[] = {Sentinel::kAbsent, Sentinel::kUnreadable, Sentinel::kAlive,
                                   Sentinel::kDead, Sentinel::kUntold};

// A file whose time counts; the name says how old it is.
enum class Age { kAbsent, kUnreadable, k29999ms, k30s, kAhead30s, kAheadMore };
constexpr Age kAges[] = {Age::kAbsent, Age::kUnreadable, Age::k29999ms,
                         Age::k30s,    Age::kAhead30s,   Age::kAheadMore};

FileFact file(Mark mark) {
  switch (mark) {
    case Mark::kAbsent:
      return {};
    case Mark::kPresent:
      return {FileState::kPresent, kNow - 3600 * kS, {}};
    case Mark::kUnreadable:
      break;
  }
  return {FileState::kUnreadable, 0, "cannot be read"};
}

FileFact file(Age age) {
  const auto at = [](std::int64_t ns) { return FileFact{FileState::kPresent, kNow + ns, {}}; };
  switch (age) {
    case Age::kAbsent:
      return {};
    case Age::kUnreadable:
      return {FileState::kUnreadable, 0, "cannot be read"};
    case Age::k29999ms:
      return at(-29'999 * kMs);
    case Age::k30s:
      return at(-30 * kS);
    case Age::kAhead30s:
      return at(30 * kS);
    case Age::kAheadMore:
      break;
  }
  return at(30 * kS + 1);
}

SentinelFact sentinel(Sentinel kind) {
  SentinelFact fact;
  if (kind == Sentinel::kAbsent) return fact;
  if (kind == Sentinel::kUnreadable) {
    fact.file = file(Mark::kUnreadable);
    return fact;
  }
  fact.file = file(Mark::kPresent);
  fact.identity.emplace();
  fact.identity->pid = 4242;
  fact.verdict = kind == Sentinel::kAlive  ? Liveness::kAlive
                 : kind == Sentinel::kDead ? Liveness::kDead
                                           : Liveness::kUnknown;
  return fact;
}

GenerationFacts generation(std::uint64_t number, Sentinel pid, Mark exited = Mark::kAbsent,
                           Age sh = Age::kAbsent, Age ps1 = Age::kAbsent) {
  return {number, sentinel(pid), file(exited), file(sh), file(ps1)};
}

PairFacts pair_of(std::vector<GenerationFacts> generations, std::uint64_t wanted = 2) {
  PairFacts facts;
  facts.record = file(Mark::kPresent);
  facts.has_tab = true;
  facts.generation = wanted;
  facts.generations = std::move(generations);
  return facts;
}

Liveness terminal(const PairFacts& facts) { return decide_terminal(facts, kNow).state; }
Liveness controller(const PairFacts& facts) { return decide_controller(facts, kNow).state; }

bool is_young(Age age) { return age == Age::k29999ms || age == Age::kAhead30s; }

// What a sentinel that is there says. nullopt: it is not there.
std::optional<Liveness> said(Sentinel kind) {
  switch (kind) {
    case Sentinel::kAbsent:
      return std::nullopt;
    case Sentinel::kAlive:
      return Liveness::kAlive;
    case Sentinel::kDead:
      return Liveness::kDead;
    case Sentinel::kUnreadable:
    case Sentinel::kUntold:
      break;
  }
  return Liveness::kUnknown;
}

TEST(PairTerminal, IsNoneWithoutATabOrARecord) {
  auto facts = pair_of({generation(2, Sentinel::kAlive)});
  facts.has_tab = false;
  EXPECT_EQ(terminal(facts), Liveness::kNone);
  facts.has_tab = true;
  facts.record = file(Mark::kAbsent);
  EXPECT_EQ(terminal(facts), Liveness::kNone);
}

TEST(PairTerminal, IsUnknownWhereTheRecordCannotBeRead) {
  auto facts = pair_of({generation(2, Sentinel::kAlive)});
  facts.record = file(Mark::kUnreadable);
  const auto view = decide_terminal(facts, kNow);
  EXPECT_EQ(view.state, Liveness::kUnknown);
  EXPECT_EQ(view.reason, "cannot be read");
}

TEST(PairTerminal, IsDecidedByExitedThenSentinelThenWrapperInEveryCombination) {
  for (const Mark exited : kMarks) {
    for (const Sentinel pid : kSentinels) {
      for (const Age sh : kAges) {
        for (const Age ps1 : kAges) {
          const auto facts = pair_of({generation(2, pid, exited, sh, ps1)});
          Liveness wanted = Liveness::kUnknown;
          if (exited == Mark::kPresent) {
            wanted = Liveness::kDead;
          } else if (exited == Mark::kAbsent) {
            const Age origin = sh != Age::kAbsent ? sh : ps1;
            const auto by_time = is_young(origin) ? Liveness::kStarting : Liveness::kUnknown;
            wanted = said(pid).value_or(by_time);
          }
          EXPECT_EQ(terminal(facts), wanted)
              << static_cast<int>(exited) << ' ' << static_cast<int>(pid) << ' '
              << static_cast<int>(sh) << ' ' << static_cast<int>(ps1);
        }
      }
    }
  }
}

TEST(PairTerminal, StartsFor30SecondsAndNotLonger) {
  EXPECT_EQ(terminal(pair_of({generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::k29999ms)})),
            Liveness::kStarting);
  EXPECT_EQ(terminal(pair_of({generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::k30s)})),
            Liveness::kUnknown);
}

TEST(PairTerminal, IsNotKeptStartingByATimeInTheFuture) {
  EXPECT_EQ(terminal(pair_of({generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::kAhead30s)})),
            Liveness::kStarting);
  EXPECT_EQ(terminal(pair_of({generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::kAheadMore)})),
            Liveness::kUnknown);
  auto facts = pair_of({generation(2, Sentinel::kAbsent)});
  for (const std::int64_t extreme : {INT64_MIN, INT64_MAX}) {
    facts.generations[0].wrapper_sh = {FileState::kPresent, extreme, {}};
    for (const std::int64_t now : {INT64_MIN, std::int64_t{0}, kNow, INT64_MAX}) {
      const bool same = now == extreme;
      EXPECT_EQ(decide_terminal(facts, now).state, same ? Liveness::kStarting : Liveness::kUnknown);
    }
  }
}

TEST(PairTerminal, TakesTheShellsWrapperBeforeThePowerShellOne) {
  EXPECT_EQ(terminal(pair_of(
                {generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::k29999ms, Age::k30s)})),
            Liveness::kStarting);
  EXPECT_EQ(terminal(pair_of(
                {generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::k30s, Age::k29999ms)})),
            Liveness::kUnknown);
  EXPECT_EQ(terminal(pair_of(
                {generation(2, Sentinel::kAbsent, Mark::kAbsent, Age::kAbsent, Age::k29999ms)})),
            Liveness::kStarting);
}

TEST(PairTerminal, UsesTheWantedGenerationElseTheHighestThatWroteWhoItIs) {
  auto view = decide_terminal(
      pair_of({generation(2, Sentinel::kAlive), generation(3, Sentinel::kDead)}), kNow);
  EXPECT_EQ(view.state, Liveness::kAlive);
  EXPECT_EQ(view.generation, 2u);

  view = decide_terminal(pair_of({generation(1, Sentinel::kDead), generation(12, Sentinel::kAlive),
                                  generation(9, Sentinel::kDead)}),
                         kNow);
  EXPECT_EQ(view.state, Liveness::kAlive);
  EXPECT_EQ(view.generation, 12u);

  view = decide_terminal(pair_of({generation(1, Sentinel::kAbsent, Mark::kAbsent, Age::k29999ms)}),
                         kNow);
  EXPECT_EQ(view.state, Liveness::kUnknown);
  EXPECT_EQ(view.generation, 2u);
}

TEST(PairTerminal, CountsASentinelThatCannotBeReadAsWritten) {
  const auto view = decide_terminal(
      pair_of({generation(2, Sentinel::kUnreadable), generation(1, Sentinel::kAlive)}), kNow);
  EXPECT_EQ(view.state, Liveness::kUnknown);
  EXPECT_EQ(view.generation, 2u);
  EXPECT_TRUE(view.is_contradicted);
}

// The used generation is 1, the wanted one 2 has not written who it is.
TEST(PairTerminal, LooksAtTheWantedGenerationWhereTheUsedOneIsNotAliveInEveryCombination) {
  for (const Mark used_exited : kMarks) {
    for (const Sentinel used_pid : kSentinels) {
      if (used_pid == Sentinel::kAbsent) continue;  // then 1 is not the used one
      for (const Mark exited : kMarks) {
        for (const Age sh : kAges) {
          for (const Age ps1 : kAges) {
            const auto facts = pair_of({generation(1, used_pid, used_exited),
                                        generation(2, Sentinel::kAbsent, exited, sh, ps1)});
            Liveness used = used_exited == Mark::kPresent      ? Liveness::kDead
                            : used_exited == Mark::kUnreadable ? Liveness::kUnknown
                                                               : *said(used_pid);
            Liveness wanted = used;
            if (used != Liveness::kAlive) {
              const Age origin = sh != Age::kAbsent ? sh : ps1;
              if (exited == Mark::kPresent) {
                wanted = Liveness::kDead;
              } else if (exited == Mark::kUnreadable) {
                wanted = Liveness::kUnknown;
              } else if (is_young(origin)) {
                wanted = Liveness::kStarting;
              } else if (origin == Age::kUnreadable) {
                wanted = Liveness::kUnknown;
              }
            }
            EXPECT_EQ(terminal(facts), wanted)
                << static_cast<int>(used_exited) << ' ' << static_cast<int>(used_pid) << ' '
                << static_cast<int>(exited) << ' ' << static_cast<int>(sh) << ' '
                << static_cast<int>(ps1);
          }
        }
      }
    }
  }
}

TEST(PairController, IsDecidedByExitedThenSentinelThenTimeInEveryCombination) {
  for (const bool named : {false, true}) {
    for (const Mark exited : kMarks) {
      for (const Sentinel pid : kSentinels) {
        for (const Age lock : kAges) {
          for (const Age record : kAges) {
            PairFacts facts;
            facts.record = file(record);
            facts.has_controller = named;
            facts.controller_exited = file(exited);
            facts.controller_pid = sentinel(pid);
            facts.resume_lock = file(lock);
            Liveness wanted = Liveness::kUnknown;
            if (exited == Mark::kPresent) {
              wanted = Liveness::kDead;
            } else if (exited == Mark::kUnreadable) {
              wanted = Liveness::kUnknown;
            } else if (said(pid)) {
              wanted = *said(pid);
            } else if (lock != Age::kAbsent) {
              wanted = is_young(lock) ? Liveness::kStarting : Liveness::kUnknown;
            } else if (record == Age::kUnreadable) {
              wanted = Liveness::kUnknown;
            } else if (record == Age::kAbsent || !named) {
              wanted = Liveness::kNone;
            } else {
              wanted = is_young(record) ? Liveness::kStarting : Liveness::kUnknown;
            }
            EXPECT_EQ(controller(facts), wanted)
                << named << ' ' << static_cast<int>(exited) << ' ' << static_cast<int>(pid) << ' '
                << static_cast<int>(lock) << ' ' << static_cast<int>(record);
          }
        }
      }
    }
  }
}

TEST(PairController, IsNoneOnlyWhereNothingNamesOne) {
  PairFacts facts;
  facts.record = file(Age::k29999ms);
  EXPECT_EQ(controller(facts), Liveness::kNone);
  facts.resume_lock = file(Age::k30s);
  EXPECT_EQ(controller(facts), Liveness::kUnknown);
}

TEST(PairController, StartsFor30SecondsFromItsResumeLockElseFromTheRecord) {
  PairFacts facts;
  facts.record = file(Age::k29999ms);
  facts.has_controller = true;
  EXPECT_EQ(controller(facts), Liveness::kStarting);
  facts.resume_lock = file(Age::k30s);
  EXPECT_EQ(controller(facts), Liveness::kUnknown);
  facts.record = file(Age::k30s);
  facts.resume_lock = file(Age::k29999ms);
  EXPECT_EQ(controller(facts), Liveness::kStarting);
  facts.resume_lock = file(Age::kAheadMore);
  EXPECT_EQ(controller(facts), Liveness::kUnknown);
}

TEST(PairController, IsContradictedByWhatIsThereAndNotByWhatIsMissing) {
  PairFacts facts;
  facts.record = file(Age::k30s);
  facts.has_controller = true;
  EXPECT_FALSE(decide_controller(facts, kNow).is_contradicted);
  facts.controller_pid = sentinel(Sentinel::kUntold);
  EXPECT_TRUE(decide_controller(facts, kNow).is_contradicted);
  facts.controller_exited = file(Mark::kUnreadable);
  EXPECT_TRUE(decide_controller(facts, kNow).is_contradicted);
}

}  // namespace
}  // namespace rollcall::pairs
