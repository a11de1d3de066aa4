#include "rollcall/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "plugin/catalog.hpp"
#include "plugin/instance.hpp"
#include "plugin/load.hpp"
#include "plugin/proxies.hpp"
#include "plugin/search_path.hpp"
#include "plugin/trust.hpp"

namespace rollcall {
namespace {

using loader::Candidate;
using loader::PluginCode;
using loader::PluginContext;

bool holds(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// A plugin of this host, loaded or not.
struct Entry {
  Candidate candidate;
  std::shared_ptr<PluginCode> code;  // once loaded
};

bool is_usable(const Entry& entry) {
  const PluginState state = entry.candidate.info.state;
  return state == PluginState::kAvailable || state == PluginState::kLoaded ||
         state == PluginState::kUnresponsive;
}

// The error of a plugin that should be there and cannot be used, whatever stopped it.
Error unavailable(Error error) {
  if (error.code != ErrorCode::kIncompatible && error.code != ErrorCode::kTimeout) {
    error.code = ErrorCode::kUnsupported;
  }
  return error;
}

// An instance, or why there is none: what a plugin's create did not find is no session either.
template <class T>
Result<T> made(Result<T> instance) {
  if (!instance && instance.error().code == ErrorCode::kNotFound) {
    instance.error().code = ErrorCode::kUnsupported;
  }
  return instance;
}

// A table that was handed over has no manifest: what it offers is asked of it, and its door is of
// the kind that its id ends in.
Entry take_table(const rollcall_entry* table, const loader::LoadOptions& options) {
  Entry entry;
  PluginInfo& info = entry.candidate.info;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(table),
                                         sizeof(rollcall_entry));
  const bool builtin = table->id != nullptr && loader::is_reserved_id(std::string_view(table->id));
  auto code = PluginCode::start(bytes, builtin, options.log, options.init_limit_ns);
  if (!code) {
    info.state = PluginState::kRefused;
    info.reason = std::move(code.error().message);
    return entry;
  }
  info.id = (*code)->id();
  info.version = (*code)->version();
  info.vendor = (*code)->vendor();
  info.abi = loader::to_text((*code)->abi());
  info.builtin = builtin;
  info.state = PluginState::kLoaded;
  for (const std::string& interface : loader::known_interfaces()) {
    if ((*code)->offers(interface)) info.interfaces.push_back(interface);
  }
  if ((*code)->door()) info.door_kinds.push_back(info.id.substr(info.id.rfind('.') + 1));
  entry.code = std::move(*code);
  return entry;
}

}  // namespace

std::string_view to_text(PluginState state) {
  switch (state) {
    case PluginState::kAvailable:
      return "available";
    case PluginState::kLoaded:
      return "loaded";
    case PluginState::kShadowed:
      return "shadowed";
    case PluginState::kRefused:
      return "refused";
    case PluginState::kUnresponsive:
      return "unresponsive";
  }
  return "unknown";
}

class Host::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        clock_(options_.clock),
        load_{.accept_untrusted = options_.accept_untrusted,
              .log = std::make_shared<loader::LogSink>(options_.log)} {}

  ~Impl() { load_.log->close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void search() {
    for (const rollcall_entry* table : options_.tables) {
      if (table != nullptr) entries_.push_back(take_table(table, load_));
    }
    const loader::Surroundings around = loader::read_surroundings();
    if (options_.use_builtin_dir) {
      places_ = loader::builtin_places(around);
      program_fault_ = around.program_fault;
    }
    const loader::CatalogOptions catalog = {
        .plugin_files = options_.plugin_files,
        .folders = loader::search_folders(around, options_.plugin_dirs, options_.use_environment,
                                          options_.use_builtin_dir),
        .builtin_folders = loader::builtin_folders(around),
        .accept_untrusted = options_.accept_untrusted};
    for (Candidate& candidate : loader::find_plugins(catalog)) {
      shadow_by_table(candidate.info);
      if (candidate.info.state == PluginState::kRefused) {
        load_.log->line(ROLLCALL_LOG_WARNING,
                        fmt::format("refused {}: {}", candidate.info.file, candidate.info.reason));
      }
      entries_.push_back({.candidate = std::move(candidate), .code = nullptr});
    }
    if (options_.accept_untrusted) {
      load_.log->line(ROLLCALL_LOG_WARNING,
                      "plugins are accepted whoever owns them and whoever may write to them");
    }
  }

  // Errors: kIncompatible, kTimeout, kUnsupported. Never kNotFound: what is missing is a part of
  // Rollcall, and a caller must not take that for a session that is gone.
  Result<PluginContext> platform() {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
      const PluginInfo& info = entry.candidate.info;
      if (!info.builtin || !holds(info.interfaces, ROLLCALL_PROCESS_PROBE_ID)) continue;
      if (!is_usable(entry)) continue;
      auto context = load(entry);
      if (!context) {
        return wrap("the platform's backend cannot be used", unavailable(context.error()));
      }
      return context;
    }
    return fail(ErrorCode::kUnsupported, no_backend());
  }

  // Errors: as platform().
  Result<PluginContext> by_id(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const Entry* refused = nullptr;
    for (Entry& entry : entries_) {
      if (entry.candidate.info.id != id) continue;
      if (is_usable(entry)) {
        auto context = load(entry);
        if (!context) return tl::unexpected<Error>(unavailable(context.error()));
        return context;
      }
      if (refused == nullptr) refused = &entry;
    }
    if (refused != nullptr) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("plugin {} ({}) was refused: {}", id, refused->candidate.info.file,
                              refused->candidate.info.reason));
    }
    return fail(ErrorCode::kUnsupported,
                fmt::format("there is no plugin {}; `regtool plugins` lists what was found", id));
  }

  Result<std::shared_ptr<DoorProber>> door(std::string_view kind) {
    std::optional<Result<PluginContext>> context;
    bool may_have_token = false;
    {
      const std::lock_guard lock(mutex_);
      for (Entry& entry : entries_) {
        const PluginInfo& info = entry.candidate.info;
        if (!is_usable(entry) || !holds(info.door_kinds, kind)) continue;
        may_have_token =
            info.builtin || (info.wants_token && holds(options_.token_allowed, info.id));
        context = load(entry);
        break;
      }
    }
    if (!context) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("no plugin offers the kind of door {}", kind));
    }
    if (!*context) return tl::unexpected<Error>((*context).error());
    return loader::make_door_prober(**context, options_.door_settings, may_have_token);
  }

  std::vector<PluginInfo> plugins(bool load_all) {
    const std::lock_guard lock(mutex_);
    std::vector<PluginInfo> infos;
    for (Entry& entry : entries_) {
      if (load_all && entry.candidate.info.state == PluginState::kAvailable) (void)load(entry);
      note_health(entry);
      infos.push_back(entry.candidate.info);
    }
    return infos;
  }

  [[nodiscard]] const Options& options() const { return options_; }

 private:
  // With the mutex held. What could not be loaded is not tried again.
  Result<PluginContext> load(Entry& entry) {
    if (entry.code == nullptr) {
      auto code = loader::load_plugin(entry.candidate, load_);
      if (!code) {
        PluginInfo& info = entry.candidate.info;
        info.state = PluginState::kRefused;
        info.reason = code.error().message;
        load_.log->line(ROLLCALL_LOG_WARNING, info.reason);
        return tl::unexpected<Error>(std::move(code.error()));
      }
      entry.code = std::move(*code);
      entry.candidate.info.state = PluginState::kLoaded;
    }
    return PluginContext{.code = entry.code, .clock = clock_};
  }

  // What was looked for, where, and what stood there and was refused.
  [[nodiscard]] std::string no_backend() const {
    std::string text =
        fmt::format("no backend for {} can be used (a plugin of Rollcall's own that offers {}); ",
                    loader::this_platform(), ROLLCALL_PROCESS_PROBE_ID);
    text += places_.empty() ? "no folder was looked in" : "looked in";
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const bool there = !loader::canonical_folder(places_[i]).empty();
      text +=
          fmt::format("{}{}{}", i == 0 ? " " : ", ", places_[i], there ? "" : " (no such folder)");
    }
    if (!program_fault_.empty()) text += "; " + program_fault_;
    std::vector<std::string_view> told;  // one fault of a folder refuses all that is in it
    for (const Entry& entry : entries_) {
      const PluginInfo& info = entry.candidate.info;
      const bool may_be_it = info.interfaces.empty() ||
                             (info.builtin && holds(info.interfaces, ROLLCALL_PROCESS_PROBE_ID));
      if (is_usable(entry) || !may_be_it) continue;
      if (std::find(told.begin(), told.end(), info.reason) != told.end()) continue;
      told.push_back(info.reason);
      text += fmt::format("; {} was {}: {}", info.file, to_text(info.state), info.reason);
    }
    return text + "; `regtool plugins` lists what was found";
  }

  static void note_health(Entry& entry) {
    if (entry.code == nullptr || !entry.code->health().lost()) return;
    entry.candidate.info.state = PluginState::kUnresponsive;
    entry.candidate.info.reason = entry.code->health().reason();
  }

  // Tables that were handed over come first on the path.
  void shadow_by_table(PluginInfo& info) const {
    if (info.state != PluginState::kAvailable) return;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const PluginInfo& earlier = entries_[i].candidate.info;
      if (!earlier.manifest.empty() || earlier.id != info.id) continue;
      info.state = PluginState::kShadowed;
      info.reason = "a table with the same id was handed over by the program";
    }
  }

  Options options_;
  loader::DeadlineClock clock_;
  loader::LoadOptions load_;
  std::vector<std::string> places_;  // where Rollcall's own plugins were looked for
  std::string program_fault_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

Host::Host(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Host::~Host() = default;

Result<std::unique_ptr<Host>> Host::open(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->search();
  return std::unique_ptr<Host>(new Host(std::move(impl)));
}

Result<std::shared_ptr<ProcessProbe>> Host::platform_probe() {
  auto context = impl_->platform();
  if (!context) return tl::unexpected<Error>(std::move(context.error()));
  return made(loader::make_probe(*context, impl_->options().backend_settings, true));
}

Result<std::shared_ptr<ProcessControl>> Host::platform_control() {
  auto context = impl_->platform();
  if (!context) return tl::unexpected<Error>(std::move(context.error()));
  return made(loader::make_control(*context, impl_->options().backend_settings));
}

Result<std::shared_ptr<Watcher>> Host::platform_watcher() {
  auto context = impl_->platform();
  if (!context) return tl::unexpected<Error>(std::move(context.error()));
  return made(loader::make_watcher(*context, impl_->options().backend_settings));
}

Result<std::shared_ptr<ProcessProbe>> Host::probe(std::string_view plugin_id,
                                                  const Settings& settings) {
  auto context = impl_->by_id(plugin_id);
  if (!context) return tl::unexpected<Error>(std::move(context.error()));
  return made(loader::make_probe(*context, settings, context->code->builtin()));
}

Result<std::shared_ptr<RecordStore>> Host::record_store(std::string_view plugin_id,
                                                        const Settings& settings) {
  auto context = impl_->by_id(plugin_id);
  if (!context) return tl::unexpected<Error>(std::move(context.error()));
  return made(loader::make_store(*context, settings));
}

Result<std::shared_ptr<DoorProber>> Host::door_prober(std::string_view kind) {
  return impl_->door(kind);
}

std::vector<PluginInfo> Host::plugins(bool load_all) { return impl_->plugins(load_all); }

}  // namespace rollcall
