#include <fmt/format.h>

#include <algorithm>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/plugin.h"

namespace rollcall::regtool {
namespace {

constexpr std::string_view kLogNames[] = {"error", "warning", "info", "debug"};

bool is_log_level(const std::string& text) {
  return text.empty() ||
         std::find(std::begin(kLogNames), std::end(kLogNames), text) != std::end(kLogNames) ||
         (text.size() == 1 && text.front() >= '0' && text.front() <= '3');
}

int log_level_of(const GlobalOptions& options) {
  int level = 1;
  if (const auto variable = platform::environment("ROLLCALL_LOG")) {
    for (int candidate = 0; candidate < 4; ++candidate) {
      if (*variable == kLogNames[candidate] || *variable == std::to_string(candidate)) {
        level = candidate;
      }
    }
  }
  return std::min(level + options.verbose, 3);
}

OutputStyle style_of(const GlobalOptions& options) {
  OutputStyle style;
  style.json = options.json;
  style.quiet = options.quiet;
  style.log_level = log_level_of(options);
  style.charset = platform::is_utf8_locale() ? text::Charset::kUtf8 : text::Charset::kAscii;
  const auto no_color = platform::environment("NO_COLOR");
  const bool plain = options.no_color || (no_color && !no_color->empty());
  style.colour_out = !plain && platform::takes_escapes(platform::Stream::kOutput);
  style.progress = !plain && platform::takes_escapes(platform::Stream::kError);
  return style;
}

int say_version(Output& out) {
  const std::string abi = fmt::format("{}.{}", ROLLCALL_ABI_MAJOR, ROLLCALL_ABI_MINOR);
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.version/1").text("version", ROLLCALL_VERSION);
    json.text("plugin_abi", abi).end_object();
    out.document(json);
  } else {
    out.line(fmt::format("regtool {} (plugin ABI {})", ROLLCALL_VERSION, abi));
  }
  return kExitYes;
}

// Picks the function of each kind of command.
struct Dispatch {
  Context& context;
  const platform::InheritedLimits& limits;

  Outcome<int> operator()(const HelpCommand&) const { return kExitYes; }
  Outcome<int> operator()(const VersionCommand&) const { return kExitYes; }
  Outcome<int> operator()(const PsOptions& options) const { return run_ps(context, options); }
  Outcome<int> operator()(const VerifyOptions& options) const {
    return run_verify(context, options);
  }
  Outcome<int> operator()(const ShowOptions& options) const { return run_show(context, options); }
  Outcome<int> operator()(const RunCommand& command) const {
    return run_run(context, command, limits);
  }
  Outcome<int> operator()(const RegisterCommand& command) const {
    return run_register(context, command);
  }
  Outcome<int> operator()(const ForgetCommand& command) const {
    return run_forget(context, command);
  }
  Outcome<int> operator()(const StopCommand& command) const { return run_stop(context, command); }
  Outcome<int> operator()(const KillCommand& command) const { return run_kill(context, command); }
  Outcome<int> operator()(const WaitCommand& command) const { return run_wait(context, command); }
  Outcome<int> operator()(const WatchCommand& command) const { return run_watch(context, command); }
  Outcome<int> operator()(const EventsCommand& command) const {
    return run_events(context, command);
  }
  Outcome<int> operator()(const PruneCommand& command) const { return run_prune(context, command); }
  Outcome<int> operator()(const EnvCommand& command) const { return run_env(context, command); }
  Outcome<int> operator()(const TreeCommand& command) const { return run_tree(context, command); }
  Outcome<int> operator()(const TerminalCommand& command) const {
    return run_terminal(context, command);
  }
  Outcome<int> operator()(const TypeCommand& command) const { return run_type(context, command); }
  Outcome<int> operator()(const ReceiptsListCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const ReceiptsFindCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const ReceiptsDiscoverCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const ReceiptsResolveCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const ReceiptsForgetCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const ReceiptsRegisterCommand& command) const {
    return run_receipts(context, command);
  }
  Outcome<int> operator()(const SentinelWriteCommand& command) const {
    return run_sentinel_write(context, command);
  }
  Outcome<int> operator()(const SentinelCheckCommand& command) const {
    return run_sentinel_check(context, command);
  }
  Outcome<int> operator()(const SentinelRunCommand& command) const {
    return run_sentinel_run(context, command, limits);
  }
  Outcome<int> operator()(const SweepCommand& command) const { return run_sweep(context, command); }
  Outcome<int> operator()(const PluginsCommand&) const { return run_plugins(context); }
  Outcome<int> operator()(const PluginsCheckCommand& command) const {
    return run_plugins_check(context, command);
  }
  Outcome<int> operator()(const PairsLsCommand& command) const {
    return run_pairs_ls(context, command);
  }
  Outcome<int> operator()(const PairsShowCommand& command) const {
    return run_pairs_show(context, command);
  }
  Outcome<int> operator()(const PairsRebindCommand& command) const {
    return run_pairs_rebind(context, command);
  }
  Outcome<int> operator()(const DoctorCommand&) const { return run_doctor(context); }
};

// Whether a command's exit code is that of the command which it starts.
bool starts_command(const Command& command) {
  return std::holds_alternative<RunCommand>(command) ||
         std::holds_alternative<SentinelRunCommand>(command);
}

// The exit code of a failure. For an init script 4 is the LSB's "unknown", and 5 is none of its
// codes. A code that the started command may have given itself says nothing of us.
int exit_code_of(const Command& command, int code) {
  if (code == kExitIo && std::holds_alternative<SentinelCheckCommand>(command)) {
    return kExitRefused;
  }
  const bool is_ours = code == kExitUsage || code == kExitNotRunnable || code == kExitNoCommand;
  return starts_command(command) && !is_ours ? kExitRunFailed : code;
}

tl::unexpected<Failure> failed(const Command& command, Failure failure) {
  failure.exit_code = exit_code_of(command, failure.exit_code);
  return tl::unexpected(std::move(failure));
}

// Whether a command reads sessions of a store that --store names.
bool takes_stores(const Command& command) {
  const auto* ps = std::get_if<PsOptions>(&command);
  if (ps != nullptr) return !ps->gone;
  return std::holds_alternative<VerifyOptions>(command) ||
         std::holds_alternative<ShowOptions>(command) ||
         std::holds_alternative<WaitCommand>(command) ||
         std::holds_alternative<WatchCommand>(command) ||
         std::holds_alternative<StopCommand>(command) ||
         std::holds_alternative<KillCommand>(command);
}

Outcome<int> execute(const Invocation& invocation, Output& output,
                     const platform::InheritedLimits& limits) {
  if (const auto* help = std::get_if<HelpCommand>(&invocation.command)) {
    output.raw(help->text);
    return kExitYes;
  }
  if (std::holds_alternative<VersionCommand>(invocation.command)) return say_version(output);
  if (invocation.global.chose_stores && !takes_stores(invocation.command)) {
    return usage_failure("--store is for ps, show, verify, wait, watch, stop and kill");
  }
  // `run` does so itself, once the command that it starts cannot inherit it any more; `sentinel
  // run` has no secret, and becomes the command.
  if (!starts_command(invocation.command)) platform::keep_memory_out_of_dumps();
  // `doctor` says what is wrong with it; `run` is no less able to run a command.
  const bool without_config = std::holds_alternative<DoctorCommand>(invocation.command) ||
                              std::holds_alternative<RunCommand>(invocation.command);
  auto context = Context::open(invocation.global, output, without_config);
  if (!context) return failed(invocation.command, context.error());
  auto code = std::visit(Dispatch{**context, limits}, invocation.command);
  (*context)->log_plugins();
  if (!code) return failed(invocation.command, code.error());
  return code;
}

}  // namespace

int run_regtool(const std::vector<std::string>& arguments,
                const platform::InheritedLimits& limits) {
  const auto invocation = parse_command_line(arguments);
  GlobalOptions options;
  if (invocation) {
    options = invocation->global;
  } else {
    options.json = asks_for_json(arguments);
  }
  Output output(style_of(options));
  if (const auto level = platform::environment("ROLLCALL_LOG"); level && !is_log_level(*level)) {
    output.warning(fmt::format("ROLLCALL_LOG={}: it is error, warning, info or debug", *level));
  }
  int code = kExitIo;
  const auto outcome = invocation ? execute(*invocation, output, limits)
                                  : Outcome<int>(tl::unexpected(invocation.error()));
  if (outcome) {
    code = *outcome;
  } else {
    output.failure(outcome.error());
    code = outcome.error().exit_code;
  }
  if (auto flushed = output.flush(); !flushed) {
    output.error(flushed.error().message);
    return invocation ? exit_code_of(invocation->command, kExitIo) : kExitIo;
  }
  return code;
}

}  // namespace rollcall::regtool
