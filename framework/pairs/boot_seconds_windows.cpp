#include "pairs/boot_seconds.hpp"

namespace rollcall::pairs {

std::optional<std::int64_t> boot_seconds() { return std::nullopt; }

}  // namespace rollcall::pairs
