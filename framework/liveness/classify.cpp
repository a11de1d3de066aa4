// Layers 1 and 2: from one reading to a state. The rows stand in the order of docs/verdicts.md.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "liveness/boot.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {
namespace {

constexpr Classification alive(Rule rule) { return {ProcessState::kAlive, Reason::kNone, rule}; }

constexpr Classification unverified(Reason reason, Rule rule) {
  return {ProcessState::kUnverified, reason, rule};
}

// Gone, unless nothing says that the record was made on this machine.
Classification gone(Reason reason, Rule rule, const ProcessIdentity& recorded, const Here& here) {
  if (!recorded.host_id && here.home == HomeKind::kShared) {
    return unverified(Reason::kForeignView, Rule::kSharedHome);
  }
  return {ProcessState::kGone, reason, rule};
}

// Row 1: seen from another host or namespace. The host comes first: another host's boot id and
// namespaces differ too. nullopt: the same view, as far as the record names one.
std::optional<Classification> foreign_view(const ProcessIdentity& recorded, const Here& here) {
  struct Part {
    const std::optional<std::string>& then;
    const std::optional<std::string>& now;
    Rule rule;
  };
  const Part parts[] = {
      {recorded.host_id, here.host_id, Rule::kForeignHost},
      {recorded.pid_namespace, here.pid_namespace, Rule::kForeignPidNamespace},
      {recorded.time_namespace, here.time_namespace, Rule::kForeignTimeNamespace},
  };
  for (const Part& part : parts) {
    if (!part.then) continue;
    if (!part.now) return unverified(Reason::kForeignView, Rule::kViewUnreadable);
    if (*part.then != *part.now) return unverified(Reason::kForeignView, part.rule);
  }
  return std::nullopt;
}

// A recorded exact id that is a canonical decimal number; anything else is void, not a difference.
std::optional<std::uint64_t> recorded_exact_id(const ProcessIdentity& recorded) {
  if (!recorded.exact_id || !recorded.boot_id) return std::nullopt;
  const std::string_view text = *recorded.exact_id;
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Rows 7 to 9: the process that holds the pid now, and the one that was recorded.
Classification compare_tokens(const ProcessIdentity& recorded, const Observation& read,
                              const Here& here) {
  const auto exact = recorded_exact_id(recorded);
  if (exact && read.exact_id) {
    if (*exact == *read.exact_id) return alive(Rule::kExactId);
    return gone(Reason::kOtherProcess, Rule::kExactId, recorded, here);
  }
  if (recorded.start_token.empty()) return unverified(Reason::kUnreadable, Rule::kTokenMissing);
  if (read.start_token.empty()) return unverified(Reason::kUnreadable, Rule::kTokenUnreadable);
  if (read.start_token.view() == recorded.start_token) return alive(Rule::kToken);
  return gone(Reason::kOtherProcess, Rule::kToken, recorded, here);
}

}  // namespace

Classification classify(const ProcessIdentity& recorded, const Observation& read,
                        const Here& here) {
  if (const auto foreign = foreign_view(recorded, here)) return *foreign;
  if (!is_possible_pid(recorded.pid)) {
    return gone(Reason::kNoProcess, Rule::kImpossiblePid, recorded, here);
  }
  switch (read.presence) {
    case Presence::kUnreadable:
      return unverified(Reason::kUnreadable, Rule::kObservationUnreadable);
    case Presence::kAbsent:
    case Presence::kExited:
      return gone(Reason::kNoProcess, read.thread ? Rule::kThread : Rule::kNoProcess, recorded,
                  here);
    case Presence::kPresent:
      break;
  }
  switch (compare_boots(recorded.boot_id, here)) {
    case BootMatch::kAnother:
      return gone(Reason::kRebooted, Rule::kRebooted, recorded, here);
    case BootMatch::kUnreadable:
      return unverified(Reason::kUnreadable, Rule::kBootUnreadable);
    case BootMatch::kSame:
    case BootMatch::kNeverRecorded:
      break;
  }
  return compare_tokens(recorded, read, here);
}

std::uint32_t wants_for(const ProcessIdentity& recorded) {
  if (!recorded_exact_id(recorded)) return kWantStartToken;
  return kWantStartToken | kWantExactId | kWantExactSuffices;
}

}  // namespace rollcall
