// What was asked for on the command line, parsed and checked, nothing done yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "regtool/failure.hpp"
#include "regtool/format.hpp"
#include "regtool/naming.hpp"
#include "regtool/stores.hpp"
#include "rollcall/process_control.hpp"

namespace rollcall::regtool {

struct GlobalOptions {
  std::optional<std::string> home;
  std::optional<std::string> user;
  std::vector<std::string> plugins;
  StoreSelection stores;
  bool chose_stores = false;
  bool trust_plugins = false;
  int verbose = 0;
  bool json = false;
  bool quiet = false;
  bool no_color = false;
};

struct PsOptions {
  bool wide = false;
  bool all = false;
  bool no_prune = false;
  bool no_probe = false;
  bool ids_only = false;
  bool gone = false;
  std::vector<KeyValue> filters;
  std::string sort;    // a column, "-" before it: descending; empty: newest first
  std::string format;  // a template with {fields}, or a list of columns; empty: the table
  std::optional<std::int64_t> timeout_ns;
};

struct VerifyOptions {
  SessionName session;
  bool explain = false;
  std::optional<std::int64_t> timeout_ns;
};

struct ShowOptions {
  SessionName session;
  std::optional<std::int64_t> timeout_ns;
};

struct StopCommand {
  SessionName session;
  bool force = false;
  std::optional<std::int64_t> after_ms;
  std::optional<std::int64_t> total_ms;
  bool accept_time_guard = false;
  bool tree = false;
  bool no_door = false;
  std::string reason;
};

struct KillCommand {
  SessionName session;
  Signal signal = Signal::kKill;
  std::optional<std::int64_t> total_ms;
  bool accept_time_guard = false;
  std::string reason;
};

struct WaitCommand {
  SessionName session;
  std::optional<std::int64_t> timeout_ns;
};

struct WatchCommand {
  std::optional<std::uint64_t> after;
  std::optional<std::int64_t> interval_ns;
  bool no_probe = false;
};

struct EventsCommand {
  std::optional<std::uint64_t> after;
  std::optional<std::int64_t> limit;
};

struct ForgetCommand {
  SessionName session;
  bool force = false;
};

struct PruneCommand {
  bool dry_run = false;
  std::optional<SessionName> undo;
};

struct RegisterCommand {
  std::string session_id;
  std::int64_t pid = 0;
  std::optional<std::string> url;
  std::optional<std::string> name;
  std::optional<std::string> version;
  std::optional<std::string> workdir;
  std::optional<std::string> door;
  std::vector<KeyValue> door_settings;
  std::optional<std::string> token_file;
  std::vector<KeyValue> labels;
  std::optional<std::string> expect_start;
  bool replace = false;
};

struct RunCommand {
  std::optional<std::string> session_id;
  std::optional<std::string> name;
  std::optional<std::string> version;
  std::optional<std::string> workdir;
  std::vector<KeyValue> labels;
  bool detach = false;
  bool no_door = false;
  bool auth = false;
  std::optional<std::string> log_file;
  std::vector<std::string> command;
};

struct EnvCommand {
  SessionName session;
  std::optional<std::string> name;
  bool show_secrets = false;
  bool null_ended = false;
};

struct TreeCommand {
  std::optional<SessionName> session;
};

struct TerminalCommand {
  SessionName session;
};

struct TypeCommand {
  SessionName session;
  std::vector<std::string> keys;
};

struct ReceiptsListCommand {
  bool no_prune = false;
};
struct ReceiptsFindCommand {
  std::string runtime_session_id;
  bool no_prune = false;
};
struct SourceOptions {
  std::string harness;
  std::string session_id;
  std::optional<std::string> workspace;  // nullopt: the current directory
};
struct ReceiptsDiscoverCommand {
  SourceOptions source;
  bool no_prune = false;
};
struct ReceiptsResolveCommand {
  std::string endpoint;
  SourceOptions source;
  std::optional<std::string> token_file;
  bool show_token = false;
};
struct ReceiptsForgetCommand {
  std::string endpoint;
};
struct ReceiptsRegisterCommand {
  std::string runtime_session_id;
  SourceOptions source;
  std::string base_url;
  std::string token_file;
  std::int64_t pid = 0;
  std::optional<std::string> expect_start;
  std::optional<std::string> profile;
  std::optional<std::string> persistence_location;
  std::optional<std::string> tmux;
  std::vector<std::string> capabilities;
};

struct SentinelWriteCommand {
  std::string file;
  std::optional<std::int64_t> pid;  // nullopt: who started regtool
  bool replace = false;
};
struct SentinelCheckCommand {
  std::string file;
};
struct SentinelRunCommand {
  std::string file;
  bool replace = false;
  std::vector<std::string> command;
};
struct SweepCommand {
  std::string dir;
  bool dry_run = false;
};

struct PluginsCommand {};
struct PluginsCheckCommand {
  std::string file;
  bool write_store = false;
  bool in_this_process = false;  // the hidden half, run in the child
};
struct PairsLsCommand {
  std::optional<std::string> dir;
};
struct PairsShowCommand {
  std::string id;
  std::optional<std::string> dir;
};
struct PairsRebindCommand {
  std::string id;
  std::optional<std::string> dir;
  std::optional<std::int64_t> parent;
};
struct DoctorCommand {};
struct VersionCommand {};
struct HelpCommand {
  std::string text;
};

using Command = std::variant<
    HelpCommand, VersionCommand, PsOptions, VerifyOptions, ShowOptions, RunCommand, RegisterCommand,
    ForgetCommand, StopCommand, KillCommand, WaitCommand, WatchCommand, EventsCommand, PruneCommand,
    EnvCommand, TreeCommand, TerminalCommand, TypeCommand, ReceiptsListCommand, ReceiptsFindCommand,
    ReceiptsDiscoverCommand, ReceiptsResolveCommand, ReceiptsForgetCommand, ReceiptsRegisterCommand,
    SentinelWriteCommand, SentinelCheckCommand, SentinelRunCommand, SweepCommand, PluginsCommand,
    PluginsCheckCommand, PairsLsCommand, PairsShowCommand, PairsRebindCommand, DoctorCommand>;

struct Invocation {
  GlobalOptions global;
  Command command;
};

// Reads a command line (without the program's name). A failure is usage: exit 2. Pure but for the
// width of help; any thread.
[[nodiscard]] Outcome<Invocation> parse_command_line(const std::vector<std::string>& arguments);

// Whether --json stands among the arguments, before any "--": how a usage failure is told.
[[nodiscard]] bool asks_for_json(const std::vector<std::string>& arguments);

}  // namespace rollcall::regtool
