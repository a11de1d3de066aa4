// The stores that --store names: Rollcall's own, and those of other programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regtool/config.hpp"
#include "regtool/failure.hpp"
#include "rollcall/foreign_store.hpp"
#include "rollcall/host.hpp"

namespace rollcall::regtool {

inline constexpr std::string_view kOwnStore = "rollcall";

// One store that was asked for.
struct StoreChoice {
  std::string name;                // kOwnStore, a built-in one's, or a plugin's id
  std::optional<std::string> dir;  // as typed behind NAME=

  [[nodiscard]] bool is_own() const { return name == kOwnStore; }
  // The id of a plugin has a dot, the name of a built-in store has none.
  [[nodiscard]] bool is_plugin() const { return name.find('.') != std::string::npos; }
};

struct StoreSelection {
  std::vector<StoreChoice> stores{{std::string(kOwnStore), {}}};  // never empty
  bool with_plugins = false;  // and every store that a plugin offers
};

// What was typed behind --store, each a list of NAME separated by commas, `all`, or NAME=DIR; one
// that is named twice counts once. Nothing typed: our own. Failures: usage. Pure.
[[nodiscard]] Outcome<StoreSelection> parse_stores(const std::vector<std::string>& typed);

// The stores of a selection, with those of these plugins where it wants them. Pure.
[[nodiscard]] std::vector<StoreChoice> with_plugin_stores(const StoreSelection& selection,
                                                          const std::vector<PluginInfo>& plugins);

// Where the programs of a user keep their records.
struct Surroundings {
  std::string rollcall_home;
  std::string user_home;
  std::function<std::optional<std::string>(const char*)> variable;  // of the environment
};

// How a built-in store other than our own is opened: the choice's folder, else the configuration's,
// else the program's own. Pure.
struct StorePlan {
  ForeignStoreOptions options;
  TimeGuard guard;
};
[[nodiscard]] StorePlan plan_store(const StoreChoice& choice, const Config& config,
                                   const Surroundings& around);

// The folder that Jupyter keeps its data in, where no variable of its own says another.
// Source: jupyter_core.paths.jupyter_data_dir.
[[nodiscard]] std::string jupyter_data_dir(const Surroundings& around);

}  // namespace rollcall::regtool
