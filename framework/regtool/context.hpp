// What the commands work with: the home, the configuration, and, made when first asked for, the
// host of plugins and the registry.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "regtool/config.hpp"
#include "regtool/failure.hpp"
#include "regtool/options.hpp"
#include "regtool/output.hpp"
#include "regtool/platform.hpp"
#include "regtool/stores.hpp"
#include "rollcall/file_store.hpp"
#include "rollcall/host.hpp"
#include "rollcall/journal.hpp"
#include "rollcall/registry.hpp"

namespace rollcall::regtool {

// Threads: one.
class Context {
 public:
  // Finds the home and reads the configuration; opens nothing else. `without_config`: where the
  // configuration cannot be used, the defaults apply, and config_problem() says why.
  [[nodiscard]] static Outcome<std::unique_ptr<Context>> open(const GlobalOptions& options,
                                                              Output& output,
                                                              bool without_config = false);
  ~Context();

  [[nodiscard]] Output& out() { return output_; }
  [[nodiscard]] const GlobalOptions& options() const { return options_; }
  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const std::string& config_problem() const { return config_problem_; }
  [[nodiscard]] const std::string& home() const { return home_; }
  // The user that must own the home.
  [[nodiscard]] std::uint64_t owner() const { return owner_.value_or(platform::effective_uid()); }
  [[nodiscard]] const std::shared_ptr<const Clock>& clock() const { return clock_; }
  // Another user's home: nothing is written or pruned, no door is asked.
  [[nodiscard]] bool is_foreign() const { return options_.user.has_value(); }

  [[nodiscard]] Outcome<Host*> host();
  [[nodiscard]] Outcome<std::shared_ptr<ProcessProbe>> probe();
  [[nodiscard]] Outcome<std::shared_ptr<FileStore>> files();
  // The same home's receipts.
  [[nodiscard]] Outcome<std::shared_ptr<FileStore>> receipt_files();
  // Of this home; of another user's for reading only.
  [[nodiscard]] Outcome<std::shared_ptr<Journal>> journal() const;
  // Of the one store that was chosen; more than one is a usage failure. `door_timeout_ns`: of the
  // first call; nullopt: the configuration's.
  [[nodiscard]] Outcome<Registry*> registry(std::optional<std::int64_t> door_timeout_ns = {});
  // Every store that was chosen; with `all` those of plugins, too, which are looked for and not yet
  // loaded, unless another user's home is read.
  [[nodiscard]] Outcome<std::vector<StoreChoice>> stores();
  // A registry of its own on any store. Reads no record.
  struct OpenOptions {
    std::optional<std::int64_t> door_timeout_ns;
    bool accept_time_guard = false;
  };
  struct OpenStore {
    StoreChoice choice;
    std::string place;  // a folder, or a plugin's id
    // What the journal calls it: another folder than the usual one is another store.
    std::string label;
    std::shared_ptr<RecordStore> records;
    std::unique_ptr<Registry> registry;
  };
  [[nodiscard]] Outcome<OpenStore> open_store(const StoreChoice& choice,
                                              const OpenOptions& options);
  // How a store of another program is opened, of the user's that is asked about.
  [[nodiscard]] Outcome<StorePlan> plan(const StoreChoice& choice);
  // For acting: signals may be sent on the time guard's word. Before the first registry().
  void accept_time_guard() { accept_time_guard_ = true; }

  // The full id of the session that was named. `acting`: a row of ps is refused, since rows shift.
  [[nodiscard]] Outcome<std::string> resolve(const SessionName& name, bool acting);

  // A failed act on the session `id`, which was found before. session_not_found only if the records
  // say, asked again, that it is gone: what the error did not find may be something else.
  [[nodiscard]] Failure session_failure(const Error& error, const std::string& id);
  // Logs which plugins were loaded by now, and what was refused.
  void log_plugins() const;

  // Log what a read found: counts, times, and at debugging each record's verdict.
  void log_sweep(const Sweep& sweep, std::int64_t begun_ns) const;
  void log_view(const SessionView& view) const;

  // Refused where the sessions are another user's.
  [[nodiscard]] Outcome<void> may_change() const;

 private:
  Context(const GlobalOptions& options, Output& output);
  [[nodiscard]] Outcome<void> find_home();
  [[nodiscard]] Outcome<Registry::Options> common_options(const OpenOptions& options);
  // The store of registry().
  [[nodiscard]] Outcome<std::shared_ptr<RecordStore>> records();
  [[nodiscard]] Outcome<NameCandidates> candidates();
  [[nodiscard]] Outcome<std::shared_ptr<FileStore>> open_files(std::string_view folder) const;

  GlobalOptions options_;
  Output& output_;
  std::shared_ptr<const Clock> clock_;
  std::string home_;
  std::optional<std::string> other_user_home_;  // with --user
  std::optional<std::uint64_t> owner_;
  bool accept_time_guard_ = false;
  Config config_;
  std::string config_problem_;
  std::unique_ptr<Host> host_;
  std::shared_ptr<FileStore> files_;
  std::optional<OpenStore> open_;  // the one of registry()
};

}  // namespace rollcall::regtool
