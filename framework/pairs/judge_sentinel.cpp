// What a sentinel's process is. Pure.
#include <charconv>
#include <string>
#include <string_view>

#include "rollcall/pairs.hpp"

namespace rollcall::pairs {
namespace {

// Of an instant in seconds, until the year 5138. A start token of Windows has 18.
constexpr std::size_t kMostDigits = 11;

// Whole seconds, as a writer prints them.
std::optional<std::int64_t> seconds_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = !text.empty() && text.front() >= '1' && text.front() <= '9';
  if (!plain || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

SentinelVerdict unknown(std::string_view reason) {
  return {Liveness::kUnknown, std::string(reason)};
}

// In their writer's own form: both read afresh, and a difference proves nothing, since a boot's
// time in seconds moves with the clock.
SentinelVerdict judge_seconds(const ProcessIdentity& recorded, const Observation& read,
                              const Here& here, std::optional<std::int64_t> boot_seconds) {
  if (!boot_seconds) {
    return unknown(
        "its sentinel counts in seconds, as writers on macOS do: only there can it be "
        "told");
  }
  if (read.presence != Presence::kPresent) {
    // Absence is no difference: nobody holds the pid, whatever form its start was written in.
    ProcessIdentity by_pid;
    by_pid.pid = recorded.pid;
    const Classification result = classify(by_pid, read, here);
    const auto state = result.state == ProcessState::kGone ? Liveness::kDead : Liveness::kUnknown;
    return {state, reason_text(result, by_pid, read, here)};
  }
  if (seconds_of(*recorded.boot_id) != boot_seconds) {
    return unknown("its sentinel names another boot in seconds, which move with the clock");
  }
  // macOS: "seconds.microseconds".
  const std::string_view start = read.start_token.view();
  if (seconds_of(recorded.start_token) == seconds_of(start.substr(0, start.find('.')))) {
    return {Liveness::kAlive, {}};
  }
  return unknown("its sentinel names another start in seconds, or it could not be read");
}

}  // namespace

bool has_seconds_form(const ProcessIdentity& recorded) {
  return recorded.boot_id && recorded.boot_id->size() <= kMostDigits &&
         seconds_of(*recorded.boot_id) && recorded.start_token.size() <= kMostDigits &&
         seconds_of(recorded.start_token);
}

SentinelVerdict judge_sentinel(const ProcessIdentity& recorded, const Observation& read,
                               const Here& here, std::optional<std::int64_t> boot_seconds) {
  if (has_seconds_form(recorded)) return judge_seconds(recorded, read, here, boot_seconds);
  const Classification result = classify(recorded, read, here);
  switch (result.state) {
    case ProcessState::kAlive:
      return {Liveness::kAlive, {}};
    case ProcessState::kGone:
      return {Liveness::kDead, reason_text(result, recorded, read, here)};
    case ProcessState::kUnverified:
      break;
  }
  return {Liveness::kUnknown, reason_text(result, recorded, read, here)};
}

}  // namespace rollcall::pairs
