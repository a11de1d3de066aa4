// The commands. Each writes its result to the context's output and gives the exit code.
#pragma once

#include <string>
#include <vector>

#include "regtool/context.hpp"
#include "regtool/failure.hpp"
#include "regtool/options.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool {

class JsonWriter;

[[nodiscard]] Outcome<int> run_ps(Context& context, const PsOptions& options);
[[nodiscard]] Outcome<int> run_verify(Context& context, const VerifyOptions& options);
[[nodiscard]] Outcome<int> run_show(Context& context, const ShowOptions& options);
[[nodiscard]] Outcome<int> run_stop(Context& context, const StopCommand& command);
[[nodiscard]] Outcome<int> run_kill(Context& context, const KillCommand& command);
[[nodiscard]] Outcome<int> run_wait(Context& context, const WaitCommand& command);
[[nodiscard]] Outcome<int> run_register(Context& context, const RegisterCommand& command);
[[nodiscard]] Outcome<int> run_forget(Context& context, const ForgetCommand& command);
[[nodiscard]] Outcome<int> run_prune(Context& context, const PruneCommand& command);
[[nodiscard]] Outcome<int> run_env(Context& context, const EnvCommand& command);
[[nodiscard]] Outcome<int> run_tree(Context& context, const TreeCommand& command);
[[nodiscard]] Outcome<int> run_terminal(Context& context, const TerminalCommand& command);
[[nodiscard]] Outcome<int> run_type(Context& context, const TypeCommand& command);
[[nodiscard]] Outcome<int> run_plugins(Context& context);
[[nodiscard]] Outcome<int> run_plugins_check(Context& context, const PluginsCheckCommand& command);
[[nodiscard]] Outcome<int> run_doctor(Context& context);
// `limits`: what the command gets back.
[[nodiscard]] Outcome<int> run_run(Context& context, const RunCommand& command,
                                   const platform::InheritedLimits& limits);

// The whole program: parses, dispatches, reports, writes. Returns the exit code.
[[nodiscard]] int run_regtool(const std::vector<std::string>& arguments,
                              const platform::InheritedLimits& limits);

// null or {"code","text"} under "reason".
void write_reason(JsonWriter& json, Reason code, const std::string& text);
void write_plugin(JsonWriter& json, const PluginInfo& info);

// Keys and labels of our own in a record's metadata.
inline constexpr const char* kCommandPidKey = "command_pid";
inline constexpr const char* kCommandStartKey = "command_start";

}  // namespace rollcall::regtool
