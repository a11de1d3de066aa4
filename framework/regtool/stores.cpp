#include "regtool/stores.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "rollcall/plugin.h"

namespace rollcall::regtool {
namespace {

struct BuiltIn {
  std::string_view name;
  ForeignKind kind;
  std::string Config::*dir;
  std::vector<std::string> Config::*commands;  // null: its records need no guard
};

constexpr BuiltIn kBuiltIns[] = {
    {"murmur", ForeignKind::kThreeLayer, &Config::murmur_dir, &Config::murmur_commands},
    {"supercode", ForeignKind::kReceipts, &Config::supercode_dir, &Config::supercode_commands},
    {"pairs", ForeignKind::kPairs, &Config::pairs_dir, nullptr},
    {"claude", ForeignKind::kRows, &Config::claude_dir, &Config::claude_commands},
    {"jupyter", ForeignKind::kJupyter, &Config::jupyter_dir, &Config::jupyter_commands},
};

const BuiltIn* find_built_in(std::string_view name) {
  const auto* found = std::find_if(std::begin(kBuiltIns), std::end(kBuiltIns),
                                   [&](const BuiltIn& store) { return store.name == name; });
  return found == std::end(kBuiltIns) ? nullptr : found;
}

std::string known_stores() {
  std::string text = fmt::format("all, {}", kOwnStore);
  for (const BuiltIn& store : kBuiltIns) text.append(", ").append(store.name);
  return text;
}

Outcome<void> check(const StoreChoice& choice) {
  const bool known = choice.is_own() || choice.is_plugin() || find_built_in(choice.name) != nullptr;
  if (!known) {
    return usage_failure(fmt::format("--store {}: there are {}, and plugins by their id",
                                     choice.name.empty() ? "''" : choice.name, known_stores()),
                         choice.name);
  }
  if (!choice.dir) return {};
  if (choice.is_own() || choice.is_plugin()) {
    return usage_failure(fmt::format("--store {}=DIR: of that store no folder can be chosen{}",
                                     choice.name, choice.is_own() ? "; see --home" : ""),
                         choice.name);
  }
  if (!core::is_absolute_path(*choice.dir)) {
    return usage_failure(fmt::format("--store {}=DIR takes an absolute path", choice.name),
                         *choice.dir);
  }
  return {};
}

void add(std::vector<StoreChoice>& all, StoreChoice choice) {
  const bool known = std::any_of(all.begin(), all.end(), [&](const StoreChoice& other) {
    return other.name == choice.name && other.dir == choice.dir;
  });
  if (!known) all.push_back(std::move(choice));
}

Outcome<void> add_checked(StoreSelection& all, StoreChoice choice) {
  if (choice.name == "all" && !choice.dir) {
    add(all.stores, {std::string(kOwnStore), {}});
    for (const BuiltIn& store : kBuiltIns) add(all.stores, {std::string(store.name), {}});
    all.with_plugins = true;
    return {};
  }
  if (auto valid = check(choice); !valid) return valid;
  add(all.stores, std::move(choice));
  return {};
}

// A variable's value with a folder below it, or else a folder below another.
std::string below(const Surroundings& around, const char* variable, std::string_view in_variable,
                  std::string_view in_home) {
  if (const auto value = around.variable(variable); value && !value->empty()) {
    return *value + std::string(in_variable);
  }
  return around.user_home + std::string(in_home);
}

std::string usual_dir(ForeignKind kind, const Surroundings& around) {
  switch (kind) {
    case ForeignKind::kThreeLayer:
      return around.user_home + "/.murmur/running";
    case ForeignKind::kReceipts:
      return below(around, "SUPERCODE_HOME", "/live-runtimes", "/.supercode/live-runtimes");
    case ForeignKind::kPairs:
      return around.rollcall_home + "/pairs";
    case ForeignKind::kRows:
      return below(around, "CLAUDE_CONFIG_DIR", "/sessions", "/.claude/sessions");
    case ForeignKind::kJupyter:
      break;
  }
  if (const auto runtime = around.variable("JUPYTER_RUNTIME_DIR"); runtime && !runtime->empty()) {
    return *runtime;
  }
  if (const auto data = around.variable("JUPYTER_DATA_DIR"); data && !data->empty()) {
    return *data + "/runtime";
  }
  return jupyter_data_dir(around) + "/runtime";
}

// "field=key" pairs of the configuration, over the usual keys.
void apply_keys(const std::vector<std::string>& pairs,
                const std::vector<std::pair<std::string_view, std::string*>>& fields) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    for (const auto& [field, key] : fields) {
      if (equals != std::string::npos && field == std::string_view(pair).substr(0, equals)) {
        *key = pair.substr(equals + 1);
      }
    }
  }
}

}  // namespace

Outcome<StoreSelection> parse_stores(const std::vector<std::string>& typed) {
  if (typed.empty()) return StoreSelection{};
  StoreSelection all{.stores = {}};
  for (const std::string& text : typed) {
    if (const std::size_t equals = text.find('='); equals != std::string::npos) {
      auto added = add_checked(all, {text.substr(0, equals), text.substr(equals + 1)});
      if (!added) return tl::unexpected(added.error());
      continue;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      auto added = add_checked(all, {text.substr(begin, end - begin), {}});
      if (!added) return tl::unexpected(added.error());
      begin = end + 1;
    }
  }
  return all;
}

std::vector<StoreChoice> with_plugin_stores(const StoreSelection& selection,
                                            const std::vector<PluginInfo>& plugins) {
  std::vector<StoreChoice> all = selection.stores;
  if (!selection.with_plugins) return all;
  for (const PluginInfo& plugin : plugins) {
    const bool offers = std::find(plugin.interfaces.begin(), plugin.interfaces.end(),
                                  ROLLCALL_RECORD_STORE_ID) != plugin.interfaces.end();
    const bool usable =
        plugin.state != PluginState::kRefused && plugin.state != PluginState::kShadowed;
    if (offers && usable) add(all, {plugin.id, {}});
  }
  return all;
}

StorePlan plan_store(const StoreChoice& choice, const Config& config, const Surroundings& around) {
  StorePlan plan;
  const BuiltIn* store = find_built_in(choice.name);
  if (store == nullptr) return plan;
  plan.options.kind = store->kind;
  plan.options.name = choice.name;
  plan.guard = default_guard(store->kind);
  if (store->commands != nullptr && !(config.*(store->commands)).empty()) {
    plan.guard.names = config.*(store->commands);
  }
  if (choice.dir) {
    plan.options.dir = *choice.dir;
  } else if (const std::string& configured = config.*(store->dir); !configured.empty()) {
    plan.options.dir = configured;
  } else {
    plan.options.dir = usual_dir(store->kind, around);
  }
  plan.options.dir = core::clean_path(std::move(plan.options.dir));
  RowKeys& row = plan.options.row_keys;
  apply_keys(
      config.claude_keys,
      {{"pid", &row.pid}, {"session", &row.session}, {"started", &row.started}, {"cwd", &row.cwd}});
  pairs::RecordKeys& pair = plan.options.pair_keys;
  apply_keys(config.pairs_keys, {{"pair_id", &pair.pair_id},
                                 {"tab", &pair.tab},
                                 {"generation", &pair.generation},
                                 {"controller", &pair.controller}});
  return plan;
}

}  // namespace rollcall::regtool
