#include "regtool/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/paths.hpp"
#include "rollcall/journal.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : " ").append(text);
  return out;
}

std::string described(const PluginInfo& info) {
  const std::string why = info.reason.empty() ? "" : ": " + info.reason;
  return fmt::format("{}, {}{}", info.id.empty() ? "(no id)" : info.id,
                     info.file.empty() ? "(no file)" : info.file, why);
}

}  // namespace

Context::Context(const GlobalOptions& options, Output& output)
    : options_(options), output_(output), clock_(system_clock()) {}

Context::~Context() = default;

Outcome<std::unique_ptr<Context>> Context::open(const GlobalOptions& options, Output& output,
                                                bool without_config) {
  for (const std::string& file : options.plugins) {
    if (core::is_absolute_path(file)) continue;
    return usage_failure(
        fmt::format("--plugin takes an absolute path, since a relative one means another file in "
                    "another working directory: give --plugin {}",
                    file.empty() ? "/PATH/TO/FILE" : platform::absolute_path(file)),
        file);
  }
  std::unique_ptr<Context> context(new Context(options, output));
  if (auto found = context->find_home(); !found) return tl::unexpected(found.error());
  // Another user's configuration has no say over what we do.
  const std::string home_file =
      context->is_foreign() ? "" : core::join_path(context->home_, "config.json");
  auto config = load_config(home_file, platform::system_config_path());
  if (config) {
    context->config_ = std::move(*config);
  } else if (without_config) {
    context->config_ = default_config();
    context->config_problem_ = config.error().text;
  } else {
    return tl::unexpected(config.error());
  }
  output.log(2, fmt::format("home: {}, records: files in {}", context->home_,
                            core::join_path(context->home_, "running")));
  for (const std::string& file : context->config_.files) output.log(2, "configuration: " + file);
  for (const std::string& warning : context->config_.warnings) output.warning(warning);
  return context;
}

Outcome<void> Context::find_home() {
  if (options_.user) {
    if (auto may = platform::may_read_other_homes(); !may) {
      return failure_of(may.error(), *options_.user);
    }
    const auto user = platform::user_by_name(*options_.user);
    if (!user && user.error().code == ErrorCode::kNotFound) {
      return usage_failure(user.error().message, *options_.user);
    }
    if (!user) return failure_of(user.error(), *options_.user);
    owner_ = user->uid;
    home_ = core::join_path(user->home, ".rollcall");
    other_user_home_ = user->home;
    return {};
  }
  if (options_.home) {
    if (options_.home->empty()) return usage_failure("--home is empty");
    home_ = platform::absolute_path(*options_.home);
    return {};
  }
  if (const auto variable = platform::environment("ROLLCALL_HOME");
      variable && !variable->empty()) {
    if (!core::is_absolute_path(*variable)) {
      return usage_failure("ROLLCALL_HOME must be an absolute path", *variable);
    }
    home_ = *variable;
    return {};
  }
  const auto directory = platform::home_directory();
  if (!directory) return failure_of(directory.error());
  home_ = core::join_path(*directory, ".rollcall");
  return {};
}

Outcome<void> Context::may_change() const {
  if (!is_foreign()) return {};
  return refusal("with --user nothing is changed: these sessions are another user's",
                 *options_.user);
}

void Context::log_plugins() const {
  if (!host_ || output_.style().log_level < 2) return;
  for (const PluginInfo& info : host_->plugins()) {
    if (info.state == PluginState::kAvailable) continue;
    output_.log(2, fmt::format("plugin {}: {}", to_text(info.state), described(info)));
  }
}

void Context::log_view(const SessionView& view) const {
  std::string door = "not asked";
  if (view.door) {
    const Reason reason = judge_door(view.record.session_id, *view.door);
    door = fmt::format("{} in {} ms", reason == Reason::kNone ? "ok" : to_text(reason),
                       view.door->elapsed_ns / kNsPerMs);
  }
  const std::string why = view.finding.text.empty() ? "" : ": " + view.finding.text;
  output_.log(3,
              fmt::format("{}: process {}, door {}: {}{}", view.record.session_id,
                          to_text(view.process.state), door, to_text(view.finding.verdict), why));
}

void Context::log_sweep(const Sweep& sweep, std::int64_t begun_ns) const {
  if (output_.style().log_level < 2) return;
  const std::int64_t spent_ns = clock_->monotonic_ns() - begun_ns;
  std::size_t states[3] = {};
  std::size_t asked = 0;
  std::int64_t slowest_ns = 0;
  for (const SessionView& view : sweep.sessions) {
    ++states[static_cast<std::size_t>(view.process.state)];
    if (view.door) ++asked, slowest_ns = std::max(slowest_ns, view.door->elapsed_ns);
    log_view(view);
  }
  const auto count = [&](ProcessState state) { return states[static_cast<std::size_t>(state)]; };
  output_.log(2, fmt::format("list: {} records, {} files that are none or cannot be read",
                             sweep.sessions.size() + sweep.pruned.size(), sweep.unreadable.size()));
  output_.log(2, fmt::format("observe: {} alive, {} gone and left, {} cannot be told",
                             count(ProcessState::kAlive), count(ProcessState::kGone),
                             count(ProcessState::kUnverified)));
  output_.log(2, fmt::format("doors: {} asked side by side, the slowest took {} ms", asked,
                             slowest_ns / kNsPerMs));
  output_.log(2, fmt::format("prune: {} pruned, {} quarantined", sweep.pruned.size(),
                             sweep.quarantined.size()));
  output_.log(2, fmt::format("all of it took {} ms", spent_ns / kNsPerMs));
}

Outcome<Host*> Context::host() {
  if (host_) return host_.get();
  Host::Options options;
  options.plugin_files = options_.plugins;
  options.plugin_dirs = config_.plugin_dirs;
  options.accept_untrusted = options_.trust_plugins;
  options.token_allowed = config_.token_allowed;
  if (!config_.extension_uris.empty()) {
    options.door_settings.emplace_back("extension_uris", joined(config_.extension_uris));
  }
  options.clock = clock_;
  options.log = [this](int level, std::string_view line) { output_.log(level, line); };
  auto host = Host::open(std::move(options));
  if (!host) return tl::unexpected(to_capability_failure(host.error()));
  host_ = std::move(*host);
  for (const PluginInfo& info : host_->plugins()) {
    output_.log(2, fmt::format("plugin considered: {}", described(info)));
  }
  return host_.get();
}

Outcome<std::shared_ptr<ProcessProbe>> Context::probe() {
  const auto host = this->host();
  if (!host) return tl::unexpected(host.error());
  auto probe = (*host)->platform_probe();
  if (!probe) return tl::unexpected(to_capability_failure(probe.error()));
  return *probe;
}

Outcome<std::shared_ptr<FileStore>> Context::open_files(std::string_view folder) const {
  FileStore::Options options{.home = home_, .clock = clock_};
  options.read_only = is_foreign();
  options.gone_days = config_.gone_days;
  options.quarantine_days = config_.quarantine_days;
  options.quarantine_files = static_cast<std::size_t>(config_.quarantine_files);
  options.expect_owner = owner_;
  options.folder = std::string(folder);
  auto store = FileStore::open(std::move(options));
  if (!store) return failure_of(store.error(), home_);
  return std::move(*store);
}

Outcome<std::shared_ptr<FileStore>> Context::files() {
  if (files_) return files_;
  auto opened = open_files(kRecordsFolder);
  if (opened) files_ = *opened;
  return opened;
}

Outcome<std::shared_ptr<FileStore>> Context::receipt_files() { return open_files(kReceiptsFolder); }

Outcome<std::shared_ptr<Journal>> Context::journal() const {
  Journal::Options options{.home = home_, .clock = clock_};
  options.read_only = is_foreign();
  options.segment_bytes = config_.journal_segment_bytes;
  options.segments = config_.journal_segments;
  options.expect_owner = owner_;
  auto journal = Journal::open(std::move(options));
  if (!journal) return failure_of(journal.error(), home_);
  return std::move(*journal);
}

Outcome<Registry::Options> Context::common_options(const OpenOptions& chosen) {
  const auto host = this->host();
  if (!host) return tl::unexpected(host.error());
  auto probe = this->probe();
  if (!probe) return tl::unexpected(probe.error());
  Registry::Options options;
  options.probe = std::move(*probe);
  auto control = (*host)->platform_control();
  if (control) {
    options.control = std::move(*control);
  } else {
    output_.log(2, control.error().message);
  }
  if (!config_.second_opinion.empty()) {
    auto second = (*host)->probe(config_.second_opinion);
    if (!second) {
      Error error = second.error();
      error.message = "the configuration's plugins.second_opinion cannot be had: " + error.message;
      return tl::unexpected(to_capability_failure(error, config_.second_opinion));
    }
    options.second_opinion = std::move(*second);
  }
  options.doors = [plugins = *host](std::string_view kind) { return plugins->door_prober(kind); };
  options.clock = clock_;
  options.allow_hosts = config_.allow_hosts;
  options.limits.total_timeout_ns =
      chosen.door_timeout_ns.value_or(config_.total_timeout_ms * kNsPerMs);
  options.limits.connect_timeout_ns =
      std::min(config_.connect_timeout_ms * kNsPerMs, options.limits.total_timeout_ns);
  options.accept_time_guard = chosen.accept_time_guard;
  if (!is_foreign()) {
    auto journal = this->journal();
    if (journal) options.journal = std::move(*journal);
  }
  return options;
}

Outcome<StorePlan> Context::plan(const StoreChoice& choice) {
  Surroundings around;
  around.rollcall_home = home_;
  if (other_user_home_) {
    around.user_home = *other_user_home_;
    around.variable = [](const char*) { return std::optional<std::string>(); };
  } else {
    auto directory = platform::home_directory();
    if (!directory) return failure_of(directory.error());
    around.user_home = std::move(*directory);
    around.variable = platform::environment;
  }
  StorePlan plan = plan_store(choice, config_, around);
  plan.options.expect_owner = owner_;
  return plan;
}

Outcome<std::vector<StoreChoice>> Context::stores() {
  // What plugins offer is in nobody's home.
  if (!options_.stores.with_plugins || is_foreign()) return options_.stores.stores;
  const auto host = this->host();
  if (!host) return tl::unexpected(host.error());
  return with_plugin_stores(options_.stores, (*host)->plugins());
}

Outcome<Context::OpenStore> Context::open_store(const StoreChoice& choice,
                                                const OpenOptions& chosen) {
  auto options = common_options(chosen);
  if (!options) return tl::unexpected(options.error());
  OpenStore open;
  open.choice = choice;
  options->is_foreign_store = is_foreign() || !choice.is_own();
  if (choice.is_own()) {
    const auto files = this->files();
    if (!files) return tl::unexpected(files.error());
    options->files = *files;
    open.records = *files;
    open.place = home_;
  } else if (choice.is_plugin()) {
    const auto host = this->host();
    if (!host) return tl::unexpected(host.error());
    const auto settings = config_.plugin_stores.find(choice.name);
    auto store = (*host)->record_store(
        choice.name, settings == config_.plugin_stores.end() ? Settings() : settings->second);
    if (!store) return tl::unexpected(to_capability_failure(store.error(), choice.name));
    open.records = std::move(*store);
    open.place = choice.name;
  } else {
    auto plan = this->plan(choice);
    if (!plan) return tl::unexpected(plan.error());
    open.place = plan->options.dir;
    options->home = home_kind_of(open.place);
    if (!plan->guard.names.empty()) options->time_guard = std::move(plan->guard);
    auto store = open_foreign_store(std::move(plan->options));
    if (!store) return failure_of(store.error(), open.place);
    open.records = std::move(*store);
  }
  options->store = open.records;
  open.label = choice.dir ? choice.name + "=" + open.place : choice.name;
  options->store_name = open.label;
  auto registry = Registry::open(std::move(*options));
  if (!registry) return failure_of(registry.error());
  open.registry = std::move(*registry);
  output_.log(2, fmt::format("store {}: {}", choice.name, open.place));
  return open;
}

Outcome<Registry*> Context::registry(std::optional<std::int64_t> door_timeout_ns) {
  if (open_) return open_->registry.get();
  if (options_.stores.stores.size() != 1) {
    return usage_failure("this command takes the sessions of one store: give one --store");
  }
  const StoreChoice& choice = options_.stores.stores.front();
  auto open = open_store(choice, {door_timeout_ns, accept_time_guard_});
  if (!open) return tl::unexpected(open.error());
  open_ = std::move(*open);
  return open_->registry.get();
}

Outcome<std::shared_ptr<RecordStore>> Context::records() {
  const auto registry = this->registry();
  if (!registry) return tl::unexpected(registry.error());
  return open_->records;
}

Failure Context::session_failure(const Error& error, const std::string& id) {
  if (error.code == ErrorCode::kNotFound) {
    const auto records = this->records();
    if (records) {
      const auto stored = (*records)->read(id, {});
      if (!stored && stored.error().code == ErrorCode::kNotFound) {
        return to_session_failure(error, id);
      }
    }
  }
  return to_failure(error, id);
}

Outcome<NameCandidates> Context::candidates() {
  const auto registry = this->registry();
  if (!registry) return tl::unexpected(registry.error());
  SweepOptions options;
  options.ask_doors = false;
  options.want_age = false;
  const auto sweep = (*registry)->sweep(options, {});
  if (!sweep) return failure_of(sweep.error(), open_->place);
  NameCandidates found;
  found.place = open_->place;
  for (const SessionView& view : sweep->sessions) {
    found.sessions.push_back({view.record.session_id, view.process.state == ProcessState::kAlive});
  }
  for (const UnreadableEntry& entry : sweep->unreadable) {
    found.unreadable.push_back(entry.stored.name);
  }
  for (const PrunedEntry& entry : sweep->pruned) {
    found.pruned.push_back({entry.session_id, entry.reason});
  }
  if (!open_->choice.is_own()) return found;
  const auto gone = files_->list_gone({});
  if (gone) {
    for (const GoneRecord& entry : *gone) {
      found.pruned.push_back({entry.session_id, entry.evidence.text});
    }
  }
  return found;
}

Outcome<std::string> Context::resolve(const SessionName& name, bool acting) {
  if (name.row == 0 && check_session_id(name.text)) {
    const auto records = this->records();
    if (!records) return tl::unexpected(records.error());
    // The common case, without reading the other records. Whatever else is wrong with this one,
    // the command that reads it says better.
    const auto stored = (*records)->read(name.text, {});
    if (stored || stored.error().code != ErrorCode::kNotFound) return name.text;
  }
  const auto found = candidates();
  if (!found) return tl::unexpected(found.error());
  if (name.row > 0 && acting) return tl::unexpected(refuse_row_name(name, *found));
  return resolve_session_name(name, *found);
}

}  // namespace rollcall::regtool
