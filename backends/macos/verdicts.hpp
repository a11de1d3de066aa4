// What signalling, awaiting and watching answer alike: reasons in words, and whether two readings
// are of one process.
#pragma once

#include <cstdint>
#include <string_view>

#include "rollcall/plugin_parts.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

inline constexpr const char* kUnverified =
    "it could not be verified that this is the recorded process: ";

using Reason = Text<160>;

template <class... Parts>
Reason reason(const Parts&... parts) {
  Reason text;
  (void)(text << ... << parts);
  return text;
}

// What the observation itself says, for a verdict's reason.
inline Reason evidence(const rollcall_observation& seen) {
  if (seen.reason_size > 0) return reason(std::string_view(seen.reason, seen.reason_size));
  switch (seen.presence) {
    case ROLLCALL_PRESENCE_ABSENT:
      return reason("no process holds pid ", seen.pid);
    case ROLLCALL_PRESENCE_EXITED:
      return reason("pid ", seen.pid, " has exited");
    default:
      return reason("pid ", seen.pid, " is held");
  }
}

inline bool has_ended(const rollcall_observation& seen) {
  return seen.presence == ROLLCALL_PRESENCE_ABSENT || seen.presence == ROLLCALL_PRESENCE_EXITED;
}

// Empty: there is none.
inline std::string_view token(const rollcall_observation& seen) {
  const bool read = (seen.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  return {seen.start_token, read ? seen.start_token_size : 0};
}

}  // namespace rollcall::macos_backend
