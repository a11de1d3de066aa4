// The record of a pair, pair.<id>.json.
#pragma once

#include <cstdint>
#include <string_view>

#include "rollcall/pairs.hpp"
#include "rollcall/result.hpp"

namespace rollcall::pairs {

inline constexpr std::size_t kMaxPairRecordBytes = 64 * 1024;

struct PairRecord {
  bool has_tab = false;
  bool has_controller = false;
  std::uint64_t generation = 0;
};

// One JSON object with each key once. A side is there where its value is not null, false, empty or
// 0; what else it holds is its writer's business. A pair with a tab names its generation, a whole
// number of up to kGenerationDigits. Other keys are ignored. Errors: kCorrupt. Pure; any thread.
[[nodiscard]] Result<PairRecord> parse_pair_record(std::string_view bytes, std::string_view id,
                                                   const RecordKeys& keys);

}  // namespace rollcall::pairs
