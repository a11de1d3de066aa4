#include "regtool/doctor_acts.hpp"

#include <utility>

namespace rollcall::regtool {
namespace {

constexpr std::string_view kNoControl = "there is no process control";

Judge doubter() {
  return {kWantStartToken, [](const Observation&) { return ProcessState::kUnverified; }};
}

// Only the error's kind counts: a refusal is what was asked for.
template <class T>
ActSupport support_of(std::string act, const Result<T>& answer) {
  const bool none = !answer && answer.error().code == ErrorCode::kUnsupported;
  return {std::move(act), !none, none ? answer.error().message : std::string()};
}

void add_signals(ProcessControl* control, std::int64_t own_pid, std::vector<ActSupport>& all) {
  for (const char* name : {"TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2", "CONT", "STOP"}) {
    std::string act = std::string("kill --signal ") + name;
    if (control == nullptr) {
      all.push_back({std::move(act), false, std::string(kNoControl)});
      continue;
    }
    const Signal signal = parse_signal(name).value_or(Signal::kTerm);
    all.push_back(support_of(std::move(act), control->signal(own_pid, signal, doubter(), {})));
  }
}

ActSupport tree_support(ProcessControl* control, std::int64_t own_pid) {
  std::string act = "stop --tree";
  if (control == nullptr) return {std::move(act), false, std::string(kNoControl)};
  const StopPlan plan{.shots = {{Signal::kTerm, 0}}, .tree = true};
  return support_of(std::move(act), control->stop(own_pid, plan, doubter(), {}));
}

}  // namespace

std::vector<ActSupport> act_support(ProcessProbe& probe, ProcessControl* control,
                                    std::int64_t own_pid) {
  std::vector<ActSupport> all;
  const std::string why(control == nullptr ? kNoControl : std::string_view());
  all.push_back({"stop", control != nullptr, why});
  all.push_back(tree_support(control, own_pid));
  add_signals(control, own_pid, all);
  all.push_back({"wait", control != nullptr, why});
  all.push_back(support_of("env", probe.read(own_pid, ReadWhat::kEnvironment, {})));
  all.push_back(support_of("tree", probe.list({})));
  const auto users = probe.read(own_pid, ReadWhat::kUsers, {});
  all.push_back(support_of("terminal", users));
  all.push_back(support_of("type", users));
  return all;
}

}  // namespace rollcall::regtool
