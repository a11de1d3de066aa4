// From readings to a verdict: pure functions, no input or output, no allocation on the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/export.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/observation.hpp"

namespace rollcall {

// How two boot ids of a platform compare.
enum class BootRule : std::uint8_t {
  kExact,       // Linux, macOS: equal or another
  kWithin120s,  // Windows: decimal Unix seconds, at most 120 apart, inclusive
  kEqualOnly,   // macOS by kern.boottime: a difference proves nothing
};

// Whether the home of the records can be seen by another machine.
enum class HomeKind : std::uint8_t {
  kLocal,   // on a file system of this machine alone
  kShared,  // network, FUSE, virtiofs, unknown: Gone needs a record that names its host
};

// What this machine is, read once a sweep. nullopt: could not be read.
struct Here {
  BootRule boot_rule = BootRule::kExact;
  HomeKind home = HomeKind::kShared;
  std::optional<std::string> boot_id;
  std::optional<std::string> host_id;
  std::optional<std::string> pid_namespace;
  std::optional<std::string> time_namespace;
  std::string boot_id_why;  // with boot_id nullopt: the reading's reason
};

enum class ProcessState : std::uint8_t {
  kUnverified,  // could not tell: kept, shown as unreachable, never signalled
  kAlive,       // the pid is held by the very process that was recorded
  kGone,        // proven not to run any more: the only state that licenses a removal
};

// The closed set of reasons (SPEC names them; `to_text` spells them).
enum class Reason : std::uint8_t {
  kNone,
  // process
  kNoProcess,
  kOtherProcess,
  kRebooted,
  kForeignView,
  kUnreadable,
  // door
  kRefused,
  kConnectTimeout,
  kReadTimeout,
  kClosedEarly,
  kBadHttp,
  kHttpStatus,
  kRpcError,
  kNotJson,
  kNoSession,
  kOtherSession,
  kTokenRefused,
  kForeignListener,
  kOwnerUnknown,
  kTooLarge,
  kNotSupported,
  kNotLoopback,
  kBadUrl,
  kNoPlugin,
  kTokenMissing,
  kSuspended,
  kUnverified,
};

// "no-process", "read-timeout", ...; kNone is "none".
[[nodiscard]] ROLLCALL_API std::string_view to_text(Reason reason);
[[nodiscard]] ROLLCALL_API std::string_view to_text(ProcessState state);  // "alive", ...

// Which row of the classification table decided.
enum class Rule : std::uint8_t {
  kForeignHost,
  kForeignPidNamespace,
  kForeignTimeNamespace,
  kViewUnreadable,  // the record names a host or namespace, and ours could not be read
  kImpossiblePid,   // outside 1..INT32_MAX
  kObservationUnreadable,
  kNoProcess,  // absent or exited
  kThread,     // the number is a thread's id
  kRebooted,
  kBootUnreadable,
  kExactId,          // decided by exact_id, either way
  kTokenMissing,     // not recorded
  kTokenUnreadable,  // not read now
  kToken,            // decided by the start token, either way
  kSharedHome,       // would be Gone, but the record names no host and its home is shared
  kSecondOpinion,    // a third party's probe does not call it alive
  // Of a record without a start token in a store that has a guard (rollcall/time_guard.hpp):
  kTimeGuard,        // decided by name and time, either way
  kGuardUnreadable,  // a time or the command could not be read
  kGuardName,        // the pid is held by a process of another name
  kGuardEarly,       // it began too long before the record
};

struct Classification {
  ProcessState state = ProcessState::kUnverified;
  Reason reason = Reason::kNone;  // kNone only when Alive
  Rule rule = Rule::kObservationUnreadable;
};

// Layers 1 and 2: is the pid held, and by the very process that was recorded? Rows in the order of
// the table in docs/verdicts.md. Pure; allocates nothing; any thread.
[[nodiscard]] ROLLCALL_API Classification classify(const ProcessIdentity& recorded,
                                                   const Observation& read, const Here& here);

// The sentence for a classification, made only when somebody asks: "no process holds pid 7".
[[nodiscard]] ROLLCALL_API std::string reason_text(const Classification& result,
                                                   const ProcessIdentity& recorded,
                                                   const Observation& read, const Here& here);

// What the readings that classify() needs are, given what was recorded: ROLLCALL_WANT_* bits.
[[nodiscard]] ROLLCALL_API std::uint32_t wants_for(const ProcessIdentity& recorded);

enum class Verdict : std::uint8_t {
  kLive,         // all layers hold (a session without a door: layers 1 and 2)
  kAlive,        // layers 1 and 2 hold and the door was not asked
  kUnreachable,  // alive or untellable, and not proven reachable
  kGone,
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(Verdict verdict);  // "live", ...

// How the kernel stood behind a door's socket.
enum class Ownership : std::uint8_t { kUnknown, kProcess, kDescendant, kUidOnly, kForeign };
[[nodiscard]] ROLLCALL_API std::string_view to_text(Ownership ownership);

// What layer 3 read.
struct DoorReading {
  bool answered = false;  // false: `reason` says how it failed
  bool named = false;     // it named a session, in `session`
  Reason reason = Reason::kNone;
  Ownership ownership = Ownership::kUnknown;
  int http_status = 0;  // 0: none
  std::int64_t elapsed_ns = 0;
  std::string session;  // remote text
  std::string detail;   // remote or system text: escape before showing
  std::string plugin;   // the id of the plugin that asked
};

// Layer 3's outcome for a session: kNone when the door answers and names it, or is held by the
// recorded process where it names nobody by design. Pure.
[[nodiscard]] ROLLCALL_API Reason judge_door(std::string_view session_id, const DoorReading& door);

// The whole verdict and its sentence.
struct Finding {
  Verdict verdict = Verdict::kUnreachable;
  Reason reason = Reason::kNone;
  std::string text;  // empty when verdict is live or alive without remark
};

struct LayerReadings {
  bool has_door = false;
  bool door_asked = false;
  std::optional<DoorReading> door;
};

[[nodiscard]] ROLLCALL_API Finding conclude(std::string_view session_id,
                                            const Classification& process,
                                            const ProcessIdentity& recorded,
                                            const Observation& read, const Here& here,
                                            const LayerReadings& layer3);

}  // namespace rollcall
