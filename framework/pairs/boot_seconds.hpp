// This boot's time in the form that some writers of pairs use.
#pragma once

#include <cstdint>
#include <optional>

namespace rollcall::pairs {

// Source: macOS: sysctl(3), kern.boottime, whole seconds since 1970, read anew at each call: it
// moves with the clock. nullopt: not to be had; on other systems nobody writes pairs by it.
// Threads: any.
[[nodiscard]] std::optional<std::int64_t> boot_seconds();

}  // namespace rollcall::pairs
