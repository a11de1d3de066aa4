// The tables of the three interfaces, over the real system or, for tests, another.
#pragma once

#include "control.hpp"
#include "probe.hpp"
#include "rollcall/plugin.h"
#include "watcher.hpp"

namespace rollcall::macos_backend {

// Instances of the tables below, for the slots' `self`. The first two have no state, so create
// hands out one and destroy does nothing; of the third each is made, and destroyed by its table if
// it was made by it.
[[nodiscard]] void* instance_of(const Probe& probe);
[[nodiscard]] void* instance_of(const Control& control);
[[nodiscard]] void* instance_of(Watcher& watcher);

// Static. Null arguments and short strides are E_INVALID; structs of other sizes are read and
// written as far as they go.
[[nodiscard]] const rollcall_process_probe& probe_table();
[[nodiscard]] const rollcall_process_control& control_table();
[[nodiscard]] const rollcall_watch& watch_table();

// The entry's functions.
std::int32_t init(const rollcall_host* host, rollcall_error* error);
const void* get_interface(const char* interface_id);

}  // namespace rollcall::macos_backend
