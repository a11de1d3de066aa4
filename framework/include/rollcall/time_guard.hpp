// What can be said of a process whose start token nobody recorded: by what it was launched as, and
// when. Weaker than a token, since the record's time is a wall clock's, which may have been
// stepped: it licenses no removal, and a signal only where the operator accepts that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/export.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/observation.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// What a store expects of the processes that its records name.
struct TimeGuard {
  // What argv[0] may be: base names, compared as a whole.
  std::vector<std::string> names;
  // The store writes its records some time after the process began: then a start long before the
  // record is no contradiction.
  bool registers_late = false;
};

// How far a process's start may be from its record's time, inclusive.
inline constexpr std::int64_t kGuardBeforeNs = 120'000'000'000;
inline constexpr std::int64_t kGuardAfterNs = 5'000'000'000;

struct GuardReading {
  std::optional<std::int64_t> recorded_unix_ns;  // the record's own time
  std::optional<std::int64_t> start_unix_ns;     // of the process that holds the pid now
  // The process's arguments, each ended by NUL; nullopt: not read. May be left out where
  // needs_command() says so.
  std::optional<std::string_view> command;
};

// The guard's verdict on a present process, in this order: a start or a record's time that is not
// known cannot be told; a start more than 5 s after the record is another process's; an unreadable
// command, another base name, and a start more than 120 s before the record (where the store does
// not register late) cannot be told; else it is alive. Pure; any thread.
[[nodiscard]] ROLLCALL_API Classification judge_by_time(const TimeGuard& guard,
                                                        const GuardReading& reading);

// Whether the verdict depends on the command, so that it need not be read otherwise. Pure.
[[nodiscard]] ROLLCALL_API bool needs_command(const TimeGuard& guard, GuardReading reading);

// classify(), and the guard where a record without a start token leaves it undecided. Gone still
// wants a record that names its host, or a home that is this machine's own. Pure; any thread.
[[nodiscard]] ROLLCALL_API Classification classify_guarded(const ProcessIdentity& recorded,
                                                           const Observation& read,
                                                           const Here& here, const TimeGuard& guard,
                                                           const GuardReading& reading);

// Whether a verdict is by this rule and no other.
[[nodiscard]] constexpr bool is_by_time(const Classification& result) {
  return result.rule == Rule::kTimeGuard;
}

}  // namespace rollcall
