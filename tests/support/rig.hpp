// The whole framework on a home of the test's own: real plugins, real files, real processes.
#pragma once

#include <memory>
#include <string>

#include "rollcall/file_store.hpp"
#include "rollcall/host.hpp"
#include "rollcall/registry.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::test {

class Rig {
 public:
  // Errors end in `problem`; everything else is then null.
  Rig() {
    Host::Options host_options;
    host_options.plugin_dirs = {ROLLCALL_TEST_PLUGIN_DIR};
    host_options.use_environment = false;
    host_options.use_builtin_dir = true;
    auto opened = Host::open(std::move(host_options));
    if (!opened) return give_up(opened.error());
    host = std::move(*opened);
    auto probe_or = host->platform_probe();
    if (!probe_or) return give_up(probe_or.error());
    probe = *probe_or;
    auto control_or = host->platform_control();
    if (!control_or) return give_up(control_or.error());
    control = *control_or;
    FileStore::Options store_options;
    store_options.home = home.path().string();
    store_options.clock = system_clock();
    auto store = FileStore::open(std::move(store_options));
    if (!store) return give_up(store.error());
    files = *store;
    Registry::Options options;
    options.store = files;
    options.files = files;
    options.probe = probe;
    options.control = control;
    options.clock = system_clock();
    options.doors = [this](std::string_view kind) { return host->door_prober(kind); };
    auto opened_registry = Registry::open(std::move(options));
    if (!opened_registry) return give_up(opened_registry.error());
    registry = std::move(*opened_registry);
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
    return std::filesystem::exists(home.path() / "running" / (id + ".json"));
  }

  testing::TempDir home;
  std::unique_ptr<Host> host;
  std::shared_ptr<ProcessProbe> probe;
  std::shared_ptr<ProcessControl> control;
  std::shared_ptr<FileStore> files;
  std::unique_ptr<Registry> registry;
  std::string problem;

 private:
  void give_up(const Error& error) { problem = error.message; }
};

}  // namespace rollcall::test
