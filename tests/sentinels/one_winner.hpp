// Many starters of one sentinel on a POSIX system.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "liveness/machine.hpp"
#include "rollcall/sentinel.hpp"
#include "support/process.hpp"
#include "support/rig.hpp"

namespace rollcall::testing {

// Of many processes that write it at once. `prepare` runs in each of them first; false ends it.
inline void expect_one_winner(const test::Rig& rig, const std::string& file,
                              const std::function<bool()>& prepare) {
  constexpr int kStarters = 20;
  std::array<int, 2> said{};
  std::array<int, 2> done{};
  ASSERT_EQ(::pipe(said.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  std::vector<Child> starters;
  for (int i = 0; i < kStarters; ++i) {
    starters.push_back(Child::run([&] {
      ::close(done[1]);
      if (!prepare()) return 3;
      const auto self = identify_self(*rig.probe, {}).value();
      const auto written = write_sentinel(file, self, SentinelReplace::kIfDead, *rig.probe, {});
      const char word = written ? 'w' : 'l';
      if (::write(said[1], &word, 1) != 1) return 1;
      char end = 0;
      (void)!::read(done[0], &end, 1);
      return 0;
    }));
  }
  ::close(done[0]);
  std::string words;
  for (int i = 0; i < kStarters; ++i) {
    char word = 0;
    ASSERT_EQ(::read(said[0], &word, 1), 1);
    words += word;
  }
  EXPECT_EQ(std::count(words.begin(), words.end(), 'w'), 1) << words;
  EXPECT_EQ(check_sentinel(file, *rig.probe, {}).state, SentinelState::kAlive);
  ::close(done[1]);
  for (Child& starter : starters) EXPECT_EQ(starter.wait(), 0);
  ::close(said[0]);
  ::close(said[1]);
}

}  // namespace rollcall::testing
