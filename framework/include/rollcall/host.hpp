// The host: finds, checks and loads plugins, and hands out what they implement.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/door_prober.hpp"
#include "rollcall/export.hpp"
#include "rollcall/process_control.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/record_store.hpp"
#include "rollcall/result.hpp"
#include "rollcall/watcher.hpp"

struct rollcall_entry;

namespace rollcall {

enum class PluginState : std::uint8_t {
  kAvailable,  // its manifest was read and trusted; the library is loaded when first needed
  kLoaded,
  kShadowed,  // another file earlier on the path has the same id
  kRefused,   // `reason` says why
  kUnresponsive,
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(PluginState state);

struct PluginInfo {
  std::string id;
  std::string version;
  std::string vendor;
  std::string file;      // absolute
  std::string manifest;  // absolute; empty for a table that was handed over
  std::string abi;       // "1.0"
  std::vector<std::string> interfaces;
  std::vector<std::string> door_kinds;
  bool wants_token = false;
  bool builtin = false;  // from Rollcall's own installed or build directory
  PluginState state = PluginState::kAvailable;
  std::string reason;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

class ROLLCALL_API Host {
 public:
  struct Options {
    std::vector<std::string> plugin_files;   // --plugin FILE, first on the search path
    std::vector<std::string> plugin_dirs;    // the configuration's
    bool use_environment = true;             // ROLLCALL_PLUGIN_PATH, through secure_getenv
    bool use_builtin_dir = true;             // beside librollcall or the program
    bool accept_untrusted = false;           // the loud flag
    std::vector<std::string> token_allowed;  // third-party door plugins that may have tokens, by id
    Settings backend_settings;               // e.g. {"proc_root", "/proc"}
    Settings door_settings;  // handed to every door plugin's create, e.g. {"extension_uris", "A B"}
    std::shared_ptr<const Clock> clock;                         // null: system_clock()
    std::function<void(int level, std::string_view line)> log;  // null: nowhere
    // Handed over without a file (tests); first on the path. Like any plugin, one whose id begins
    // with "rollcall." counts as Rollcall's own.
    std::vector<const rollcall_entry*> tables;
  };

  // Reads manifests; loads no library yet. A refused plugin is no error: see plugins().
  [[nodiscard]] static Result<std::unique_ptr<Host>> open(Options options);
  // Instances that were handed out keep their plugin alive; libraries are never unloaded.
  ~Host();

  // The platform's own backend. What is not there or cannot be loaded is kUnsupported (or
  // kIncompatible, kTimeout), never kNotFound, with what was looked for, where, and what to do.
  [[nodiscard]] Result<std::shared_ptr<ProcessProbe>> platform_probe();
  [[nodiscard]] Result<std::shared_ptr<ProcessControl>> platform_control();
  // A watcher of its own each time.
  [[nodiscard]] Result<std::shared_ptr<Watcher>> platform_watcher();
  // Any plugin's, by plugin id.
  [[nodiscard]] Result<std::shared_ptr<ProcessProbe>> probe(std::string_view plugin_id,
                                                            const Settings& settings = {});
  [[nodiscard]] Result<std::shared_ptr<RecordStore>> record_store(std::string_view plugin_id,
                                                                  const Settings& settings = {});
  // By kind of door ("a2a"). kUnsupported: no plugin offers it. A table that was handed over is of
  // the kind that its id ends in.
  [[nodiscard]] Result<std::shared_ptr<DoorProber>> door_prober(std::string_view kind);

  // Everything that was found. `load_all` tries to load each, so that refusals show.
  [[nodiscard]] std::vector<PluginInfo> plugins(bool load_all = false);

 private:
  class Impl;
  explicit Host(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
