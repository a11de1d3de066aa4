// Acting: stop, kill, wait. Every signal is preceded by a verdict made anew from the backend's own
// reading, through its pin on the process.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "registry/act_journal.hpp"
#include "registry/registry_impl.hpp"
#include "rollcall/tree_hold.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kShortestActMs = 20;  // for the signals themselves

// The judge of one recorded process; remembers what it said last, and why.
class Target {
 public:
  // `by_time`: whether a verdict by the time guard alone will do.
  Target(const Registry::Impl& impl, const Record& record, const Here& here, bool by_time,
         const Call& call)
      : impl_(impl), record_(record), here_(here), by_time_(by_time), call_(call) {}

  [[nodiscard]] Judge judge() {
    const bool guarded = impl_.is_guarded(record_.process);
    return {wants_for(record_.process) | (guarded ? kWantAge : 0U),
            [this, guarded](const Observation& read) {
              read_ = read;
              last_ = guarded ? impl_.guarded_verdict(record_, read, here_, call_)
                              : classify(record_.process, read, here_);
              held_back_ = last_->state == ProcessState::kAlive && is_by_time(*last_) && !by_time_;
              return held_back_ ? ProcessState::kUnverified : last_->state;
            }};
  }
  [[nodiscard]] std::int64_t pid() const { return record_.process.pid; }
  // The judge's reason where it did not say Alive; else what the backend gave.
  [[nodiscard]] std::string why(std::string backend_reason) const {
    if (held_back_) {
      return "its process is guarded by time only, since no start time was recorded; to signal it "
             "all the same: --accept-time-guard";
    }
    if (!last_ || last_->state == ProcessState::kAlive) return backend_reason;
    return reason_text(*last_, record_.process, read_, here_);
  }

 private:
  const Registry::Impl& impl_;
  const Record& record_;
  const Here& here_;
  const bool by_time_;
  const Call& call_;
  Observation read_;
  std::optional<Classification> last_;
  bool held_back_ = false;  // alive by time alone, which nobody accepted
};

// One act on one session: its signals, its end, its clock.
class Act {
 public:
  Act(ProcessControl& control, const Clock& clock, Target& target, StopReport& report,
      const Call& call)
      : control_(control),
        clock_(clock),
        target_(target),
        report_(report),
        call_(call),
        begun_ns_(clock.monotonic_ns()) {}

  // The door's word, before any signal. True: it accepted, and the process has ended since; the
  // report is settled. False: signals are next.
  bool by_door(const DoorReading& reading, std::int64_t until_ms) {
    StopDoor door;
    door.accepted = reading.answered && reading.named && reading.session == report_.session_id;
    if (!door.accepted) {
      door.why = reading.detail.empty() ? std::string(to_text(reading.reason)) : reading.detail;
    }
    report_.door = std::move(door);
    return report_.door->accepted && !await(until_ms) && report_.outcome == StopOutcome::kEnded;
  }

  // True: the signal was sent. False: the report is settled.
  bool send(Signal signal) {
    const bool first = report_.signals.empty();
    const StopOutcome failed = first ? StopOutcome::kRefused : StopOutcome::kStillThere;
    const auto outcome = control_.signal(target_.pid(), signal, target_.judge(), call_);
    if (!outcome) {
      if (first && outcome.error().code == ErrorCode::kUnsupported) unsupported_ = outcome.error();
      return settle(failed, outcome.error().message);
    }
    if (outcome->result == SignalResult::kSent) {
      report_.signals.push_back(signal);
      return true;
    }
    if (outcome->result == SignalResult::kRefused) {
      return settle(failed, target_.why(outcome->reason));
    }
    if (!first) {
      report_.exit.why = "it ended between two looks at it";
      return settle(StopOutcome::kEnded, {});
    }
    return settle(StopOutcome::kAlreadyGone, target_.why(outcome->reason));
  }

  // True: the process is still there `until_ms` after the act began. False: the report is settled.
  bool await(std::int64_t until_ms) {
    Call bounded = call_;
    bounded.deadline_ns = std::min(call_.deadline_ns, begun_ns_ + until_ms * kNsPerMs);
    const auto outcome = control_.await_exit(target_.pid(), target_.judge(), bounded);
    if (!outcome) return settle(StopOutcome::kStillThere, outcome.error().message);
    if (outcome->result == AwaitResult::kEnded) {
      report_.exit = outcome->exit;
      return settle(StopOutcome::kEnded, {});
    }
    if (outcome->result == AwaitResult::kUnknown) {
      return settle(StopOutcome::kStillThere,
                    fmt::format("its end could not be seen: {}", target_.why(outcome->reason)));
    }
    suspended_ = outcome->suspended;
    return true;
  }

  // A whole stop by one pin. False: this platform has none, and nothing was done.
  bool by_one_pin(const StopPlan& plan, std::int64_t total_ms) {
    Call bounded = call_;
    bounded.deadline_ns =
        std::min(call_.deadline_ns, begun_ns_ + std::max(total_ms, kShortestActMs) * kNsPerMs);
    auto result = control_.stop(target_.pid(), plan, target_.judge(), bounded);
    if (!result) {
      const Error& error = result.error();
      if (error.code == ErrorCode::kUnsupported && !plan.tree) return false;
      if (error.code == ErrorCode::kUnsupported) {
        unsupported_ = Error{error.code, "a whole tree cannot be stopped here: " + error.message};
      }
      const bool under_way = error.code == ErrorCode::kCancelled;
      settle(under_way ? StopOutcome::kStillThere : StopOutcome::kRefused, error.message);
      return true;
    }
    if (result->result == SignalResult::kRefused) {
      settle(StopOutcome::kRefused, target_.why(std::move(result->reason)));
    } else if (result->result == SignalResult::kAlreadyGone) {
      settle(StopOutcome::kAlreadyGone, target_.why(std::move(result->reason)));
      report_.exit = std::move(result->exit);
    } else {
      settle_sent(std::move(*result), plan.tree, total_ms);
    }
    return true;
  }

  // The first signal is none that this platform has: there was no act at all.
  [[nodiscard]] const std::optional<Error>& unsupported() const { return unsupported_; }

  void give_up(std::int64_t after_ms) {
    if (call_.cancel.cancelled()) {
      settle(StopOutcome::kStillThere, "cancelled before its end was seen");
      return;
    }
    const std::string_view remark =
        suspended_ ? "; the process is suspended (stopped), so the signal waits until it goes on"
                   : "";
    settle(StopOutcome::kStillThere, fmt::format("not terminated after {} ms{}", after_ms, remark));
  }

  bool settle(StopOutcome outcome, std::string reason) {
    report_.outcome = outcome;
    report_.reason = std::move(reason);
    report_.elapsed_ns = clock_.monotonic_ns() - begun_ns_;
    return false;
  }

 private:
  void settle_sent(StopResult result, bool tree, std::int64_t total_ms) {
    report_.signals = std::move(result.signals);
    report_.exit = std::move(result.exit);
    std::string left;
    if (tree) {
      left = what_is_left(result.members);
      report_.tree = StopTree{result.containment, std::move(result.members)};
    }
    if (result.end == AwaitResult::kEnded && left.empty()) {
      settle(StopOutcome::kEnded, {});
    } else if (result.end == AwaitResult::kEnded) {
      settle(StopOutcome::kStillThere, "its process has ended, but of its tree " + left);
    } else if (result.end == AwaitResult::kUnknown) {
      settle(StopOutcome::kStillThere, "its end could not be seen: " + result.reason);
    } else {
      suspended_ = result.suspended;
      give_up(total_ms);
      if (!left.empty()) report_.reason += "; of its tree " + left;
    }
  }

  // "2 are still there and 1 was lost sight of"; empty: nothing that is known of, but the root.
  static std::string what_is_left(const std::vector<StopMember>& members) {
    std::size_t there = 0;
    std::size_t lost = 0;
    for (const StopMember& member : members) {
      if (member.state == StopMember::State::kStillThere && !member.root) ++there;
      if (member.state == StopMember::State::kLost) ++lost;
    }
    std::string text;
    if (there > 0) text = fmt::format("{} {} still there", there, there == 1 ? "is" : "are");
    if (there > 0 && lost > 0) text += " and ";
    if (lost > 0) text += fmt::format("{} {} lost sight of", lost, lost == 1 ? "was" : "were");
    return text;
  }

  ProcessControl& control_;
  const Clock& clock_;
  Target& target_;
  StopReport& report_;
  const Call& call_;
  std::int64_t begun_ns_;
  bool suspended_ = false;
  std::optional<Error> unsupported_;
};

// The first signal may only arm a quit prompt: a second follows. Never a SIGKILL by itself.
StopPlan plan_of(const StopOptions& options, const Record& record) {
  StopPlan plan;
  plan.tree = options.tree;
  const auto holds = record.metadata.find(plugin::kHoldsKey);
  plan.holds = options.tree && holds != record.metadata.end() && holds->second == "1";
  if (options.force) {
    plan.shots = {{Signal::kKill, 0}};
  } else {
    const std::int64_t second_ms = std::min(options.second_after_ms, options.total_ms);
    plan.shots = {{Signal::kTerm, 0}, {Signal::kTerm, second_ms * kNsPerMs}};
  }
  return plan;
}

// The same where each look at the process is one of its own.
void two_shots(Act& act, const StopOptions& options) {
  const std::int64_t second_ms = std::min(options.second_after_ms, options.total_ms);
  if (!act.send(Signal::kTerm) || !act.await(second_ms)) return;
  if (!act.send(Signal::kTerm) || !act.await(options.total_ms)) return;
  act.give_up(options.total_ms);
}

void one_shot(Act& act, Signal signal, std::int64_t await_ms) {
  if (!act.send(signal)) return;
  if (signal != Signal::kKill) {
    act.settle(StopOutcome::kSent, {});
  } else if (act.await(await_ms)) {
    act.give_up(await_ms);
  }
}

constexpr std::int64_t kDoorMs = 1000;  // for all that is said at a door, at most

// Only a door with a token, of a process that is proven and not suspended, is asked. True: that was
// enough.
bool at_the_door(Act& act, const Registry::Impl& impl, SessionView& view, const Here& here,
                 const StopOptions& options, const Call& call) {
  if (options.force || options.tree || !options.ask_door) return false;
  if (!view.record.has_door() || !view.record.door_token) return false;
  SessionView* const one[] = {&view};
  if (!impl.observe(one, kWantState, here, call)) return false;
  if (view.process.state != ProcessState::kAlive || is_by_time(view.process)) return false;
  if (view.read.suspended.value_or(false)) return false;
  const std::int64_t second_ms = std::min(options.second_after_ms, options.total_ms);
  const std::int64_t total_ns = std::min(second_ms, kDoorMs) * kNsPerMs;
  if (total_ns <= 0) return false;
  const auto reading = impl.ask_to_stop(view, options.reason, total_ns, here, call);
  return act.by_door(reading, second_ms);
}

// A third party's probe may hold an act back; it never allows one.
Result<std::string> why_held_back(const Registry::Impl& impl, SessionView& view, const Here& here,
                                  const Call& call) {
  if (!impl.options().second_opinion) return std::string();
  SessionView* const one[] = {&view};
  if (auto status = impl.observe(one, 0, here, call); !status) {
    return tl::unexpected(status.error());
  }
  if (view.process.state != ProcessState::kUnverified) return std::string();
  return reason_text(view.process, view.record.process, view.read, here);
}

// Reads the record anew, acts, and takes the record away where the end was seen. `planned`: the
// signals that are asked for.
template <class Body>
Result<StopReport> act_on(const Registry::Impl& impl, std::string_view session_id,
                          const StopOptions& asked, std::vector<Signal> planned, const Call& call,
                          Body body) {
  const auto& options = impl.options();
  if (!options.control) {
    return fail(ErrorCode::kUnsupported, "this registry has no process control: nothing is sent");
  }
  auto view = impl.read(session_id, call);
  if (!view) return tl::unexpected(view.error());
  const auto here = impl.here(call);
  if (!here) return tl::unexpected(here.error());
  StopReport report;
  report.session_id = view->record.session_id;
  const registry::ActJournal journal(impl, *view, asked, std::move(planned), call);
  auto held_back = why_held_back(impl, *view, *here, call);
  if (!held_back) return tl::unexpected(held_back.error());
  if (!held_back->empty()) {
    report.reason = std::move(*held_back);
    journal.settle(report);
    return report;
  }
  journal.begin(call);
  Target target(impl, view->record, *here, options.accept_time_guard, call);
  Act act(*options.control, *options.clock, target, report, call);
  body(act, *view, *here);
  journal.settle(report);
  if (act.unsupported()) return tl::unexpected(*act.unsupported());
  const bool ended =
      report.outcome == StopOutcome::kEnded || report.outcome == StopOutcome::kAlreadyGone;
  // What has ended needs no record. Where this fails nothing is lost: `ps` tries again.
  if (ended && impl.may_prune()) (void)impl.remove_gone(*view, *here, call);
  return report;
}

}  // namespace

Result<StopReport> Registry::stop(std::string_view session_id, const StopOptions& options,
                                  const Call& call) {
  const auto body = [&](Act& act, SessionView& view, const Here& here) {
    if (at_the_door(act, *impl_, view, here, options, call)) return;
    if (act.by_one_pin(plan_of(options, view.record), options.total_ms)) return;
    if (options.force) {
      one_shot(act, Signal::kKill, options.total_ms);
    } else {
      two_shots(act, options);
    }
  };
  std::vector<Signal> planned = {Signal::kTerm, Signal::kTerm};
  if (options.force) planned = {Signal::kKill};
  return act_on(*impl_, session_id, options, std::move(planned), call, body);
}

Result<StopReport> Registry::kill(std::string_view session_id, Signal signal, std::int64_t await_ms,
                                  const Call& call) {
  StopOptions options;
  options.total_ms = await_ms;
  return kill(session_id, signal, options, call);
}

Result<StopReport> Registry::kill(std::string_view session_id, Signal signal,
                                  const StopOptions& options, const Call& call) {
  StopOptions asked = options;
  asked.tree = false;
  asked.force = false;
  const auto body = [&](Act& act, SessionView&, const Here&) {
    const std::int64_t wait_ms = std::max<std::int64_t>(options.total_ms, 0);
    StopPlan plan;
    plan.shots = {{signal, 0}};
    if (signal == Signal::kKill && act.by_one_pin(plan, wait_ms)) return;
    one_shot(act, signal, wait_ms);
  };
  return act_on(*impl_, session_id, asked, {signal}, call, body);
}

Result<WaitReport> Registry::wait(std::string_view session_id, const Call& call) {
  const auto& options = impl_->options();
  if (!options.control) {
    return fail(ErrorCode::kUnsupported, "this registry has no process control to wait by");
  }
  const auto view = impl_->read(session_id, call);
  if (!view) return tl::unexpected(view.error());
  const auto here = impl_->here(call);
  if (!here) return tl::unexpected(here.error());
  constexpr bool kByTime = true;  // waiting hurts nobody
  Target target(*impl_, view->record, *here, kByTime, call);
  const auto outcome = options.control->await_exit(target.pid(), target.judge(), call);
  if (!outcome) return tl::unexpected(outcome.error());
  return WaitReport{view->record.session_id, outcome->result, target.why(outcome->reason),
                    outcome->exit};
}

}  // namespace rollcall
