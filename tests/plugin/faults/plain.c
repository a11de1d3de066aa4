/* A probe in plain C that knows one process: the one that it is in. */
#include <string.h>

#if defined(_WIN32)
#include <process.h>
#define own_pid _getpid
#else
#include <unistd.h>
#define own_pid getpid
#endif

#include "rollcall/plugin.h"

static int instance;

static int32_t create(const rollcall_setting* settings, uint64_t count, void** self,
                      rollcall_error* error) {
  (void)settings, (void)count, (void)error;
  *self = &instance;
  return ROLLCALL_OK;
}

static void destroy(void* self) { (void)self; }

static int32_t observe(void* self, const rollcall_observe_batch* batch, const rollcall_call* call,
                       rollcall_error* error) {
  uint64_t i;
  (void)self, (void)call, (void)error;
  for (i = 0; i < batch->count; ++i) {
    const rollcall_ask* ask =
        (const rollcall_ask*)((const char*)batch->asks + i * batch->ask_stride);
    rollcall_observation* out =
        (rollcall_observation*)((char*)batch->observations + i * batch->observation_stride);
    out->pid = ask->pid;
    out->presence = ROLLCALL_PRESENCE_ABSENT;
    if (ask->pid != own_pid()) continue;
    out->presence = ROLLCALL_PRESENCE_PRESENT;
    out->flags = ROLLCALL_OBS_START_TOKEN;
    out->start_token_size = 1;
    memcpy(out->start_token, "1", 1);
  }
  return ROLLCALL_OK;
}

static const void* get_interface(const char* id) {
  static const rollcall_process_probe table = {
      sizeof(rollcall_process_probe), 0, create, destroy, observe, 0, 0, 0, 0};
  return strcmp(id, ROLLCALL_PROCESS_PROBE_ID) == 0 ? &table : 0;
}

ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1 = {ROLLCALL_PLUGIN_MAGIC,
                                                           sizeof(rollcall_entry),
                                                           ROLLCALL_ABI_MAJOR,
                                                           ROLLCALL_ABI_MINOR,
                                                           0,
                                                           0,
                                                           0,
                                                           "com.example.plain",
                                                           "1.0.0",
                                                           "Rollcall tests",
                                                           0,
                                                           0,
                                                           get_interface};
