#include "regtool/config.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <variant>

#include "core/text.hpp"
#include "regtool/format.hpp"
#include "regtool/platform.hpp"
#include "rollcall/door_url.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::size_t kMaxConfigBytes = 64 * 1024;
constexpr std::size_t kMaxDepth = 4;

using List = std::vector<std::string>;

struct NumberKey {
  std::int64_t Config::*member;
  std::int64_t lowest;
  std::int64_t highest;
};
using Target = std::variant<List Config::*, std::string Config::*, NumberKey>;

struct Key {
  std::string_view name;
  const char* variable;  // null: not from the environment
  Target target;
};

constexpr std::string_view kTerminalInput = "terminal.input.";
constexpr std::string_view kStores = "stores.";
constexpr std::int64_t kDayMs = 86'400'000;

const Key kKeys[] = {
    {"doors.allow_hosts", "ROLLCALL_DOORS_ALLOW_HOSTS", &Config::allow_hosts},
    {"doors.connect_timeout_ms", "ROLLCALL_DOORS_CONNECT_TIMEOUT_MS",
     NumberKey{&Config::connect_timeout_ms, 1, 600'000}},
    {"doors.extension_uris", "ROLLCALL_DOORS_EXTENSION_URIS", &Config::extension_uris},
    {"doors.total_timeout_ms", "ROLLCALL_DOORS_TOTAL_TIMEOUT_MS",
     NumberKey{&Config::total_timeout_ms, 1, 600'000}},
    {"gone.days", "ROLLCALL_GONE_DAYS", NumberKey{&Config::gone_days, 0, 36'500}},
    {"journal.segment_bytes", "ROLLCALL_JOURNAL_SEGMENT_BYTES",
     NumberKey{&Config::journal_segment_bytes, 4096, 1 << 30}},
    {"journal.segments", "ROLLCALL_JOURNAL_SEGMENTS",
     NumberKey{&Config::journal_segments, 1, 1000}},
    {"plugins.dirs", nullptr, &Config::plugin_dirs},
    {"plugins.second_opinion", nullptr, &Config::second_opinion},
    {"plugins.token_allowed", nullptr, &Config::token_allowed},
    {"quarantine.days", "ROLLCALL_QUARANTINE_DAYS", NumberKey{&Config::quarantine_days, 0, 36'500}},
    {"quarantine.files", "ROLLCALL_QUARANTINE_FILES",
     NumberKey{&Config::quarantine_files, 1, 100'000}},
    {"stores.claude.commands", nullptr, &Config::claude_commands},
    {"stores.claude.dir", nullptr, &Config::claude_dir},
    {"stores.claude.keys", nullptr, &Config::claude_keys},
    {"stores.jupyter.commands", nullptr, &Config::jupyter_commands},
    {"stores.jupyter.dir", nullptr, &Config::jupyter_dir},
    {"stores.murmur.commands", nullptr, &Config::murmur_commands},
    {"stores.murmur.dir", nullptr, &Config::murmur_dir},
    {"stores.pairs.dir", nullptr, &Config::pairs_dir},
    {"stores.pairs.keys", nullptr, &Config::pairs_keys},
    {"stores.supercode.commands", nullptr, &Config::supercode_commands},
    {"stores.supercode.dir", nullptr, &Config::supercode_dir},
    {"stop.after_ms", "ROLLCALL_STOP_AFTER_MS", NumberKey{&Config::stop_after_ms, 0, kDayMs}},
    {"stop.total_ms", "ROLLCALL_STOP_TOTAL_MS", NumberKey{&Config::stop_total_ms, 0, kDayMs}},
    {"terminal.kinds", "ROLLCALL_TERMINAL_KINDS", &Config::terminal_kinds},
    {"watch.interval_ms", "ROLLCALL_WATCH_INTERVAL_MS",
     NumberKey{&Config::watch_interval_ms, 10, kDayMs}},
};

const Key* find_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const Key& key) { return key.name == name; });
  return found == std::end(kKeys) ? nullptr : found;
}

std::string join(const List& list) {
  std::string out;
  for (const std::string& item : list) out.append(out.empty() ? "" : ",").append(item);
  return out;
}

std::string value_text(const Config& config, const Key& key) {
  if (const auto* list = std::get_if<List Config::*>(&key.target)) return join(config.*(*list));
  if (const auto* text = std::get_if<std::string Config::*>(&key.target)) return config.*(*text);
  return std::to_string(config.*(std::get<NumberKey>(key.target).member));
}

void note_source(Config& config, const Key& key, const std::string& from) {
  const auto known = std::find_if(config.sources.begin(), config.sources.end(),
                                  [&](const Config::Source& s) { return s.key == key.name; });
  Config::Source source{std::string(key.name), value_text(config, key), from};
  if (known != config.sources.end()) {
    *known = std::move(source);
  } else {
    config.sources.push_back(std::move(source));
  }
}

// Collects the leaves of a document; refuses what a configuration never holds.
class Flattener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Flattener> {
 public:
  [[nodiscard]] std::vector<ConfigEntry>& entries() { return entries_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  bool StartObject() {
    if (list_ != nullptr) return complain("a list holds texts only");
    if (!path_.empty() && path_.size() >= kMaxDepth) return complain("it is nested too deeply");
    path_.emplace_back();
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    path_.pop_back();
    return true;
  }
  bool Key(const char* bytes, rapidjson::SizeType size, bool) {
    path_.back().assign(bytes, size);
    return true;
  }
  bool StartArray() {
    if (list_ != nullptr) return complain("a list holds texts only");
    ConfigEntry* entry = add();
    if (entry == nullptr) return false;
    entry->list.emplace();
    list_ = &*entry->list;
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    list_ = nullptr;
    return true;
  }
  bool String(const char* bytes, rapidjson::SizeType size, bool) {
    if (list_ != nullptr) {
      list_->emplace_back(bytes, size);
      return true;
    }
    ConfigEntry* entry = add();
    if (entry != nullptr) entry->text.emplace(bytes, size);
    return entry != nullptr;
  }
  bool Int(int value) { return number(value); }
  bool Uint(unsigned value) { return number(value); }
  bool Int64(std::int64_t value) { return number(value); }
  bool Default() { return complain("a value is a text, a whole number or a list of texts"); }

 private:
  bool complain(std::string text) {
    complaint_ = std::move(text);
    return false;
  }
  bool number(std::int64_t value) {
    if (list_ != nullptr) return complain("a list holds texts only");
    ConfigEntry* entry = add();
    if (entry != nullptr) entry->number = value;
    return entry != nullptr;
  }
  ConfigEntry* add() {
    std::string key;
    for (const std::string& part : path_) key.append(key.empty() ? "" : ".").append(part);
    if (path_.empty()) {
      complain("it is not an object");
      return nullptr;
    }
    const bool twice = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const ConfigEntry& entry) { return entry.key == key; });
    if (twice) {
      complain(fmt::format("{} stands there twice", key));
      return nullptr;
    }
    entries_.push_back({.key = std::move(key)});
    return &entries_.back();
  }

  std::vector<std::string> path_;
  std::vector<ConfigEntry> entries_;
  List* list_ = nullptr;
  std::string complaint_;
};

tl::unexpected<Error> broken(const std::string& path, std::string_view bytes, std::size_t offset,
                             std::string_view what) {
  const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t last = before.rfind('\n');
  const std::size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return fail(ErrorCode::kCorrupt,
              fmt::format("{}, line {}, column {}: {}", path, line, column, what));
}

Status bad_value(const std::string& from, std::string_view key, const std::string& expected) {
  return fail(ErrorCode::kCorrupt, fmt::format("{}: {} must be {}", from, key, expected));
}

// No resolver is ever asked: a host by name is never connected to.
void warn_of_names(Config& config, const std::string& from) {
  for (const std::string& host : config.allow_hosts) {
    const bool is_bare_ipv6 = host.find(':') != std::string::npos && host.front() != '[';
    const std::string url = (is_bare_ipv6 ? "[" + host + "]" : host) + ":1";
    if (host != "localhost" && parse_door_url(url, {host})) continue;
    config.warnings.push_back(fmt::format(
        "{}: doors.allow_hosts: {} is no numeric address, and no name is ever resolved: "
        "its doors are not asked",
        from, host));
  }
}

Status apply_entry(Config& config, const Key& key, const ConfigEntry& entry,
                   const std::string& from) {
  if (const auto* list = std::get_if<List Config::*>(&key.target)) {
    if (!entry.list) return bad_value(from, key.name, "a list of texts");
    config.*(*list) = *entry.list;
    if (*list == &Config::allow_hosts) warn_of_names(config, from);
  } else if (const auto* text = std::get_if<std::string Config::*>(&key.target)) {
    if (!entry.text) return bad_value(from, key.name, "a text");
    config.*(*text) = *entry.text;
  } else {
    const auto& number = std::get<NumberKey>(key.target);
    if (!entry.number || *entry.number < number.lowest || *entry.number > number.highest) {
      return bad_value(from, key.name,
                       fmt::format("a whole number from {} to {}", number.lowest, number.highest));
    }
    config.*(number.member) = *entry.number;
  }
  note_source(config, key, from);
  return {};
}

// Whether a key is stores.ID.SETTING of a plugin. The id of a plugin has a dot, the name of a
// built-in store has none.
bool is_plugin_store(std::string_view key) {
  return key.starts_with(kStores) && std::count(key.begin(), key.end(), '.') >= 3;
}

Status apply_plugin_store(Config& config, const ConfigEntry& entry, const std::string& from) {
  if (!entry.text) return bad_value(from, entry.key, "a text");
  const std::string_view rest = std::string_view(entry.key).substr(kStores.size());
  const std::size_t dot = rest.rfind('.');
  auto& settings = config.plugin_stores[std::string(rest.substr(0, dot))];
  const std::string setting(rest.substr(dot + 1));
  std::erase_if(settings, [&](const auto& known) { return known.first == setting; });
  settings.emplace_back(setting, *entry.text);
  std::erase_if(config.sources, [&](const Config::Source& s) { return s.key == entry.key; });
  config.sources.push_back({entry.key, "(set)", from});
  return {};
}

ConfigEntry entry_of_text(const Key& key, const std::string& value) {
  ConfigEntry entry{.key = std::string(key.name)};
  if (std::holds_alternative<List Config::*>(key.target)) {
    entry.list.emplace();
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      if (end > begin) entry.list->push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  } else if (std::holds_alternative<NumberKey>(key.target)) {
    entry.number = parse_integer(value, 0, INT64_MAX);
  } else {
    entry.text = value;
  }
  return entry;
}

tl::unexpected<Failure> config_failure(const Error& error, const std::string& path) {
  return tl::unexpected<Failure>(
      Failure{kExitIo, "config", "the configuration cannot be used: " + error.message, path});
}

Outcome<void> load_file(Config& config, const std::string& path) {
  const auto bytes = platform::read_trusted_file(path, kMaxConfigBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) {
    config.files.push_back(path + ": not there");
    return {};
  }
  if (!bytes) return config_failure(bytes.error(), path);
  const auto entries = parse_config(*bytes, path);
  if (!entries) return config_failure(entries.error(), path);
  if (auto applied = apply_config(config, *entries, path); !applied) {
    return config_failure(applied.error(), path);
  }
  config.files.push_back(path + ": read");
  return {};
}

}  // namespace

Config default_config() {
  Config config;
  for (const Key& key : kKeys) note_source(config, key, "default");
  return config;
}

Result<std::vector<ConfigEntry>> parse_config(std::string_view bytes, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const std::size_t skipped = bytes.substr(0, 3) == kByteOrderMark ? 3 : 0;
  const std::string_view text = bytes.substr(skipped);
  // The parser takes a NUL for the end and would ignore what stands behind it.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return broken(path, bytes, skipped + nul, "a NUL byte");
  Flattener flattener;
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(text.data(), text.size());
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  const auto parsed = reader.Parse<kFlags>(stream, flattener);
  if (parsed.IsError()) {
    const std::string what = flattener.complaint().empty()
                                 ? rapidjson::GetParseError_En(parsed.Code())
                                 : flattener.complaint();
    return broken(path, bytes, skipped + parsed.Offset(), what);
  }
  return std::move(flattener.entries());
}

Status apply_config(Config& config, const std::vector<ConfigEntry>& entries,
                    const std::string& from) {
  for (const ConfigEntry& entry : entries) {
    const Key* key = find_key(entry.key);
    if (key == nullptr && entry.key.rfind(kTerminalInput, 0) == 0) {
      if (!entry.list) return bad_value(from, entry.key, "a list of texts");
      config.terminal_inputs[entry.key.substr(kTerminalInput.size())] = *entry.list;
      config.sources.push_back({entry.key, join(*entry.list), from});
      continue;
    }
    if (key == nullptr && is_plugin_store(entry.key)) {
      if (auto applied = apply_plugin_store(config, entry, from); !applied) return applied;
      continue;
    }
    if (key == nullptr) {
      config.warnings.push_back(fmt::format("{}: unknown key {}", from, entry.key));
      continue;
    }
    if (auto applied = apply_entry(config, *key, entry, from); !applied) return applied;
  }
  return {};
}

Status apply_environment(Config& config,
                         const std::function<std::optional<std::string>(const char*)>& variable) {
  for (const Key& key : kKeys) {
    if (key.variable == nullptr) continue;
    const auto value = variable(key.variable);
    if (!value || value->empty()) continue;
    if (auto applied = apply_entry(config, key, entry_of_text(key, *value), key.variable);
        !applied) {
      return applied;
    }
  }
  return {};
}

Outcome<Config> load_config(const std::string& home_file, const std::string& system_file) {
  Config config = default_config();
  for (const std::string* path : {&system_file, &home_file}) {
    if (path->empty()) continue;
    if (auto loaded = load_file(config, *path); !loaded) return tl::unexpected(loaded.error());
  }
  if (auto applied = apply_environment(config, platform::environment); !applied) {
    return config_failure(applied.error(), "environment");
  }
  return config;
}

}  // namespace rollcall::regtool
