// The verdict over all three layers, and the sentences that go with it.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kGuardedByTime = "guarded by time";

}  // namespace

std::string reason_text(const Classification& result, const ProcessIdentity& recorded,
                        const Observation& read, const Here& here) {
  const std::int64_t pid = recorded.pid;
  switch (result.rule) {
    case Rule::kForeignHost:
      return "it was recorded on another host; only there can it be told";
    case Rule::kForeignPidNamespace:
      return fmt::format(
          "it was recorded in another pid namespace, where pid {} is another "
          "process's; only there can it be told",
          pid);
    case Rule::kForeignTimeNamespace:
      return "it was recorded in another time namespace, which shifts start times; only there can "
             "it be told";
    case Rule::kViewUnreadable:
      return "it names the host or namespace that it was recorded in, and this process cannot read "
             "its own";
    case Rule::kImpossiblePid:
      return fmt::format("{} is no process id", pid);
    case Rule::kObservationUnreadable:
      return read.reason.empty() ? fmt::format("pid {} could not be read", pid)
                                 : text::for_terminal(read.reason.view());
    case Rule::kNoProcess:
      return fmt::format("no process holds pid {}", pid);
    case Rule::kThread:
      return fmt::format("no process holds pid {}: it is the id of a thread", pid);
    case Rule::kRebooted:
      return "the machine has booted since";
    case Rule::kBootUnreadable:
      return here.boot_id_why.empty() ? "the boot id cannot be compared"
                                      : fmt::format("the boot id cannot be read: {}",
                                                    text::for_terminal(here.boot_id_why));
    case Rule::kTokenMissing:
      return fmt::format("pid {}'s start time was not recorded by the writer", pid);
    case Rule::kTokenUnreadable:
      return fmt::format("pid {}'s start time could not be read", pid);
    case Rule::kSecondOpinion:
      return fmt::format("the second opinion does not call pid {} alive", pid);
    case Rule::kSharedHome:
      return "the record names no host, and its home may be shared with other hosts";
    case Rule::kGuardUnreadable:
      return fmt::format(
          "no start time was recorded, and when pid {} began, or as what, could not be read", pid);
    case Rule::kGuardName:
      return fmt::format(
          "no start time was recorded, and pid {} was launched as something else than this store "
          "expects",
          pid);
    case Rule::kGuardEarly:
      return fmt::format("no start time was recorded, and pid {} began long before its record",
                         pid);
    case Rule::kTimeGuard:
      if (result.state == ProcessState::kAlive) return std::string(kGuardedByTime);
      return fmt::format(
          "pid {} is held by a process that started after its record was written ({})", pid,
          kGuardedByTime);
    case Rule::kExactId:
    case Rule::kToken:
      break;
  }
  if (result.state == ProcessState::kAlive) return {};
  return fmt::format("pid {} is held by a process that started at another time", pid);
}

Reason judge_door(std::string_view session_id, const DoorReading& door) {
  if (!door.answered) return door.reason == Reason::kNone ? Reason::kUnverified : door.reason;
  if (door.ownership == Ownership::kForeign) return Reason::kForeignListener;
  if (door.named) {
    if (door.session.empty()) return Reason::kNoSession;
    return door.session == session_id ? Reason::kNone : Reason::kOtherSession;
  }
  // It names nobody by design: only the kernel's word that the recorded process holds it counts.
  const bool held =
      door.ownership == Ownership::kProcess || door.ownership == Ownership::kDescendant;
  return held ? Reason::kNone : Reason::kOwnerUnknown;
}

namespace {

std::string_view door_sentence(Reason reason) {
  switch (reason) {
    case Reason::kRefused:
      return "nothing listens at its door";
    case Reason::kConnectTimeout:
      return "its door did not accept a connection in time";
    case Reason::kReadTimeout:
      return "its door did not answer in time";
    case Reason::kClosedEarly:
      return "its door closed before the answer was whole";
    case Reason::kBadHttp:
      return "its door does not speak HTTP as it should";
    case Reason::kHttpStatus:
      return "its door answered with an HTTP error";
    case Reason::kRpcError:
      return "its door answered with an error";
    case Reason::kNotJson:
      return "its door's answer is not JSON";
    case Reason::kNoSession:
      return "its door names no session";
    case Reason::kTokenRefused:
      return "its door refused the token";
    case Reason::kForeignListener:
      return "another process holds the door";
    case Reason::kOwnerUnknown:
      return "it cannot be told who holds the door";
    case Reason::kTooLarge:
      return "its door's answer is too large";
    case Reason::kNotSupported:
      return "its door is of a kind that is not spoken to";
    case Reason::kNotLoopback:
      return "its door is not on this machine";
    case Reason::kBadUrl:
      return "its door's address is malformed";
    case Reason::kNoPlugin:
      return "no plugin speaks to its kind of door";
    case Reason::kTokenMissing:
      return "its door asks for a token, and there is none";
    default:
      return "its door could not be verified";
  }
}

std::string door_text(Reason reason, const DoorReading& door) {
  if (reason == Reason::kOtherSession) {
    return fmt::format("its door answers for {}", text::for_terminal(door.session));
  }
  if (door.detail.empty()) return std::string(door_sentence(reason));
  return fmt::format("{}: {}", door_sentence(reason), text::for_terminal(door.detail));
}

}  // namespace

Finding conclude(std::string_view session_id, const Classification& process,
                 const ProcessIdentity& recorded, const Observation& read, const Here& here,
                 const LayerReadings& layer3) {
  if (process.state != ProcessState::kAlive) {
    const Verdict verdict =
        process.state == ProcessState::kGone ? Verdict::kGone : Verdict::kUnreachable;
    return {verdict, process.reason, reason_text(process, recorded, read, here)};
  }
  // Empty, unless it is alive only as far as time can tell.
  std::string remark = reason_text(process, recorded, read, here);
  if (!layer3.has_door) return {Verdict::kLive, Reason::kNone, std::move(remark)};
  if (read.suspended.value_or(false)) {
    return {Verdict::kUnreachable, Reason::kSuspended, "the process is suspended (stopped)"};
  }
  if (!layer3.door_asked || !layer3.door) {
    return {Verdict::kAlive, Reason::kNone, std::move(remark)};
  }
  const Reason reason = judge_door(session_id, *layer3.door);
  if (reason == Reason::kNone) return {Verdict::kLive, Reason::kNone, std::move(remark)};
  return {Verdict::kUnreachable, reason, door_text(reason, *layer3.door)};
}

}  // namespace rollcall
