#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "plugin/proxies.hpp"

namespace rollcall::loader {
namespace {

static_assert(static_cast<int>(Signal::kTerm) == ROLLCALL_SIGNAL_TERM);
static_assert(static_cast<int>(Signal::kInt) == ROLLCALL_SIGNAL_INT);
static_assert(static_cast<int>(Signal::kHup) == ROLLCALL_SIGNAL_HUP);
static_assert(static_cast<int>(Signal::kQuit) == ROLLCALL_SIGNAL_QUIT);
static_assert(static_cast<int>(Signal::kKill) == ROLLCALL_SIGNAL_KILL);
static_assert(static_cast<int>(Signal::kUsr1) == ROLLCALL_SIGNAL_USR1);
static_assert(static_cast<int>(Signal::kUsr2) == ROLLCALL_SIGNAL_USR2);
static_assert(static_cast<int>(Signal::kCont) == ROLLCALL_SIGNAL_CONT);
static_assert(static_cast<int>(Signal::kStop) == ROLLCALL_SIGNAL_STOP);
static_assert(static_cast<int>(SignalResult::kRefused) == ROLLCALL_SIGNAL_REFUSED);
static_assert(static_cast<int>(SignalResult::kSent) == ROLLCALL_SIGNAL_SENT);
static_assert(static_cast<int>(SignalResult::kAlreadyGone) == ROLLCALL_SIGNAL_ALREADY_GONE);
static_assert(static_cast<int>(AwaitResult::kUnknown) == ROLLCALL_AWAIT_UNKNOWN);
static_assert(static_cast<int>(AwaitResult::kEnded) == ROLLCALL_AWAIT_ENDED);
static_assert(static_cast<int>(AwaitResult::kStillThere) == ROLLCALL_AWAIT_STILL_THERE);

// The caller's judge, and what it last said. Anything that it throws is no licence.
struct JudgeFrame {
  const Judge& judge;
  std::int64_t pid;
  std::uint32_t said = ROLLCALL_JUDGE_UNVERIFIED;

  static std::uint32_t ask(void* context, const rollcall_observation* reading) noexcept {
    auto& frame = *static_cast<JudgeFrame*>(context);
    frame.said = ROLLCALL_JUDGE_UNVERIFIED;
    if (reading == nullptr) return frame.said;
    try {
      Observation taken;
      take_observation(*reading, frame.pid, taken);
      const ProcessState state = frame.judge.judge(taken);
      if (state == ProcessState::kAlive) frame.said = ROLLCALL_JUDGE_ALIVE;
      if (state == ProcessState::kGone) frame.said = ROLLCALL_JUDGE_GONE;
    } catch (...) {
      frame.said = ROLLCALL_JUDGE_UNVERIFIED;
    }
    return frame.said;
  }
  [[nodiscard]] rollcall_judge raw() {
    return {.struct_size = sizeof(rollcall_judge),
            .wants = judge.wants,
            .context = this,
            .judge = &JudgeFrame::ask};
  }
};

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  return std::string(outcome.reason,
                     std::min<std::size_t>(outcome.reason_size, sizeof(outcome.reason)));
}

// Handed out for the platform's own backend only, so its slots run on the caller's thread.
class ControlProxy final : public ProcessControl {
 public:
  ControlProxy(std::shared_ptr<Instance> instance, const rollcall_process_control& table)
      : instance_(std::move(instance)), table_(table) {}

  [[nodiscard]] Result<SignalOutcome> signal(std::int64_t pid, Signal signal, const Judge& judge,
                                             const Call& call) override {
    if (Status ok = check(pid, judge); !ok) {
      return SignalOutcome{.reason = std::move(ok.error().message)};
    }
    JudgeFrame frame{judge, pid};
    const rollcall_judge raw_judge = frame.raw();
    rollcall_signal_outcome outcome{};
    outcome.struct_size = sizeof(outcome);
    Status done = instance_->run_here(
        "signal", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.signal(self, pid, static_cast<std::uint32_t>(signal), &raw_judge, &outcome,
                               bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    if (outcome.outcome > ROLLCALL_SIGNAL_ALREADY_GONE) {
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {}: signal: {} is no outcome; whether a signal was sent is "
                              "not known",
                              instance_->id(), outcome.outcome));
    }
    if (outcome.outcome == ROLLCALL_SIGNAL_SENT && frame.said != ROLLCALL_JUDGE_ALIVE) {
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {} signalled pid {} without the judge's licence: it must not "
                              "be used",
                              instance_->id(), pid));
    }
    return SignalOutcome{.result = static_cast<SignalResult>(outcome.outcome),
                         .reason = reason_of(outcome),
                         .os_code = outcome.os_code};
  }

  [[nodiscard]] Result<AwaitOutcome> await_exit(std::int64_t pid, const Judge& judge,
                                                const Call& call) override {
    if (!judge.judge) return fail(ErrorCode::kInvalid, "await_exit: there is no judge");
    JudgeFrame frame{judge, pid};
    const rollcall_judge raw_judge = frame.raw();
    rollcall_await_outcome outcome{};
    outcome.struct_size = sizeof(outcome);
    Status done = instance_->run_here(
        "await_exit", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.await_exit(self, pid, &raw_judge, &outcome, bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    if (outcome.outcome > ROLLCALL_AWAIT_STILL_THERE) {
      return AwaitOutcome{.reason = "the plugin's answer makes no sense"};
    }
    return AwaitOutcome{.result = static_cast<AwaitResult>(outcome.outcome),
                        .suspended = (outcome.flags & ROLLCALL_OBS_SUSPENDED) != 0,
                        .reason = reason_of(outcome)};
  }

 private:
  // What no backend is even asked about.
  static Status check(std::int64_t pid, const Judge& judge) {
    if (!is_possible_pid(pid)) {
      return fail(ErrorCode::kRefused, fmt::format("no process can have the pid {}", pid));
    }
    if (pid == 1) return fail(ErrorCode::kRefused, "pid 1 is never signalled");
    if (!judge.judge) return fail(ErrorCode::kRefused, "there is no judge");
    return {};
  }

  std::shared_ptr<Instance> instance_;
  rollcall_process_control table_;
};

}  // namespace

Result<std::shared_ptr<ProcessControl>> make_control(const PluginContext& context,
                                                     const Settings& settings) {
  const auto& table = context.code->control();
  if (!table) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("plugin {} offers no process control", context.code->id()));
  }
  if (!context.code->builtin()) {
    return fail(ErrorCode::kRefused,
                fmt::format("plugin {} is a third party's: only the platform's own backend signals "
                            "processes",
                            context.code->id()));
  }
  auto instance = Instance::make(context, slots_of(*table), settings);
  if (!instance) return tl::unexpected<Error>(std::move(instance.error()));
  return std::make_shared<ControlProxy>(std::move(*instance), *table);
}

}  // namespace rollcall::loader
