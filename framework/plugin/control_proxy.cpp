#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "plugin/judge_frame.hpp"
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

static_assert(static_cast<int>(ExitStatus::Kind::kCode) == ROLLCALL_EXIT_CODE);
static_assert(static_cast<int>(ExitStatus::Kind::kSignal) == ROLLCALL_EXIT_SIGNAL);
static_assert(static_cast<int>(StopMember::State::kEnded) == ROLLCALL_MEMBER_ENDED);
static_assert(static_cast<int>(StopMember::State::kLost) == ROLLCALL_MEMBER_LOST);
static_assert(static_cast<int>(Containment::kCgroup) == ROLLCALL_CONTAINED_CGROUP);
static_assert(static_cast<int>(Containment::kReaper) == ROLLCALL_CONTAINED_REAPER);

template <std::size_t N>
std::string text_of(const char (&buffer)[N], std::uint32_t size) {
  return std::string(buffer, std::min<std::size_t>(size, N));
}

ExitStatus exit_of(const rollcall_exit& raw) {
  ExitStatus exit;
  if (raw.kind <= ROLLCALL_EXIT_SIGNAL) exit.kind = static_cast<ExitStatus::Kind>(raw.kind);
  exit.value = exit.kind == ExitStatus::Kind::kUnknown ? 0 : raw.value;
  exit.why = text_of(raw.why, raw.why_size);
  if (exit.kind == ExitStatus::Kind::kUnknown && exit.why.empty()) exit.why = "it was not told";
  return exit;
}

// The receipt of one stop, as it comes.
struct Receipt {
  const StopPlan& plan;
  std::vector<StopMember> members;

  [[nodiscard]] std::vector<Signal> signals(std::uint32_t shots) const {
    std::vector<Signal> sent;
    for (std::size_t i = 0; i < plan.shots.size(); ++i) {
      if ((shots >> i & 1U) != 0) sent.push_back(plan.shots[i].signal);
    }
    return sent;
  }
  [[nodiscard]] StopMember member_of(const rollcall_stop_member& raw) const {
    StopMember member;
    member.state = raw.state <= ROLLCALL_MEMBER_LOST ? static_cast<StopMember::State>(raw.state)
                                                     : StopMember::State::kLost;
    member.pid = raw.pid;
    member.parent_pid = raw.parent_pid;
    member.start_token = text_of(raw.start_token, raw.start_token_size);
    member.name = text_of(raw.name, raw.name_size);
    member.signals = signals(raw.shots);
    member.root = (raw.flags & ROLLCALL_MEMBER_ROOT) != 0;
    member.suspended = (raw.flags & ROLLCALL_MEMBER_SUSPENDED) != 0;
    member.orphan = (raw.flags & ROLLCALL_MEMBER_ORPHAN) != 0;
    member.reason = text_of(raw.reason, raw.reason_size);
    member.exit = exit_of(raw.exit);
    return member;
  }
  static std::int32_t take(void* context, const rollcall_stop_member* raw) noexcept {
    auto& self = *static_cast<Receipt*>(context);
    if (raw == nullptr) return ROLLCALL_E_INVALID;
    try {
      rollcall_stop_member copy{};
      std::memcpy(&copy, raw, std::min<std::size_t>(raw->struct_size, sizeof(copy)));
      self.members.push_back(self.member_of(copy));
    } catch (...) {
      return ROLLCALL_E_NO_MEMORY;
    }
    return ROLLCALL_OK;
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
                        .reason = reason_of(outcome),
                        .exit = exit_of(outcome.exit)};
  }

  [[nodiscard]] Result<StopResult> stop(std::int64_t pid, const StopPlan& plan, const Judge& judge,
                                        const Call& call) override {
    if (table_.stop == nullptr) return instance_->not_offered("stop");
    if (Status ok = check(pid, judge); !ok) {
      return StopResult{.reason = std::move(ok.error().message)};
    }
    std::vector<rollcall_shot> shots;
    for (const Shot& shot : plan.shots) {
      shots.push_back({static_cast<std::uint32_t>(shot.signal), 0, shot.after_ns});
    }
    const rollcall_stop_plan raw_plan{
        .struct_size = sizeof(rollcall_stop_plan),
        .flags = (plan.tree ? ROLLCALL_STOP_TREE : 0U) | (plan.holds ? ROLLCALL_STOP_HOLDS : 0U),
        .shots = shots.data(),
        .shot_count = shots.size()};
    JudgeFrame frame{judge, pid};
    const rollcall_judge raw_judge = frame.raw();
    Receipt receipt{plan, {}};
    const rollcall_stop_sink sink{.struct_size = sizeof(rollcall_stop_sink),
                                  .reserved = 0,
                                  .context = &receipt,
                                  .member = &Receipt::take};
    rollcall_stop_outcome outcome{};
    outcome.struct_size = sizeof(outcome);
    Status done = instance_->run_here(
        "stop", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.stop(self, pid, &raw_plan, &raw_judge, &sink, &outcome, bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    return settled(outcome, frame, std::move(receipt));
  }

 private:
  [[nodiscard]] Result<StopResult> settled(const rollcall_stop_outcome& outcome,
                                           const JudgeFrame& frame, Receipt receipt) const {
    if (outcome.outcome > ROLLCALL_SIGNAL_ALREADY_GONE ||
        outcome.end > ROLLCALL_AWAIT_STILL_THERE) {
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {}: stop: its answer makes no sense; whether a signal was "
                              "sent is not known",
                              instance_->id()));
    }
    if (outcome.outcome == ROLLCALL_SIGNAL_SENT && frame.said != ROLLCALL_JUDGE_ALIVE) {
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {} signalled pid {} without the judge's licence: it must not "
                              "be used",
                              instance_->id(), frame.pid));
    }
    StopResult result;
    result.result = static_cast<SignalResult>(outcome.outcome);
    result.end = static_cast<AwaitResult>(outcome.end);
    result.suspended = (outcome.flags & ROLLCALL_OBS_SUSPENDED) != 0;
    result.reason = reason_of(outcome);
    result.os_code = outcome.os_code;
    result.signals = receipt.signals(outcome.shots);
    result.exit = exit_of(outcome.exit);
    if (outcome.contained <= ROLLCALL_CONTAINED_REAPER) {
      result.containment = static_cast<Containment>(outcome.contained);
    }
    result.members = std::move(receipt.members);
    return result;
  }
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
