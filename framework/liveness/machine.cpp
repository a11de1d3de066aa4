#include "liveness/machine.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace rollcall {
namespace {

// A probe that failed says nothing of the process: kNotFound would say that nobody holds the pid.
Error not_read(Error error) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnreadable;
  return error;
}

}  // namespace

Here here_of(WhoAmI who, HomeKind home) {
  Here here;
  here.boot_rule = who.boot_rule;
  here.home = home;
  here.boot_id = std::move(who.self.boot_id);
  here.boot_id_why = std::move(who.boot_id_why);
  here.host_id = std::move(who.self.host_id);
  here.pid_namespace = std::move(who.self.pid_namespace);
  here.time_namespace = std::move(who.self.time_namespace);
  return here;
}

Result<Here> read_here(ProcessProbe& probe, HomeKind home, const Call& call) {
  auto who = probe.whoami(call);
  if (!who) return wrap("cannot read this machine's identity", not_read(who.error()));
  return here_of(std::move(*who), home);
}

Status check_identity_is_whole(const ProcessIdentity& identity, std::string_view token_why,
                               std::string_view boot_why) {
  constexpr std::string_view kNoReason =
      "the system shows nothing of it that can be trusted; see: regtool doctor";
  if (identity.start_token.empty()) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("pid {}'s start time could not be read: {}", identity.pid,
                            token_why.empty() ? kNoReason : token_why));
  }
  if (!identity.boot_id) {
    return fail(ErrorCode::kUnreadable, fmt::format("the boot id could not be read: {}",
                                                    boot_why.empty() ? kNoReason : boot_why));
  }
  return {};
}

Result<ProcessIdentity> identify_process(ProcessProbe& probe, std::int64_t pid, const Call& call) {
  if (!is_possible_pid(pid)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is no process id", pid));
  }
  auto who = probe.whoami(call);
  if (!who) return wrap("cannot read this machine's identity", not_read(who.error()));
  ProcessIdentity identity = std::move(who->self);
  std::string token_why = std::move(who->start_token_why);
  if (pid != identity.pid) {
    Observation read;
    const Ask ask{pid, kWantStartToken | kWantExactId};
    if (auto status = probe.observe({&ask, 1}, {&read, 1}, call); !status) {
      return wrap(fmt::format("cannot read pid {}", pid), not_read(status.error()));
    }
    if (read.presence == Presence::kAbsent || read.presence == Presence::kExited) {
      return fail(ErrorCode::kNotFound,
                  read.thread ? fmt::format("{} is the id of a thread, not of a process", pid)
                              : fmt::format("no process holds pid {}", pid));
    }
    identity.pid = pid;
    identity.start_token = std::string(read.start_token.view());
    identity.exact_id.reset();
    if (read.exact_id) identity.exact_id = std::to_string(*read.exact_id);
    token_why = std::string(read.reason.view());
  }
  if (auto whole = check_identity_is_whole(identity, token_why, who->boot_id_why); !whole) {
    return tl::unexpected(whole.error());
  }
  return identity;
}

Result<ProcessIdentity> identify_self(ProcessProbe& probe, const Call& call) {
  auto who = probe.whoami(call);
  if (!who) return wrap("cannot read our own identity", not_read(who.error()));
  if (auto whole = check_identity_is_whole(who->self, who->start_token_why, who->boot_id_why);
      !whole) {
    return tl::unexpected(whole.error());
  }
  return std::move(who->self);
}

Result<Judged> judge_process(ProcessProbe& probe, const ProcessIdentity& recorded, const Here& here,
                             const Call& call) {
  Judged judged;
  const Ask ask{recorded.pid, wants_for(recorded)};
  if (auto status = probe.observe({&ask, 1}, {&judged.read, 1}, call); !status) {
    return wrap("cannot read processes", not_read(status.error()));
  }
  judged.process = classify(recorded, judged.read, here);
  return judged;
}

}  // namespace rollcall
