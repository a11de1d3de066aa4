// What a platform's backend does: one list for every platform, each of it tried on a stage.
#pragma once

#include <string>
#include <vector>

#include "stage.hpp"

namespace rollcall::conformance {

struct Outcome {
  enum class Kind {
    kHolds,    // it is so
    kLacks,    // the platform has nothing of the kind, and the backend says so
    kBroken,   // neither; `why` says what was seen
    kUntried,  // this stage cannot make the situation; `why` says which
  };
  Kind kind = Kind::kHolds;
  std::string why;
};

struct Behaviour {
  const char* name;      // CamelCase, for the test's name
  const char* sentence;  // the first cell of its row in docs/platforms.md
  Outcome (*attempt)(Stage& stage);
};

// In the order of the document.
[[nodiscard]] const std::vector<Behaviour>& behaviours();

// The groups of which they consist.
[[nodiscard]] std::vector<Behaviour> reading_behaviours();
[[nodiscard]] std::vector<Behaviour> door_behaviours();
[[nodiscard]] std::vector<Behaviour> acting_behaviours();
[[nodiscard]] std::vector<Behaviour> watching_behaviours();

}  // namespace rollcall::conformance
