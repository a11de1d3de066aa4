#include "rollcall/time_guard.hpp"

#include <algorithm>

namespace rollcall {
namespace {

constexpr Classification untold(Rule rule) {
  return {ProcessState::kUnverified, Reason::kUnverified, rule};
}

// Whether `a` is later than `b` by more than `limit`; no value overflows.
constexpr bool is_later(std::int64_t a, std::int64_t b, std::int64_t limit) {
  return a > b && static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b) >
                      static_cast<std::uint64_t>(limit);
}

// C:\... or \\server\...: only there '\' separates.
bool is_windows_path(std::string_view path) {
  return path.starts_with("\\\\") || (path.size() > 2 && path[1] == ':' && path[2] == '\\');
}

std::string_view base_name_of(std::string_view command) {
  std::string_view name = command.substr(0, command.find('\0'));
  const auto slash = name.find_last_of(is_windows_path(name) ? "/\\" : "/");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return name;
}

}  // namespace

Classification judge_by_time(const TimeGuard& guard, const GuardReading& reading) {
  if (!reading.recorded_unix_ns || !reading.start_unix_ns) return untold(Rule::kGuardUnreadable);
  if (is_later(*reading.start_unix_ns, *reading.recorded_unix_ns, kGuardAfterNs)) {
    return {ProcessState::kGone, Reason::kOtherProcess, Rule::kTimeGuard};
  }
  if (!reading.command || reading.command->empty()) return untold(Rule::kGuardUnreadable);
  const std::string_view name = base_name_of(*reading.command);
  if (std::find(guard.names.begin(), guard.names.end(), name) == guard.names.end()) {
    return untold(Rule::kGuardName);
  }
  if (!guard.registers_late &&
      is_later(*reading.recorded_unix_ns, *reading.start_unix_ns, kGuardBeforeNs)) {
    return untold(Rule::kGuardEarly);
  }
  return {ProcessState::kAlive, Reason::kNone, Rule::kTimeGuard};
}

bool needs_command(const TimeGuard& guard, GuardReading reading) {
  reading.command.reset();
  return reading.recorded_unix_ns && reading.start_unix_ns &&
         judge_by_time(guard, reading).state != ProcessState::kGone;
}

Classification classify_guarded(const ProcessIdentity& recorded, const Observation& read,
                                const Here& here, const TimeGuard& guard,
                                const GuardReading& reading) {
  const Classification plain = classify(recorded, read, here);
  if (plain.rule != Rule::kTokenMissing) return plain;
  const Classification result = judge_by_time(guard, reading);
  if (result.state == ProcessState::kGone && !recorded.host_id && here.home == HomeKind::kShared) {
    return {ProcessState::kUnverified, Reason::kForeignView, Rule::kSharedHome};
  }
  return result;
}

}  // namespace rollcall
