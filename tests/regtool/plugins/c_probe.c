/* A process probe in plain C that cannot tell anything of any process. With FAULT its ABI is one
 * that nobody has yet. */
#include <stddef.h>
#include <string.h>

#include "rollcall/plugin.h"

static int instance;

static int32_t probe_create(const rollcall_setting* settings, uint64_t count, void** self,
                            rollcall_error* error) {
  (void)settings;
  (void)count;
  (void)error;
  *self = &instance;
  return ROLLCALL_OK;
}

static void probe_destroy(void* self) { (void)self; }

static int32_t probe_observe(void* self, const rollcall_observe_batch* batch,
                             const rollcall_call* call, rollcall_error* error) {
  static const char kWhy[] = "this probe reads nothing";
  const char* ask = (const char*)batch->asks;
  char* out = (char*)batch->observations;
  uint64_t i;
  (void)self;
  (void)call;
  (void)error;
  for (i = 0; i < batch->count; ++i) {
    rollcall_observation* seen = (rollcall_observation*)out;
    seen->pid = ((const rollcall_ask*)ask)->pid;
    seen->presence = ROLLCALL_PRESENCE_UNREADABLE;
    memcpy(seen->reason, kWhy, sizeof(kWhy) - 1);
    seen->reason_size = sizeof(kWhy) - 1;
    ask += batch->ask_stride;
    out += batch->observation_stride;
  }
  return ROLLCALL_OK;
}

static const rollcall_process_probe kProbe = {
    .struct_size = sizeof(rollcall_process_probe),
    .flags = ROLLCALL_TABLE_CONCURRENT,
    .create = probe_create,
    .destroy = probe_destroy,
    .observe = probe_observe,
};

static const void* get_interface(const char* id) {
  return strcmp(id, ROLLCALL_PROCESS_PROBE_ID) == 0 ? &kProbe : NULL;
}

ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1 = {
    .magic = ROLLCALL_PLUGIN_MAGIC,
    .struct_size = sizeof(rollcall_entry),
#ifdef FAULT
    .abi_major = ROLLCALL_ABI_MAJOR + 1,
#else
    .abi_major = ROLLCALL_ABI_MAJOR,
#endif
    .abi_minor = ROLLCALL_ABI_MINOR,
    .abi_minor_required = 0,
    .id = PLUGIN_ID,
    .version = "1.0.0",
    .vendor = "Example Ltd",
    .get_interface = get_interface,
};
