#include <fmt/format.h>

#include "plugin/check_suite.hpp"
#include "rollcall/identity.hpp"

namespace rollcall::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Vouches for nothing, so that whatever the candidate does, nobody may be signalled.
struct Doubter {
  int asked = 0;
  static std::uint32_t judge(void* context, const rollcall_observation* reading) noexcept {
    ++static_cast<Doubter*>(context)->asked;
    const bool gone = reading != nullptr && (reading->presence == ROLLCALL_PRESENCE_ABSENT ||
                                             reading->presence == ROLLCALL_PRESENCE_EXITED);
    return gone ? ROLLCALL_JUDGE_GONE : ROLLCALL_JUDGE_UNVERIFIED;
  }
  [[nodiscard]] rollcall_judge raw() {
    return {.struct_size = sizeof(rollcall_judge),
            .wants = ROLLCALL_WANT_START_TOKEN,
            .context = this,
            .judge = &Doubter::judge};
  }
};

// Every signal is CONT, which harms nobody even if a candidate sends it against the rules.
void signal_rule(const rollcall_process_control& table, void* self, Steps& steps,
                 std::string_view rule, std::int64_t pid, bool may_be_gone) {
  steps.begin(rule);
  Doubter doubter;
  const rollcall_judge judge = doubter.raw();
  rollcall_signal_outcome outcome{};
  outcome.struct_size = sizeof(outcome);
  const rollcall_call call = call_bounds(5 * kSecond);
  const std::int32_t code =
      table.signal(self, pid, ROLLCALL_SIGNAL_CONT, &judge, &outcome, &call, nullptr);
  const bool refused = outcome.outcome == ROLLCALL_SIGNAL_REFUSED ||
                       (may_be_gone && outcome.outcome == ROLLCALL_SIGNAL_ALREADY_GONE);
  steps.expect(
      is_status(code) && (code != ROLLCALL_OK || refused), rule,
      fmt::format("for pid {} it gave status {}, outcome {}; expected is outcome {} (refused)"
                  "{}, or a ROLLCALL_E_* status",
                  pid, code, outcome.outcome, ROLLCALL_SIGNAL_REFUSED,
                  may_be_gone ? fmt::format(" or {} (already gone)", ROLLCALL_SIGNAL_ALREADY_GONE)
                              : std::string()));
}

// The same of a whole stop, of a tree: CONT alone, and nobody who vouches for it.
void stop_rule(const rollcall_process_control& table, void* self, Steps& steps,
               std::string_view rule, std::int64_t pid, bool may_be_gone) {
  steps.begin(rule);
  Doubter doubter;
  const rollcall_judge judge = doubter.raw();
  const rollcall_shot shot{ROLLCALL_SIGNAL_CONT, 0, 0};
  const rollcall_stop_plan plan{sizeof(rollcall_stop_plan), ROLLCALL_STOP_TREE, &shot, 1};
  const rollcall_stop_sink sink{
      sizeof(rollcall_stop_sink), 0, nullptr,
      [](void*, const rollcall_stop_member*) -> std::int32_t { return ROLLCALL_OK; }};
  rollcall_stop_outcome outcome{};
  outcome.struct_size = sizeof(outcome);
  const rollcall_call call = call_bounds(5 * kSecond);
  const std::int32_t code = table.stop(self, pid, &plan, &judge, &sink, &outcome, &call, nullptr);
  const bool refused = outcome.outcome == ROLLCALL_SIGNAL_REFUSED ||
                       (may_be_gone && outcome.outcome == ROLLCALL_SIGNAL_ALREADY_GONE);
  steps.expect(
      is_status(code) && (code != ROLLCALL_OK || refused), rule,
      fmt::format("it gave status {}, outcome {}; nobody vouched for it", code, outcome.outcome));
}

void await_rule(const rollcall_process_control& table, void* self, Steps& steps) {
  constexpr std::string_view kRule =
      "process-control: nothing is known of the end of a process that the judge doubts";
  steps.begin(kRule);
  Doubter doubter;
  const rollcall_judge judge = doubter.raw();
  rollcall_await_outcome outcome{};
  outcome.struct_size = sizeof(outcome);
  const rollcall_call call = call_bounds(kSecond / 4);
  const std::int32_t code = table.await_exit(self, own_pid(), &judge, &outcome, &call, nullptr);
  steps.expect(
      is_status(code) && (code != ROLLCALL_OK || outcome.outcome != ROLLCALL_AWAIT_ENDED), kRule,
      fmt::format("it gave status {}, outcome {} (ended); expected is any other outcome, or "
                  "a ROLLCALL_E_* status",
                  code, outcome.outcome));
}

}  // namespace

void check_control(const rollcall_process_control& table, const CheckOptions& options,
                   Steps& steps) {
  constexpr std::string_view kRule = "process-control: an instance is made";
  steps.begin(kRule);
  const RawInstance instance(slots_of(table), options.settings);
  if (!instance.made()) {
    steps.fail(kRule, instance.problem());
    return;
  }
  steps.pass(kRule);
  void* self = instance.self();
  signal_rule(table, self, steps, "process-control: pid 1 is refused", 1, false);
  signal_rule(table, self, steps, "process-control: the caller's own pid is refused", own_pid(),
              false);
  signal_rule(table, self, steps, "process-control: group 0 is never addressed", 0, true);
  signal_rule(table, self, steps, "process-control: a negative pid is never addressed", -2, true);
  signal_rule(table, self, steps, "process-control: a pid that nobody holds is not signalled",
              kMaxPid, true);
  await_rule(table, self, steps);
  if (table.stop == nullptr) return;
  stop_rule(table, self, steps, "process-control: the caller itself is not stopped", own_pid(),
            false);
  stop_rule(table, self, steps, "process-control: pid 1 is not stopped", 1, false);
  stop_rule(table, self, steps, "process-control: a pid that nobody holds is not stopped", kMaxPid,
            true);
}

}  // namespace rollcall::loader
