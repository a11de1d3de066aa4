// Signalling and awaiting processes: verified in the same place and moment as the act.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

struct AwaitOutcome {
  AwaitResult result = AwaitResult::kUnknown;
  bool suspended = false;
  std::string reason;
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
};

}  // namespace rollcall
