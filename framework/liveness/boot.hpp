// Whether a record was made in this boot. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rollcall/verdict.hpp"

namespace rollcall {

enum class BootMatch : std::uint8_t {
  kSame,
  kAnother,        // proven: the machine has booted since
  kUnreadable,     // recorded, and not comparable now
  kNeverRecorded,  // an older writer: the start token alone decides
};

[[nodiscard]] BootMatch compare_boots(const std::optional<std::string>& recorded, const Here& here);

}  // namespace rollcall
