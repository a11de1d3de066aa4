// The whole framework on a home of the test's own: real plugins, real files, real processes.
#pragma once

#include <memory>
#include <string>

#include "rollcall/file_store.hpp"
#include "rollcall/host.hpp"
#include "rollcall/registry.hpp"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::test {

class Rig {
 public:
  // Errors end in `problem`; everything else is then null.
  // `shared_home`: a home that others use too; empty: one of our own.
  explicit Rig(std::string shared_home = {}) : home_path(std::move(shared_home)) {
    if (home_path.empty()) home_path = home.path().string();
    if (auto opened = open(); !opened) problem = opened.error().message;
  }
  // An unguarded record of a process that exists. Errors end the test that asked.
  [[nodiscard]] Result<Record> record_process(const std::string& id, std::int64_t pid,
                                              std::optional<std::string> url = {}) {
    Record record;
    record.session_id = id;
    record.name = "test";
    record.version = "1";
    record.workdir = "/";
    record.url = std::move(url);
    auto identity = registry->identify(pid, {});
    if (!identity) return tl::unexpected(identity.error());
    record.process = std::move(*identity);
    RegisterOptions options;
    options.guarded = false;
    auto written = registry->register_session(record, options, {});
    if (!written) return tl::unexpected(written.error());
    return record;
  }

  [[nodiscard]] bool has_record(const std::string& id) const {
    return std::filesystem::exists(std::filesystem::path(home_path) / "running" / (id + ".json"));
  }

  testing::TempDir home;
  std::string home_path;
  std::unique_ptr<Host> host;
  std::shared_ptr<ProcessProbe> probe;
  std::shared_ptr<ProcessControl> control;
  std::shared_ptr<FileStore> files;
  std::unique_ptr<Registry> registry;
  std::string problem;

 private:
  Status open() {
    Host::Options host_options;
    host_options.plugin_dirs = {test::kPluginDir};
    host_options.use_environment = false;
    host_options.use_builtin_dir = true;
    host_options.accept_untrusted = true;  // in a user namespace root's folders are nobody's
    auto opened = Host::open(std::move(host_options));
    if (!opened) return tl::unexpected(opened.error());
    host = std::move(*opened);
    auto probe_or = host->platform_probe();
    if (!probe_or) return tl::unexpected(probe_or.error());
    probe = *probe_or;
    auto control_or = host->platform_control();
    if (!control_or) return tl::unexpected(control_or.error());
    control = *control_or;
    FileStore::Options store_options;
    store_options.home = home_path;
    store_options.clock = system_clock();
    auto store = FileStore::open(std::move(store_options));
    if (!store) return tl::unexpected(store.error());
    files = *store;
    Registry::Options options;
    options.store = files;
    options.files = files;
    options.probe = probe;
    options.control = control;
    options.clock = system_clock();
    options.doors = [this](std::string_view kind) { return host->door_prober(kind); };
    auto opened_registry = Registry::open(std::move(options));
    if (!opened_registry) return tl::unexpected(opened_registry.error());
    registry = std::move(*opened_registry);
    return {};
  }
};

}  // namespace rollcall::test
