// Signalling and awaiting processes: verified in the same place and moment as the act.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/observation.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// The documented set. Values are those of the plugin ABI.
enum class Signal : std::uint8_t {
  kTerm = 1,
  kInt,
  kHup,
  kQuit,
  kKill,
  kUsr1,
  kUsr2,
  kCont,
  kStop
};

// "SIGTERM", ...
[[nodiscard]] ROLLCALL_API std::string_view to_text(Signal signal);
// Exactly TERM, INT, HUP, QUIT, KILL, USR1, USR2, CONT, STOP; anything else (numbers, lower case,
// a SIG prefix, blanks) is nullopt.
[[nodiscard]] ROLLCALL_API std::optional<Signal> parse_signal(std::string_view name);

enum class SignalResult : std::uint8_t { kRefused, kSent, kAlreadyGone };

struct SignalOutcome {
  SignalResult result = SignalResult::kRefused;
  std::string reason;  // with kRefused: why; with kAlreadyGone: the evidence
  std::int64_t os_code = 0;
};

enum class AwaitResult : std::uint8_t { kUnknown, kEnded, kStillThere };

// How a process ended, of any process, not of a child only.
struct ExitStatus {
  enum class Kind : std::uint8_t { kUnknown, kCode, kSignal };
  Kind kind = Kind::kUnknown;
  std::int32_t value = 0;  // the code, or the system's own number of the signal
  std::string why;         // with kUnknown: why it is not known
};

struct AwaitOutcome {
  AwaitResult result = AwaitResult::kUnknown;
  bool suspended = false;
  std::string reason;
  ExitStatus exit;  // with kEnded
};

// One signal of a stop, and when it is due.
struct Shot {
  Signal signal = Signal::kTerm;
  std::int64_t after_ns = 0;  // after the stop began
};

struct StopPlan {
  std::vector<Shot> shots;  // 1..32, in order
  bool tree = false;        // with all that descends from the process
  bool holds = false;       // the process keeps its orphans, and stays while it is held
};

// One process of a tree that was stopped.
struct StopMember {
  enum class State : std::uint8_t {
    kStillThere,
    kEnded,  // its end was seen
    kLost,   // seen in the tree, and not held there: never signalled
  };
  State state = State::kStillThere;
  std::int64_t pid = 0;
  std::int64_t parent_pid = -1;  // as it was found; -1: not known
  std::string start_token;
  std::string name;  // bytes
  std::vector<Signal> signals;
  bool root = false;
  bool suspended = false;
  bool orphan = false;  // of the tree by its cgroup: its parent had gone before
  std::string reason;   // why it is lost, or could not be signalled
  ExitStatus exit;      // with kEnded
};

// How surely nothing is left of a tree.
enum class Containment : std::uint8_t {
  kBestEffort,
  kCgroup,  // the kernel says that the cgroup of its own is empty
  kReaper,  // its orphans stay with the root, which was there when no descendant was left
};

struct StopResult {
  SignalResult result = SignalResult::kRefused;  // of the first shot
  AwaitResult end = AwaitResult::kUnknown;       // of the process itself
  bool suspended = false;
  std::string reason;
  std::int64_t os_code = 0;
  std::vector<Signal> signals;  // that were sent to the process itself
  ExitStatus exit;
  Containment containment = Containment::kBestEffort;
  std::vector<StopMember> members;  // the root first
};

// A verdict made anew from the backend's own reading, through its pin on the process.
struct Judge {
  std::uint32_t wants = 0;  // kWant* bits
  std::function<ProcessState(const Observation&)> judge;
};

// Threads: any.
class ROLLCALL_API ProcessControl {
 public:
  virtual ~ProcessControl() = default;
  // Pins, reads through the pin, judges, and signals through the pin on kAlive only.
  [[nodiscard]] virtual Result<SignalOutcome> signal(std::int64_t pid, Signal signal,
                                                     const Judge& judge, const Call& call) = 0;
  // Waits for the judged process to end, at most until call.deadline_ns.
  [[nodiscard]] virtual Result<AwaitOutcome> await_exit(std::int64_t pid, const Judge& judge,
                                                        const Call& call) = 0;
  // A whole stop by one pin that is held from the judge's verdict to the process's end, which is
  // awaited until call.deadline_ns. kUnsupported: this platform has the two above only.
  [[nodiscard]] virtual Result<StopResult> stop(std::int64_t pid, const StopPlan& plan,
                                                const Judge& judge, const Call& call);
};

}  // namespace rollcall
