// Whether a process is stopped, asked in a forked child of a process with threads.
#pragma once

#include <cstdint>

namespace rollcall::regtool {

enum class RunState : std::uint8_t { kUnknown, kRunning, kStopped };

// Async-signal-safe. A process that has ended runs, in so far as it is not stopped.
[[nodiscard]] RunState run_state(std::int64_t pid) noexcept;

}  // namespace rollcall::regtool
