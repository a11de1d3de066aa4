// The entry of rollcall_backend_linux.so.
#include "rollcall/plugin.hpp"

#include "control.hpp"
#include "probe.hpp"
#include "watcher.hpp"

ROLLCALL_DEFINE_PLUGIN("rollcall.backend.linux", "0.1.0", "Rollcall",
                       rollcall::linux_backend::Probe, rollcall::linux_backend::Control,
                       rollcall::linux_backend::Watcher);
