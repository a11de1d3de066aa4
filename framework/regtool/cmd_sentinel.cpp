#include <fmt/format.h>

#include <utility>

#include "liveness/machine.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/launcher.hpp"
#include "rollcall/sentinel.hpp"

namespace rollcall::regtool {
namespace {

// The status codes of init scripts (Linux Standard Base, "Init Script Actions").
constexpr int kLsbRunning = 0;
constexpr int kLsbDeadWithFile = 1;
constexpr int kLsbNotRunning = 3;
constexpr int kLsbUnknown = 4;

int lsb_code(SentinelState state) {
  switch (state) {
    case SentinelState::kAlive:
      return kLsbRunning;
    case SentinelState::kDead:
      return kLsbDeadWithFile;
    case SentinelState::kNone:
      return kLsbNotRunning;
    case SentinelState::kUnknown:
      break;
  }
  return kLsbUnknown;
}

std::string sentence(const std::string& file, const SentinelReport& report) {
  switch (report.state) {
    case SentinelState::kAlive:
      return fmt::format("{}: pid {} runs", file, report.identity->pid);
    case SentinelState::kDead:
      return fmt::format("{}: dead: {}", file, report.reason);
    case SentinelState::kNone:
      return fmt::format("{}: no such file", file);
    case SentinelState::kUnknown:
      break;
  }
  return fmt::format("{}: unknown: {}", file, report.reason);
}

// Who started this command: a shell, as a rule.
Outcome<std::int64_t> parent_pid(ProcessProbe& probe) {
  const auto text = probe.read(platform::current_pid(), ReadWhat::kParent, {});
  if (!text) return failure_of(text.error());
  const auto pid = parse_integer(*text, 1, kMaxPid);
  if (!pid || *pid == 1) {
    return refusal("who started regtool has ended, or cannot be told; name the process: --pid N");
  }
  return *pid;
}

Outcome<void> write(ProcessProbe& probe, const std::string& file, const ProcessIdentity& identity,
                    bool replace) {
  const auto how = replace ? SentinelReplace::kAlways : SentinelReplace::kIfDead;
  const auto written = write_sentinel(platform::absolute_path(file), identity, how, probe, {});
  if (written) return {};
  Failure failure = to_failure(written.error(), file);
  if (written.error().code == ErrorCode::kExists) {
    failure.code = "refused";
    failure.text += "; to take its place all the same: --replace";
  }
  return tl::unexpected(std::move(failure));
}

// Whatever is not the command's own failure or a wrong command line is ours: 125.
tl::unexpected<Failure> run_failure(Failure failure) {
  if (failure.exit_code != kExitUsage && failure.exit_code != kExitNotRunnable &&
      failure.exit_code != kExitNoCommand) {
    failure.exit_code = kExitRunFailed;
  }
  return tl::unexpected(std::move(failure));
}

// This process becomes the command: pid, start and exact id stay.
Outcome<int> become(ProcessProbe& probe, const SentinelRunCommand& command,
                    const launcher::Plan& plan) {
  const auto self = identify_self(probe, {});
  if (!self) return run_failure(to_failure(self.error()));
  if (auto written = write(probe, command.file, *self, command.replace); !written) {
    return run_failure(written.error());
  }
  const auto failed = launcher::become_command(plan);
  static_cast<void>(remove_sentinel(platform::absolute_path(command.file), *self));
  return run_failure(failed.value());
}

// Where no process can become another program: the command is a child that is written down while it
// waits at the gate, and this process ends as it does.
Outcome<int> attend(ProcessProbe& probe, const SentinelRunCommand& command,
                    const launcher::Plan& plan) {
  launcher::hold_signals(plan.limits);
  const auto child = launcher::GatedChild::start(plan);
  if (!child) return run_failure(child.error());
  const auto identity = identify_process(probe, (*child)->pid(), {});
  if (!identity) return run_failure(to_failure(identity.error()));
  if (auto written = write(probe, command.file, *identity, command.replace); !written) {
    return run_failure(written.error());
  }
  if (auto runs = (*child)->release(false); !runs) {
    static_cast<void>(remove_sentinel(platform::absolute_path(command.file), *identity));
    return run_failure(runs.error());
  }
  const launcher::End end = (*child)->attend();
  launcher::die_of(end);
  return end.exit_code;
}

}  // namespace

Outcome<int> run_sentinel_write(Context& context, const SentinelWriteCommand& command) {
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  const auto pid = command.pid ? Outcome<std::int64_t>(*command.pid) : parent_pid(**probe);
  if (!pid) return tl::unexpected(pid.error());
  const auto identity = identify_for_record(context, *pid, std::nullopt);
  if (!identity) return tl::unexpected(identity.error());
  const auto text = format_sentinel(*identity);
  if (!text) return failure_of(text.error(), command.file);
  // Once more of the same process is no harm.
  const auto standing = check_sentinel(platform::absolute_path(command.file), **probe, {});
  const bool same = standing.state == SentinelState::kAlive && standing.identity &&
                    *format_sentinel(*standing.identity) == *text;
  if (!same) {
    if (auto written = write(**probe, command.file, *identity, command.replace); !written) {
      return tl::unexpected(written.error());
    }
  }
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.sentinel-write/1").text("file", command.file);
    json.integer("pid", *pid).text("sentinel", *text).end_object();
    out.document(json);
  } else {
    out.line(fmt::format("{}: names pid {}", command.file, *pid));
  }
  return kExitYes;
}

Outcome<int> run_sentinel_check(Context& context, const SentinelCheckCommand& command) {
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  const auto report = check_sentinel(platform::absolute_path(command.file), **probe, {});
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.sentinel/1").text("file", command.file);
    json.text("state", to_text(report.state));
    write_reason(json, report.code, report.reason);
    if (report.identity) {
      json.integer("pid", report.identity->pid);
      json.text("start_token", report.identity->start_token);
      json.text_or_null("boot_id", report.identity->boot_id);
    } else {
      json.null("pid").null("start_token").null("boot_id");
    }
    json.end_object();
    out.document(json);
  } else {
    out.line(sentence(command.file, report));
  }
  return lsb_code(report.state);
}

Outcome<int> run_sentinel_run(Context& context, const SentinelRunCommand& command,
                              const platform::InheritedLimits& limits) {
  const auto probe = context.probe();
  if (!probe) return run_failure(probe.error());
  const auto program = launcher::find_program(command.command.front());
  if (!program) return tl::unexpected(program.error());
  const launcher::Plan plan{.program = *program, .command = command.command, .limits = limits};
  return launcher::can_become_command() ? become(**probe, command, plan)
                                        : attend(**probe, command, plan);
}

}  // namespace rollcall::regtool
