// The framework's interfaces over the C tables. Everything that a plugin hands back is checked: a
// reading that makes no sense is unreadable, never a guess.
#pragma once

#include <memory>
#include <string>

#include "plugin/instance.hpp"
#include "rollcall/door_prober.hpp"
#include "rollcall/host.hpp"
#include "rollcall/observation.hpp"
#include "rollcall/process_control.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/record_store.hpp"
#include "rollcall/watcher.hpp"

namespace rollcall::loader {

// Each: kUnsupported where the plugin does not offer the interface, or why no instance was made.
[[nodiscard]] Result<std::shared_ptr<ProcessProbe>> make_probe(const PluginContext& context,
                                                               const Settings& settings,
                                                               bool is_platform);
[[nodiscard]] Result<std::shared_ptr<ProcessControl>> make_control(const PluginContext& context,
                                                                   const Settings& settings);
[[nodiscard]] Result<std::shared_ptr<Watcher>> make_watcher(const PluginContext& context,
                                                            const Settings& settings);
[[nodiscard]] Result<std::shared_ptr<RecordStore>> make_store(const PluginContext& context,
                                                              const Settings& settings);
[[nodiscard]] Result<std::shared_ptr<DoorProber>> make_door_prober(const PluginContext& context,
                                                                   const Settings& settings,
                                                                   bool may_have_token);

// One reading of a plugin as the framework takes it. `pid`: what was asked. Pure.
void take_observation(const rollcall_observation& from, std::int64_t pid, Observation& into);

// hex(HMAC-SHA256(machine id, "rollcall")), "-", node name. Pure.
[[nodiscard]] std::string make_host_id(std::string_view machine_id, std::string_view nodename);

// The platform-neutral form of what a backend said of this process and machine. Errors: kCorrupt.
// Pure.
[[nodiscard]] Result<WhoAmI> take_whoami(const rollcall_whoami& from);

}  // namespace rollcall::loader
