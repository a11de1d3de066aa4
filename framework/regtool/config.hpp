// The configuration: environment, then <home>/config.json, then the system's. Flags are the
// commands' own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regtool/failure.hpp"

namespace rollcall::regtool {

struct Config {
  std::vector<std::string> allow_hosts;     // doors.allow_hosts
  std::vector<std::string> extension_uris;  // doors.extension_uris
  std::int64_t connect_timeout_ms = 2000;   // doors.connect_timeout_ms
  std::int64_t total_timeout_ms = 5000;     // doors.total_timeout_ms
  std::vector<std::string> plugin_dirs;     // plugins.dirs
  std::vector<std::string> token_allowed;   // plugins.token_allowed
  std::string second_opinion;               // plugins.second_opinion: a probe's plugin id, or ""
  std::int64_t gone_days = 7;               // gone.days
  std::int64_t quarantine_days = 30;        // quarantine.days
  std::int64_t quarantine_files = 100;      // quarantine.files
  std::int64_t journal_segment_bytes = 1 << 20;  // journal.segment_bytes
  std::int64_t journal_segments = 4;             // journal.segments
  std::int64_t stop_after_ms = 1000;             // stop.after_ms
  std::int64_t stop_total_ms = 3000;             // stop.total_ms
  std::int64_t watch_interval_ms = 30'000;       // watch.interval_ms: between two sweeps
  std::vector<std::string> terminal_kinds;  // terminal.kinds: NAME=ID_VARIABLE[:NAMESPACE_VARIABLE]
  // terminal.input.NAME: the words of a command that types into a terminal of that kind.
  std::map<std::string, std::vector<std::string>> terminal_inputs;
  // Of the stores of other programs (stores.NAME.dir and so on); empty: the usual.
  std::string claude_dir;
  std::string jupyter_dir;
  std::string murmur_dir;
  std::string pairs_dir;
  std::string supercode_dir;
  std::vector<std::string> claude_commands;  // base names of argv[0]
  std::vector<std::string> jupyter_commands;
  std::vector<std::string> murmur_commands;
  std::vector<std::string> supercode_commands;
  // stores.ID.SETTING: of plugins that offer a record store, by their id. A value may be a secret.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> plugin_stores;
  std::vector<std::string> claude_keys;  // "field=key"
  std::vector<std::string> pairs_keys;

  // What applies and from where, in the order of the keys.
  struct Source {
    std::string key;
    std::string value;  // of a plugin's setting, which may be a secret, only that there is one
    std::string from;   // "default", a path, or the variable
  };
  std::vector<Source> sources;
  std::vector<std::string> files;     // "PATH: read" or "PATH: not there", in the order of reading
  std::vector<std::string> warnings;  // unknown keys, hosts that are no addresses
};

// What applies where nothing is configured.
[[nodiscard]] Config default_config();

// One file's text, parsed: keys are joined by '.', so that {"gone":{"days":1}} and {"gone.days":1}
// say the same. Strict JSON, no key twice, at most 4 levels. Pure.
struct ConfigEntry {
  std::string key;
  std::optional<std::int64_t> number;
  std::optional<std::string> text;
  std::optional<std::vector<std::string>> list;
};
// Errors: kCorrupt, naming `path`, line and column.
[[nodiscard]] Result<std::vector<ConfigEntry>> parse_config(std::string_view bytes,
                                                            const std::string& path);

// Lays entries over a configuration. Unknown keys are warned of; a known key with a value of the
// wrong type or outside its bounds is an error: kCorrupt, naming `from` and the key. Pure.
[[nodiscard]] Status apply_config(Config& config, const std::vector<ConfigEntry>& entries,
                                  const std::string& from);

// The environment's share: ROLLCALL_DOORS_ALLOW_HOSTS and so on, one variable a key (but those of
// plugins, which have ROLLCALL_PLUGIN_PATH, and of stores); lists are separated by commas. Errors:
// kCorrupt.
[[nodiscard]] Status apply_environment(
    Config& config, const std::function<std::optional<std::string>(const char*)>& variable);

// All of it. `home_file` empty: that layer is left out. A missing file is none; one that could not
// be read, is not trusted or makes no sense is a failure ("config", exit 5).
[[nodiscard]] Outcome<Config> load_config(const std::string& home_file,
                                          const std::string& system_file);

}  // namespace rollcall::regtool
