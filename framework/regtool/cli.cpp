#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "regtool/door_options.hpp"
#include "regtool/help.hpp"
#include "regtool/options.hpp"
#include "regtool/platform.hpp"
#include "regtool/ps_view.hpp"
#include "rollcall/journal.hpp"
#include "rollcall/record.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr const char* kPairsDir = "Where the pairs are (default: pairs/ in the home)";
constexpr const char* kAcceptTimeGuard =
    "Also where only the time tells that it is the process (see --store)";

// Help with the examples first.
class ExamplesFirst : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    return make_footer(app) + '\n' + make_description(app) + make_usage(app, std::move(name)) +
           make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode);
  }
  // The command of `run` never reaches CLI11 (see cut_command).
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (app->get_name() == "type") usage.insert(usage.find('\n'), " -- KEY...");
    // Also that of `sentinel run`, whose FILE is ours.
    if (app->get_name() == "run") usage.insert(usage.find('\n'), " [--] COMMAND [ARGUMENT...]");
    return usage;
  }
};

// Everything as it was typed. Numbers too: CLI11 would take "010" for 8.
struct Typed {
  GlobalOptions global;
  std::vector<std::string> stores;
  bool version = false;
  std::map<std::string, std::string> values;
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::string, bool> flags;

  [[nodiscard]] const std::string* value(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::optional<std::string> optional(const std::string& key) const {
    const std::string* found = value(key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  [[nodiscard]] bool flag(const std::string& key) const { return flags.count(key) > 0; }
};

// One subcommand's options; what is given lands in `typed` under the option's long name.
class Subcommand {
 public:
  Subcommand(CLI::App& parent, Typed& typed, const std::string& name, const std::string& what)
      : app_(*parent.add_subcommand(name, what)), typed_(typed) {
    const bool nested = parent.get_parent() != nullptr;
    const auto own = examples_of(nested ? parent.get_name() + " " + name : name);
    app_.footer(std::string(own));
  }

  Subcommand& value(const std::string& names, const std::string& what, const std::string& type) {
    const std::string key = key_of(names);
    app_.add_option_function<std::string>(
            names, [this, key](const std::string& text) { typed_.values[key] = text; }, what)
        ->type_name(type);
    return *this;
  }
  Subcommand& list(const std::string& names, const std::string& what, const std::string& type) {
    const std::string key = key_of(names);
    app_.add_option_function<std::vector<std::string>>(
            names,
            [this, key](const std::vector<std::string>& texts) { typed_.lists[key] = texts; }, what)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    return *this;
  }
  Subcommand& flag(const std::string& names, const std::string& what) {
    const std::string key = key_of(names);
    app_.add_flag_callback(
        names, [this, key] { typed_.flags[key] = true; }, what);
    return *this;
  }
  Subcommand& positional(const std::string& name, const std::string& what, bool required = true) {
    auto* option = app_.add_option_function<std::string>(
        name, [this, name](const std::string& text) { typed_.values[name] = text; }, what);
    option->type_name("")->required(required);
    return *this;
  }
  CLI::App& app() { return app_; }

 private:
  // "-a,--all" -> "all"
  static std::string key_of(const std::string& names) {
    const std::size_t dashes = names.find("--");
    return names.substr(dashes + 2);
  }

  CLI::App& app_;
  Typed& typed_;
};

class CommandLine {
 public:
  CommandLine() : app_("Which recorded sessions really run, right now?", "regtool") {
    app_.formatter(std::make_shared<ExamplesFirst>());
    app_.footer(std::string(examples_of("")));
    app_.require_subcommand(0, 1);
    app_.fallthrough();
    app_.allow_windows_style_options(false);  // there, /json is a word as it is elsewhere
    app_.set_help_flag("-h,--help", "This help");
    add_globals();
    add_reading();
    add_acting();
    add_keeping();
    add_receipts();
    add_sentinels();
    add_surroundings();
  }

  CLI::App& app() { return app_; }
  [[nodiscard]] const Typed& typed() const { return typed_; }
  [[nodiscard]] std::string chosen() const {
    std::string name;
    for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      name += name.empty() ? app->get_name() : " " + app->get_name();
    }
    return name;
  }

 private:
  Subcommand& sub(const std::string& name, const std::string& what, CLI::App* parent = nullptr) {
    subs_.push_back(
        std::make_unique<Subcommand>(parent != nullptr ? *parent : app_, typed_, name, what));
    return *subs_.back();
  }

  void add_globals() {
    const auto text = [](std::optional<std::string>& target) {
      return [&target](const std::string& value) { target = value; };
    };
    app_.add_option_function<std::string>("--home", text(typed_.global.home),
                                          "Where the records are (else $ROLLCALL_HOME, else "
                                          "~/.rollcall)")
        ->type_name("DIR");
    app_.add_option_function<std::string>("--user", text(typed_.global.user),
                                          "As root: read another user's sessions, change nothing")
        ->type_name("NAME");
    app_.add_option("--plugin", typed_.global.plugins, "A further plugin; may be given again")
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    app_.add_option("--store", typed_.stores,
                    "Whose records: all, rollcall (default), murmur, supercode, pairs, claude, "
                    "jupyter, a plugin's id, or NAME=DIR; a list, or given again")
        ->type_name("NAME")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    app_.add_flag("--trust-plugins", typed_.global.trust_plugins,
                  "Load plugins from places that others can write");
    app_.add_flag("-v,--verbose", typed_.global.verbose, "Say more on standard error");
    app_.add_flag("--json", typed_.global.json, "Answer in JSON");
    app_.add_flag("--quiet", typed_.global.quiet, "No notices or warnings");
    app_.add_flag("--no-color", typed_.global.no_color, "No colours");
    app_.add_flag("--version", typed_.version, "The version");
  }

  void add_reading() {
    sub("ps", "The sessions that run; what is proven gone is pruned")
        .flag("--wide", "Also the kind of door and the reason; nothing is cut")
        .flag("-a,--all", "Also what this read pruned, and what lies in gone/")
        .flag("--no-prune", "Remove nothing")
        .flag("--no-probe", "Ask no door: a running session is alive, not live")
        .flag("-q,--ids", "Only the ids")
        .flag("--gone", "What was pruned, and why")
        .list("-f,--filter",
              "name, id, status, label, version, pid, detached, workdir, kind, url, store", "K=V")
        .value("--sort", "A column, with - before it for descending", "COLUMN")
        .value("--format", "Columns (session,pid) or a template ('{session} {pid}')", "TEXT")
        .value("--timeout", "For each door: 500ms, 2s (default 5s)", "TIME");
    sub("show", "One session's record, without its secrets, and the verdict")
        .positional("ID", "The session")
        .value("--timeout", "For the door: 500ms, 2s (default 5s)", "TIME");
    sub("verify", "Whether one session is live (0), gone (1) or unreachable (3)")
        .positional("ID", "The session")
        .flag("--explain", "Layer by layer: what was recorded, what was read, what follows")
        .value("--timeout", "For the door: 500ms, 2s (default 5s)", "TIME");
    sub("env", "The environment that a session's process was started with")
        .positional("ID", "The session")
        .positional("NAME", "Only the value of this variable", false)
        .flag("--show-secrets", "Also the values of what looks like a secret")
        .flag("-0,--null", "The exact bytes, each entry ended by NUL; with --show-secrets");
    sub("tree", "The processes as a tree, with the sessions in it")
        .positional("ID", "Only what is below this session", false);
    sub("terminal", "The terminal that a session runs in").positional("ID", "The session");
    sub("wait", "Waits until a session's process has ended")
        .positional("ID", "The session")
        .value("--timeout", "At most so long: 500ms, 2s, 5m", "TIME");
    sub("watch", "What appears, changes, answers, falls silent and ends, as it happens")
        .value("--after", "Go on behind this cursor, as the journal has it", "CURSOR")
        .value("--interval", "Between two sweeps, which ask the doors (default 30s)", "TIME")
        .flag("--no-probe", "Ask no door: a running session is alive, not live");
    sub("events", "What the journal says has happened")
        .value("--after", "Only what stands behind this cursor", "CURSOR")
        .value("--limit", "At most so many: the first ones behind --after, else the last ones",
               "N");
  }

  void add_acting() {
    sub("stop", "SIGTERM, again after a second, and sees whether it went")
        .positional("ID", "The session")
        .flag("--force", "One SIGKILL instead")
        .flag("--tree", "With all that descends from its process")
        .flag("--no-door", "By signals only, without asking its door first")
        .value("--reason", "Why, for its door and the journal", "TEXT")
        .flag("--accept-time-guard", kAcceptTimeGuard)
        .value("--after", "The second SIGTERM comes so much later (default 1s)", "TIME")
        .value("--total", "Waits so long in all: 500ms, 2s (default 3s)", "TIME");
    sub("kill", "Sends one signal")
        .positional("ID", "The session")
        .value("-s,--signal", "TERM INT HUP QUIT KILL USR1 USR2 CONT STOP (default KILL)", "NAME")
        .value("--total", "After KILL, waits so long for the end: 500ms, 2s (default 3s)", "TIME")
        .value("--reason", "Why, for the journal", "TEXT")
        .flag("--accept-time-guard", kAcceptTimeGuard);
    sub("type", "Types keys into the terminal that a session runs in")
        .positional("ID", "The session");
    sub("run", "Runs a command as a session, for as long as it runs")
        .value("--session", "Its id (default: a new one)", "ID")
        .value("--name", "Its name (default: the command's)", "NAME")
        .value("--version", "Its version", "TEXT")
        .value("--workdir", "Runs there", "DIR")
        .list("-l,--label", "A label; may be given again", "K=V")
        .flag("-d,--detach", "In the background, in a session of its own; prints the id")
        .value("--log", "With --detach: where its output goes (default: nowhere)", "FILE")
        .flag("--no-door", "Without a door")
        .flag("--auth", "The door names the session only to who has the record's token");
  }

  void add_keeping() {
    sub("register", "Records a process that runs already")
        .value("--session", "The id to record it under (required)", "ID")
        .value("--pid", "The process (required)", "PID")
        .value("--url", "Its door: host:port on loopback", "URL")
        .value("--name", "Its name (default: the process's)", "NAME")
        .value("--version", "Its version", "TEXT")
        .value("--workdir", "Its folder (default: the process's)", "DIR")
        .value("--door", "The kind of door: a2a (default), http, tcp, unix, or a plugin's", "KIND")
        .list("--door-set",
              "A setting of the door: a2a: legacy_card_path, extension_uris; http: path, pointer; "
              "tcp: none; unix: path. May be given again",
              "K=V")
        .value("--token-file", "Where the door's token stands; - is standard input", "FILE")
        .list("-l,--label", "A label; may be given again", "K=V")
        .value("--expect-start", "Refuse unless the process has this start token", "TOKEN")
        .flag("--replace", "Take over an id that is in use");
    sub("forget", "Removes one record by hand")
        .positional("ID", "The session")
        .flag("--force", "Even of a session that runs or cannot be told");
    sub("prune", "Removes what is proven gone, and sets aside what is no record")
        .flag("--dry-run", "Only says what would go")
        .value("--undo", "Puts a pruned record back", "ID");
  }

  static void add_source(Subcommand& command) {
    command.value("--harness", "What drives it (required)", "NAME")
        .value("--session", "Its session there (required)", "ID")
        .value("--workspace", "Its folder (default: this one)", "DIR");
  }

  void add_receipts() {
    constexpr const char* kEndpoint = "rollcall-live://...";
    constexpr const char* kNoPrune = "Remove nothing";
    CLI::App& receipts =
        sub("receipts", "Endpoints of running programs, without their tokens").app();
    receipts.require_subcommand(1, 1);
    sub("list", "All of them; what is proven gone is pruned", &receipts)
        .flag("--no-prune", kNoPrune);
    sub("find", "The endpoint of one runtime", &receipts)
        .positional("RUNTIME", "Its session id")
        .flag("--no-prune", kNoPrune);
    Subcommand& discover = sub("discover", "The newest endpoint of a source", &receipts);
    add_source(discover);
    discover.flag("--no-prune", kNoPrune);
    Subcommand& resolve = sub("resolve", "Address and token behind an endpoint", &receipts);
    resolve.positional("ENDPOINT", kEndpoint);
    add_source(resolve);
    resolve.value("--token-file", "Writes the token there, into a new file (0600)", "FILE")
        .flag("--show-token", "Prints the token");
    sub("forget", "Removes a receipt by hand", &receipts).positional("ENDPOINT", kEndpoint);
    Subcommand& add = sub("register", "Registers a process that runs already", &receipts);
    add.value("--runtime", "Its runtime session id (required)", "ID")
        .value("--pid", "The process (required)", "PID")
        .value("--base-url", "http://HOST:PORT on loopback (required)", "URL")
        .value("--token-file", "Where its token stands; - is standard input (required)", "FILE");
    add_source(add);
    add.value("--expect-start", "Refuse unless the process has this start token", "TOKEN")
        .value("--profile", "Its profile", "TEXT")
        .value("--persistence-location", "Where it keeps what it remembers", "TEXT")
        .list("--capability", "What the endpoint speaks; may be given again", "NAME")
        .value("--tmux", "The tmux session that it runs in", "NAME");
  }

  void add_sentinels() {
    CLI::App& sentinel = sub("sentinel", "Pid files that cannot be fooled").app();
    sentinel.require_subcommand(1, 1);
    sub("write", "Writes down who a process is", &sentinel)
        .positional("FILE", "The file")
        .value("--pid", "The process (default: who started regtool)", "PID")
        .flag("--replace", "Also in place of one that runs or cannot be told");
    sub("check", "Whether that very process runs: 0 yes, 1 dead, 3 no file, 4 unknown", &sentinel)
        .positional("FILE", "The file");
    sub("run", "Writes itself down, and becomes the command", &sentinel)
        .positional("FILE", "The file")
        .flag("--replace", "Also in place of one that runs or cannot be told");
    sub("sweep", "Removes the folders PID-START of processes that are proven gone")
        .positional("DIR", "The folder that they are in")
        .flag("--dry-run", "Only says what would go");
  }

  void add_surroundings() {
    CLI::App& plugins = sub("plugins", "What was loaded, from where, and what was refused").app();
    plugins.require_subcommand(0, 1);
    sub("list", "What was loaded, shadowed or refused, and why", &plugins);
    sub("check", "Tries a plugin out in a child process", &plugins)
        .positional("FILE", "The shared object")
        .flag("--write-store", "Also write to the store that it offers");
    Subcommand& child = sub("check-here", "", &plugins);
    child.positional("FILE", "").flag("--write-store", "");
    child.app().group("");
    CLI::App& pairs = sub("pairs", "Pairs of a terminal and a controller").app();
    pairs.require_subcommand(0, 1);
    sub("ls", "Every pair, and what its sides are", &pairs).value("--dir", kPairsDir, "DIR");
    sub("show", "What the sides of one pair are, and why", &pairs)
        .positional("ID", "The pair")
        .value("--dir", kPairsDir, "DIR");
    sub("rebind", "Makes a process the controller of a pair that has none alive", &pairs)
        .positional("ID", "The pair (default: $ROLLCALL_PAIR)", false)
        .value("--parent", "The process to bind (default: who started this command)", "PID")
        .value("--dir", kPairsDir, "DIR");
    sub("help", "The help of a command: help [COMMAND]");
    sub("doctor", "What this machine lets Rollcall see, and which configuration applies");
  }

  CLI::App app_;
  Typed typed_;
  std::vector<std::unique_ptr<Subcommand>> subs_;
};

// Levenshtein's, of short words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

bool has_command(const CLI::App& app, const std::string& word) {
  return !app.get_subcommands([&](const CLI::App* it) { return it->get_name() == word; }).empty();
}

tl::unexpected<Failure> unknown_command(const std::string& word, CLI::App& app) {
  std::string near;
  std::string all;
  std::size_t nearest = 3;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    all.append(all.empty() ? "" : ", ").append(name);
    const std::size_t away = word.size() <= 32 ? distance(word, name) : nearest;
    if (away < nearest) {
      nearest = away;
      near = name;
    }
  }
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean {}?", near);
  return usage_failure(
      fmt::format("unknown command {}{}{}there are {}", word, hint, hint.empty() ? "; " : " ", all),
      word);
}

tl::unexpected<Failure> bad_option(std::string_view option, const std::string& value,
                                   std::string_view expected) {
  return usage_failure(fmt::format("--{} {}: {}", option, value.empty() ? "''" : value, expected),
                       value);
}

// The checked values of one command line. The first problem wins; nothing is returned then.
class Reader {
 public:
  explicit Reader(const Typed& typed) : typed_(typed) {}

  [[nodiscard]] bool failed() const { return failure_.has_value(); }
  [[nodiscard]] const Failure& failure() const { return *failure_; }

  SessionName session(const std::string& key = "ID") {
    const std::string* value = typed_.value(key);
    auto name = parse_session_name(value == nullptr ? "" : *value);
    if (name) return *name;
    note(name.error());
    return {};
  }
  std::optional<std::int64_t> duration(const std::string& key) {
    const std::string* value = typed_.value(key);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_duration_ns(*value);
    if (!parsed) {
      note(bad_option(key, *value, "a time is 500ms, 1.5s, 2m or 1h, more than 0, at most 30 days")
               .value());
    }
    return parsed;
  }
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t lowest,
                                      std::int64_t highest) {
    const std::string* value = typed_.value(key);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_integer(*value, lowest, highest);
    if (!parsed) {
      note(bad_option(key, *value, fmt::format("a whole number from {} to {}", lowest, highest))
               .value());
    }
    return parsed;
  }
  std::optional<std::uint64_t> cursor(const std::string& key) {
    const std::string* value = typed_.value(key);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_cursor(*value);
    if (!parsed) {
      note(bad_option(key, *value, "a cursor is what watch and events give as one, or 0").value());
    }
    return parsed;
  }
  // A bare number is milliseconds here, with a unit it is any time; up to a day.
  std::optional<std::int64_t> milliseconds(const std::string& key) {
    const std::string* value = typed_.value(key);
    if (value == nullptr) return std::nullopt;
    if (const auto bare = parse_integer(*value, 0, kDayMs)) return bare;
    constexpr std::int64_t kNsPerMs = 1'000'000;
    const bool has_unit = !value->empty() && value->back() >= 'a' && value->back() <= 'z';
    const auto parsed = has_unit ? parse_duration_ns(*value) : std::nullopt;
    if (parsed && *parsed <= kDayMs * kNsPerMs) return (*parsed + kNsPerMs - 1) / kNsPerMs;
    note(bad_option(key, *value,
                    "a time is 500 (milliseconds), 500ms, 1.5s, 2m or 1h, at most a day")
             .value());
    return std::nullopt;
  }
  std::vector<KeyValue> pairs(const std::string& key) {
    std::vector<KeyValue> out;
    const auto found = typed_.lists.find(key);
    if (found == typed_.lists.end()) return out;
    for (const std::string& text : found->second) {
      auto pair = parse_key_value(text);
      if (!pair) {
        note(bad_option(key, text, "is KEY=VALUE, with a key of letters, digits, . _ and -")
                 .value());
        return out;
      }
      out.push_back(std::move(*pair));
    }
    return out;
  }
  void session_id(const std::string& id) {
    if (auto valid = check_session_id(id); !valid) {
      note(usage_failure("--session: " + valid.error().message, id).value());
    }
  }
  void note(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }
  template <class T>
  void note(const Outcome<T>& outcome) {
    if (!outcome) note(outcome.error());
  }

 private:
  const Typed& typed_;
  std::optional<Failure> failure_;
};

PsOptions read_ps(const Typed& typed, Reader& reader) {
  PsOptions options;
  options.wide = typed.flag("wide");
  options.all = typed.flag("all");
  options.no_prune = typed.flag("no-prune");
  options.no_probe = typed.flag("no-probe");
  options.ids_only = typed.flag("ids");
  options.gone = typed.flag("gone");
  options.timeout_ns = reader.duration("timeout");
  options.filters = reader.pairs("filter");
  for (const KeyValue& filter : options.filters) reader.note(check_filter(filter));
  if (const auto* sort = typed.value("sort")) {
    reader.note(check_sort(*sort));
    options.sort = *sort;
  }
  if (const auto* format = typed.value("format")) {
    reader.note(check_format(*format));
    options.format = *format;
  }
  if (options.gone &&
      (!options.filters.empty() || !options.sort.empty() || !options.format.empty())) {
    reader.note(Failure{kExitUsage, "usage",
                        "--gone lists what was pruned as it is: without --filter, --sort and "
                        "--format; rows of it are among those of: regtool ps --all",
                        "--gone"});
  }
  return options;
}

KillCommand read_kill(const Typed& typed, Reader& reader) {
  KillCommand command{.session = reader.session()};
  command.total_ms = reader.milliseconds("total");
  command.accept_time_guard = typed.flag("accept-time-guard");
  command.reason = typed.optional("reason").value_or("");
  if (const auto* name = typed.value("signal")) {
    const auto signal = parse_signal(*name);
    if (signal) {
      command.signal = *signal;
    } else {
      reader.note(
          bad_option("signal", *name,
                     "a signal is one of TERM INT HUP QUIT KILL USR1 USR2 CONT STOP, written so")
              .value());
    }
  }
  return command;
}

EnvCommand read_env(const Typed& typed, Reader& reader) {
  EnvCommand command{.session = reader.session()};
  command.name = typed.optional("NAME");
  command.show_secrets = typed.flag("show-secrets");
  command.null_ended = typed.flag("null");
  if (command.null_ended && !command.show_secrets) {
    reader.note(usage_failure("--null gives the exact bytes, secrets too: it needs --show-secrets")
                    .value());
  }
  if (command.null_ended && typed.global.json) {
    reader.note(usage_failure("--null and --json exclude each other").value());
  }
  return command;
}

RegisterCommand read_register(const Typed& typed, Reader& reader) {
  RegisterCommand command;
  const auto id = typed.optional("session");
  const auto pid = reader.integer("pid", 1, kMaxPid);
  if (!id || typed.value("pid") == nullptr) {
    reader.note(usage_failure("register needs --session ID and --pid PID").value());
    return command;
  }
  reader.session_id(*id);
  command.session_id = *id;
  command.pid = pid.value_or(0);
  command.url = typed.optional("url");
  command.name = typed.optional("name");
  command.version = typed.optional("version");
  command.workdir = typed.optional("workdir");
  command.door = typed.optional("door");
  command.door_settings = reader.pairs("door-set");
  command.token_file = typed.optional("token-file");
  command.labels = reader.pairs("label");
  command.expect_start = typed.optional("expect-start");
  command.replace = typed.flag("replace");
  if (command.door && command.door->empty()) {
    reader.note(bad_option("door", "", "is a kind of door: a2a, http, tcp, unix").value());
  }
  if (!command.door && !command.door_settings.empty()) {
    reader.note(usage_failure("--door-set needs --door KIND").value());
  }
  // Of a setting that looks like a secret the command says more, and refuses it.
  const bool secret =
      std::any_of(command.door_settings.begin(), command.door_settings.end(),
                  [](const KeyValue& setting) { return looks_secret(setting.key); });
  if (command.door && !secret) {
    reader.note(check_door(*command.door, command.url.has_value(), command.door_settings));
  }
  return command;
}

RunCommand read_run(const Typed& typed, Reader& reader, std::vector<std::string> words) {
  RunCommand command;
  command.session_id = typed.optional("session");
  if (command.session_id) reader.session_id(*command.session_id);
  command.name = typed.optional("name");
  command.version = typed.optional("version");
  command.workdir = typed.optional("workdir");
  command.labels = reader.pairs("label");
  command.detach = typed.flag("detach");
  command.no_door = typed.flag("no-door");
  command.auth = typed.flag("auth");
  command.log_file = typed.optional("log");
  command.command = std::move(words);
  if (command.command.empty() || command.command.front().empty()) {
    reader.note(usage_failure("run needs a command: regtool run -- COMMAND [ARGUMENT...]").value());
  }
  if (command.auth && command.no_door) {
    reader.note(usage_failure("--auth is about the door that --no-door leaves out").value());
  }
  if (command.log_file && !command.detach) {
    reader.note(usage_failure("--log needs --detach").value());
  }
  return command;
}

SourceOptions read_source(const std::string& chosen, const Typed& typed, Reader& reader) {
  SourceOptions source;
  const auto harness = typed.optional("harness");
  const auto session = typed.optional("session");
  if (!harness || !session || harness->empty() || session->empty()) {
    reader.note(usage_failure(chosen + " needs --harness NAME and --session ID").value());
    return source;
  }
  source.harness = *harness;
  source.session_id = *session;
  source.workspace = typed.optional("workspace");
  if (source.workspace && source.workspace->empty()) {
    reader.note(bad_option("workspace", "", "is a folder").value());
  }
  return source;
}

ReceiptsRegisterCommand read_receipt(const std::string& chosen, const Typed& typed,
                                     Reader& reader) {
  ReceiptsRegisterCommand command;
  for (const char* key : {"runtime", "pid", "base-url", "token-file"}) {
    if (typed.value(key) != nullptr) continue;
    reader.note(usage_failure(fmt::format("{} needs --{}", chosen, key)).value());
    return command;
  }
  command.runtime_session_id = *typed.value("runtime");
  command.source = read_source(chosen, typed, reader);
  command.base_url = *typed.value("base-url");
  command.token_file = *typed.value("token-file");
  command.pid = reader.integer("pid", 1, kMaxPid).value_or(0);
  command.expect_start = typed.optional("expect-start");
  command.profile = typed.optional("profile");
  command.persistence_location = typed.optional("persistence-location");
  command.tmux = typed.optional("tmux");
  const auto capabilities = typed.lists.find("capability");
  if (capabilities != typed.lists.end()) command.capabilities = capabilities->second;
  return command;
}

Command read_receipts(const std::string& chosen, const Typed& typed, Reader& reader) {
  const bool no_prune = typed.flag("no-prune");
  if (chosen == "receipts list") return ReceiptsListCommand{no_prune};
  if (chosen == "receipts find") {
    return ReceiptsFindCommand{typed.optional("RUNTIME").value_or(""), no_prune};
  }
  if (chosen == "receipts discover") {
    return ReceiptsDiscoverCommand{read_source(chosen, typed, reader), no_prune};
  }
  if (chosen == "receipts register") return read_receipt(chosen, typed, reader);
  const std::string endpoint = typed.optional("ENDPOINT").value_or("");
  if (chosen == "receipts forget") return ReceiptsForgetCommand{endpoint};
  ReceiptsResolveCommand command{endpoint, read_source(chosen, typed, reader),
                                 typed.optional("token-file"), typed.flag("show-token")};
  if (command.token_file && command.token_file->empty()) {
    reader.note(bad_option("token-file", "", "is a file that is not there yet").value());
  }
  return command;
}

Command read_sentinel(const std::string& chosen, const Typed& typed, Reader& reader,
                      std::vector<std::string> words) {
  const std::string file = typed.optional("FILE").value_or("");
  if (file.empty()) reader.note(usage_failure("the sentinel's file has no name").value());
  if (chosen == "sentinel check") return SentinelCheckCommand{file};
  if (chosen == "sentinel write") {
    return SentinelWriteCommand{file, reader.integer("pid", 1, kMaxPid), typed.flag("replace")};
  }
  if (words.empty() || words.front().empty()) {
    reader.note(usage_failure("sentinel run needs a command: regtool sentinel run FILE -- COMMAND")
                    .value());
  }
  return SentinelRunCommand{file, typed.flag("replace"), std::move(words)};
}

// Absolute: a pair is found by others than who stands in this folder.
std::optional<std::string> read_pairs_dir(const Typed& typed, Reader& reader) {
  auto dir = typed.optional("dir");
  if (dir && dir->empty()) reader.note(usage_failure("--dir is empty").value());
  if (dir) *dir = platform::absolute_path(*dir);
  return dir;
}

std::string read_pair_id(const Typed& typed, Reader& reader) {
  auto id = typed.optional("ID");
  if (!id) id = platform::environment("ROLLCALL_PAIR");
  if (!id || id->empty()) {
    reader.note(usage_failure("which pair? name its id, or set ROLLCALL_PAIR").value());
    return {};
  }
  if (auto valid = check_session_id(*id); !valid) {
    reader.note(usage_failure(valid.error().message, *id).value());
  }
  return *id;
}

Command read_command(const std::string& chosen, const Typed& typed, Reader& reader,
                     std::vector<std::string> words) {
  if (chosen == "ps") return read_ps(typed, reader);
  if (chosen == "verify") {
    return VerifyOptions{reader.session(), typed.flag("explain"), reader.duration("timeout")};
  }
  if (chosen == "show") return ShowOptions{reader.session(), reader.duration("timeout")};
  if (chosen == "env") return read_env(typed, reader);
  if (chosen == "terminal") return TerminalCommand{reader.session()};
  if (chosen == "type") {
    TypeCommand command{reader.session(), std::move(words)};
    if (command.keys.empty()) {
      reader.note(usage_failure("type needs keys: regtool type ID -- KEY...").value());
    }
    return command;
  }
  if (chosen == "tree") {
    TreeCommand command;
    if (typed.value("ID") != nullptr) command.session = reader.session();
    return command;
  }
  if (chosen == "wait") return WaitCommand{reader.session(), reader.duration("timeout")};
  if (chosen == "watch") {
    return WatchCommand{reader.cursor("after"), reader.duration("interval"),
                        typed.flag("no-probe")};
  }
  if (chosen == "events") {
    return EventsCommand{reader.cursor("after"), reader.integer("limit", 1, 1'000'000)};
  }
  if (chosen == "stop") {
    return StopCommand{reader.session(),
                       typed.flag("force"),
                       reader.milliseconds("after"),
                       reader.milliseconds("total"),
                       typed.flag("accept-time-guard"),
                       typed.flag("tree"),
                       typed.flag("no-door"),
                       typed.optional("reason").value_or("")};
  }
  if (chosen == "kill") return read_kill(typed, reader);
  if (chosen == "forget") return ForgetCommand{reader.session(), typed.flag("force")};
  if (chosen == "prune") {
    PruneCommand command{.dry_run = typed.flag("dry-run")};
    if (typed.value("undo") != nullptr) command.undo = reader.session("undo");
    return command;
  }
  if (chosen == "register") return read_register(typed, reader);
  if (chosen == "run") return read_run(typed, reader, std::move(words));
  if (chosen.starts_with("receipts ")) return read_receipts(chosen, typed, reader);
  if (chosen.starts_with("sentinel ")) {
    return read_sentinel(chosen, typed, reader, std::move(words));
  }
  if (chosen == "sweep") {
    return SweepCommand{typed.optional("DIR").value_or(""), typed.flag("dry-run")};
  }
  if (chosen == "plugins check" || chosen == "plugins check-here") {
    return PluginsCheckCommand{typed.optional("FILE").value_or(""), typed.flag("write-store"),
                               chosen == "plugins check-here"};
  }
  if (chosen == "plugins" || chosen == "plugins list") return PluginsCommand{};
  if (chosen == "pairs" || chosen == "pairs ls")
    return PairsLsCommand{read_pairs_dir(typed, reader)};
  if (chosen == "pairs show") {
    return PairsShowCommand{read_pair_id(typed, reader), read_pairs_dir(typed, reader)};
  }
  if (chosen == "pairs rebind") {
    return PairsRebindCommand{read_pair_id(typed, reader), read_pairs_dir(typed, reader),
                              reader.integer("parent", 1, kMaxPid)};
  }
  return DoctorCommand{};
}

// Whether the value of this option of `run`, or of all commands, is the next word.
bool takes_next_word(const std::string& word) {
  constexpr std::array<std::string_view, 10> kWithValue = {
      "--home", "--user",    "--plugin",  "--store", "--session",
      "--name", "--version", "--workdir", "--label", "--log"};
  if (word.rfind("--", 0) == 0) {
    return std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end();
  }
  return word.size() > 1 && word.find('l') == word.size() - 1;  // -l, -dl; but not -lK=V
}

// The first word that is `--` or no option, nor an option's value.
std::size_t first_word(const std::vector<std::string>& arguments, std::size_t begin) {
  std::size_t at = begin;
  while (at < arguments.size()) {
    const std::string& word = arguments[at];
    if (word == "--" || word.size() < 2 || word.front() != '-') break;
    // Before a command, --version is regtool's own.
    at += takes_next_word(word) && (begin > 0 || word != "--version") ? 2 : 1;
  }
  return std::min(at, arguments.size());
}

// Cuts `-- KEY...` off a command line of `type`.
std::vector<std::string> cut_keys(std::vector<std::string>& arguments, std::size_t name) {
  const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(name);
  const auto mark = std::find(begin, arguments.end(), "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> keys(std::next(mark), arguments.end());
  arguments.erase(mark, arguments.end());
  return keys;
}

// Cuts `[--] COMMAND...` off a command line of `run` or `sentinel run FILE`, word for word: CLI11
// would take "[a,b]" apart.
std::vector<std::string> cut_command(std::vector<std::string>& arguments) {
  const std::size_t name = first_word(arguments, 0);
  if (name == arguments.size()) return {};
  if (arguments[name] == "type") return cut_keys(arguments, name);
  std::size_t at = arguments.size();
  if (arguments[name] == "run") {
    at = first_word(arguments, name + 1);
  } else if (arguments[name] == "sentinel") {
    const std::size_t run = first_word(arguments, name + 1);
    if (run == arguments.size() || arguments[run] != "run") return {};
    const std::size_t file = first_word(arguments, run + 1);
    if (file == arguments.size() || arguments[file] == "--") return {};
    at = first_word(arguments, file + 1);
  } else {
    return {};
  }
  const bool is_mark = at < arguments.size() && arguments[at] == "--";
  const auto cut = arguments.begin() + static_cast<std::ptrdiff_t>(at);
  std::vector<std::string> words(is_mark ? std::next(cut) : cut, arguments.end());
  arguments.erase(cut, arguments.end());
  return words;
}

}  // namespace

bool asks_for_json(const std::vector<std::string>& arguments) {
  std::vector<std::string> options = arguments;
  (void)cut_command(options);
  const auto end = std::find(options.begin(), options.end(), "--");
  return std::find(options.begin(), end, "--json") != end;
}

Outcome<Invocation> parse_command_line(const std::vector<std::string>& arguments) {
  std::vector<std::string> options = arguments;
  std::vector<std::string> words = cut_command(options);
  CommandLine line;
  if (const std::size_t at = first_word(options, 0); at < options.size() && options[at] != "--") {
    const bool asks_help = options[at] == "help";
    // `help COMMAND` is `COMMAND --help`.
    if (asks_help) {
      options.erase(options.begin() + static_cast<std::ptrdiff_t>(at));
      options.emplace_back("--help");
    }
    const std::string word = options[at];
    if (word != "--help" && (word.empty() || word.front() != '-') &&
        !has_command(line.app(), word)) {
      return unknown_command(word, line.app());
    }
  }
  try {
    std::reverse(options.begin(), options.end());  // as CLI11 takes them
    line.app().parse(std::move(options));
  } catch (const CLI::CallForHelp&) {
    return Invocation{line.typed().global, HelpCommand{line.app().help()}};
  } catch (const CLI::ParseError& error) {
    const std::string chosen = line.chosen();
    return usage_failure(fmt::format("{}; see: regtool {}{}--help", error.what(), chosen,
                                     chosen.empty() ? "" : " "));
  }
  const std::string chosen = line.chosen();
  const Typed& typed = line.typed();
  if (typed.version) return Invocation{typed.global, VersionCommand{}};
  if (chosen.empty()) return usage_failure("no command was given; see: regtool --help");
  if (typed.global.home && typed.global.user) {
    return usage_failure("--home and --user exclude each other");
  }
  Reader reader(typed);
  auto stores = parse_stores(typed.stores);
  if (!stores) return tl::unexpected(stores.error());
  Command command = read_command(chosen, typed, reader, std::move(words));
  if (reader.failed()) return tl::unexpected(reader.failure());
  Invocation invocation{typed.global, std::move(command)};
  invocation.global.stores = std::move(*stores);
  invocation.global.chose_stores = !typed.stores.empty();
  return invocation;
}

}  // namespace rollcall::regtool
