// The commands. Each writes its result to the context's output and gives the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "regtool/context.hpp"
#include "regtool/failure.hpp"
#include "regtool/options.hpp"
#include "regtool/platform.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall::regtool {

class JsonWriter;

[[nodiscard]] Outcome<int> run_ps(Context& context, const PsOptions& options);
[[nodiscard]] Outcome<int> run_verify(Context& context, const VerifyOptions& options);
[[nodiscard]] Outcome<int> run_show(Context& context, const ShowOptions& options);
[[nodiscard]] Outcome<int> run_stop(Context& context, const StopCommand& command);
[[nodiscard]] Outcome<int> run_kill(Context& context, const KillCommand& command);
[[nodiscard]] Outcome<int> run_wait(Context& context, const WaitCommand& command);
[[nodiscard]] Outcome<int> run_watch(Context& context, const WatchCommand& command);
[[nodiscard]] Outcome<int> run_events(Context& context, const EventsCommand& command);
[[nodiscard]] Outcome<int> run_register(Context& context, const RegisterCommand& command);
[[nodiscard]] Outcome<int> run_forget(Context& context, const ForgetCommand& command);
[[nodiscard]] Outcome<int> run_prune(Context& context, const PruneCommand& command);
[[nodiscard]] Outcome<int> run_env(Context& context, const EnvCommand& command);
[[nodiscard]] Outcome<int> run_tree(Context& context, const TreeCommand& command);
[[nodiscard]] Outcome<int> run_terminal(Context& context, const TerminalCommand& command);
[[nodiscard]] Outcome<int> run_type(Context& context, const TypeCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsListCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsFindCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsDiscoverCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsResolveCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsForgetCommand& command);
[[nodiscard]] Outcome<int> run_receipts(Context& context, const ReceiptsRegisterCommand& command);
[[nodiscard]] Outcome<int> run_sentinel_write(Context& context,
                                              const SentinelWriteCommand& command);
[[nodiscard]] Outcome<int> run_sentinel_check(Context& context,
                                              const SentinelCheckCommand& command);
[[nodiscard]] Outcome<int> run_sentinel_run(Context& context, const SentinelRunCommand& command,
                                            const platform::InheritedLimits& limits);
[[nodiscard]] Outcome<int> run_sweep(Context& context, const SweepCommand& command);
[[nodiscard]] Outcome<int> run_plugins(Context& context);
[[nodiscard]] Outcome<int> run_plugins_check(Context& context, const PluginsCheckCommand& command);
[[nodiscard]] Outcome<int> run_pairs_ls(Context& context, const PairsLsCommand& command);
[[nodiscard]] Outcome<int> run_pairs_show(Context& context, const PairsShowCommand& command);
[[nodiscard]] Outcome<int> run_pairs_rebind(Context& context, const PairsRebindCommand& command);
[[nodiscard]] Outcome<int> run_doctor(Context& context);
// `limits`: what the command gets back.
[[nodiscard]] Outcome<int> run_run(Context& context, const RunCommand& command,
                                   const platform::InheritedLimits& limits);

// The whole program: parses, dispatches, reports, writes. Returns the exit code.
[[nodiscard]] int run_regtool(const std::vector<std::string>& arguments,
                              const platform::InheritedLimits& limits);

// What `prune` does to the receipts of the home, or with `dry_run` would do.
[[nodiscard]] Outcome<ReceiptList> clean_up_receipts(Context& context, bool dry_run);
// The process `pid`, as it would be recorded. Failures: no_process (4), unreadable (4), refused
// where its start token is not `expect_start`.
[[nodiscard]] Outcome<ProcessIdentity> identify_for_record(
    Context& context, std::int64_t pid, const std::optional<std::string>& expect_start);
// The token in a file ("-": standard input), without a line ending. Failures: io.
[[nodiscard]] Outcome<std::string> read_token_file(const std::string& path);

// null or {"code","text"} under "reason".
void write_reason(JsonWriter& json, Reason code, const std::string& text);
void write_plugin(JsonWriter& json, const PluginInfo& info);

// Keys and labels of our own in a record's metadata.
inline constexpr const char* kCommandPidKey = "command_pid";
inline constexpr const char* kCommandStartKey = "command_start";

}  // namespace rollcall::regtool
