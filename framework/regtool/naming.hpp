// How people name a session: its full id, the end of one, or a row of `ps`. The one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regtool/failure.hpp"

namespace rollcall::regtool {

// The fewest characters that the end of an id may have.
inline constexpr std::size_t kShortestSuffix = 4;
inline constexpr std::size_t kLongestId = 128;

// A name as it was typed, checked before any file is touched.
struct SessionName {
  std::string text;     // what was typed
  std::size_t row = 0;  // N of "@N"; 0: `text` is an id or the end of one
};

// Refuses, as usage, everything that cannot name a session: "", more than 128 characters, a
// leading '-', a path ('/' or '\'), "." and "..", host:port, an ending .json, .control or .tmp, any
// byte outside [A-Za-z0-9._-], "@0" and "@x". Pure; any thread.
[[nodiscard]] Outcome<SessionName> parse_session_name(std::string_view typed);

// What one reading of the registry found, in the order of `ps` (newest first).
struct NameCandidate {
  std::string session_id;
  bool process_alive = false;  // counts for @N
};
struct PrunedCandidate {
  std::string session_id;
  std::string reason;
};
struct NameCandidates {
  std::vector<NameCandidate> sessions;
  std::vector<PrunedCandidate> pruned;  // went in this very read, or lie in gone/
  std::vector<std::string> unreadable;  // ids of files that are no record or could not be read
  std::string place;                    // where was looked, for a message; empty: it names none
};

// The full id that `name` means. Failures: session_not_found (exit 1; with the pruned record's
// reason where there is one), ambiguous (exit 2, listing the matches), unreadable (exit 5: the file
// of that name is no record). Fewer than four characters name a full id only. A suffix is compared
// without regard to case, over sessions, pruned ones and unreadable ones alike. Pure.
[[nodiscard]] Outcome<std::string> resolve_session_name(const SessionName& name,
                                                        const NameCandidates& candidates);

// The failure that an acting command gives for @N, naming the id that it would have meant.
[[nodiscard]] Failure refuse_row_name(const SessionName& name, const NameCandidates& candidates);

}  // namespace rollcall::regtool
