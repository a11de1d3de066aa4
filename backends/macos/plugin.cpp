// The entry of rollcall_backend_macos.dylib.
#include "rollcall/plugin.h"

#include "slots.hpp"

extern "C" {
extern ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1;
}

const rollcall_entry rollcall_plugin_v1 = {
    .magic = ROLLCALL_PLUGIN_MAGIC,
    .struct_size = sizeof(rollcall_entry),
    .abi_major = ROLLCALL_ABI_MAJOR,
    .abi_minor = ROLLCALL_ABI_MINOR,
    .abi_minor_required = 0,
    .flags = 0,
    .reserved = 0,
    .id = "rollcall.backend.macos",
    .version = "0.1.0",
    .vendor = "Rollcall",
    .init = &rollcall::macos_backend::init,
    .deinit = nullptr,
    .get_interface = &rollcall::macos_backend::get_interface,
};
