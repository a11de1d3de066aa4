// One reading of one process, as a probe took it. A reading that failed is no evidence.
#pragma once

#include <cstdint>
#include <optional>

#include "rollcall/inline_text.hpp"

namespace rollcall {

enum class Presence : std::uint8_t {
  kUnreadable,  // could not tell
  kPresent,     // the pid is held by a process that has not exited
  kExited,      // a zombie, or seen to have exited
  kAbsent,      // proven: no process holds it (ESRCH or its like), or it is a thread's id
};

struct Observation {
  std::int64_t pid = 0;
  Presence presence = Presence::kUnreadable;
  bool thread = false;                        // with kAbsent: the number is a thread's id
  std::optional<bool> suspended;              // nullopt: not read
  std::optional<std::uint64_t> exact_id;      // nullopt: not read, or the kernel has none
  std::optional<std::int64_t> age_ns;         // display only; never negative
  std::optional<std::int64_t> start_unix_ns;  // display and the time guard only
  std::int64_t os_code = 0;                   // with kUnreadable
  InlineText<64> start_token;                 // empty: not read
  InlineText<128> reason;                     // with kUnreadable: why
};

}  // namespace rollcall
