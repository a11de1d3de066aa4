/* A record store in plain C that does what its setting `does` says: lie, hang, crash, and so on.
 * The setting `record` is a whole record that it hands over as its own. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rollcall/plugin.h"

struct store {
  char does[32];
  char record[4096];
  size_t record_size;
};

static char kHuge[1 << 20];

static rollcall_str str(const char* text) {
  rollcall_str out;
  out.data = text;
  out.size = strlen(text);
  return out;
}

static int does(const struct store* store, const char* what) {
  return strcmp(store->does, what) == 0;
}

static void hang(void) {
  for (;;) pause();
}

static int32_t store_create(const rollcall_setting* settings, uint64_t count, void** self,
                            rollcall_error* error) {
  struct store* store = calloc(1, sizeof(*store));
  uint64_t i;
  (void)error;
  if (store == NULL) return ROLLCALL_E_NO_MEMORY;
  for (i = 0; i < count; ++i) {
    const rollcall_str value = settings[i].value;
    if (settings[i].key.size == 4 && value.size < sizeof(store->does)) {
      memcpy(store->does, value.data, (size_t)value.size);
    } else if (settings[i].key.size == 6 && value.size < sizeof(store->record)) {
      memcpy(store->record, value.data, (size_t)value.size);
      store->record_size = (size_t)value.size;
    }
  }
  *self = store;
  if (does(store, "hang-create")) hang();
  if (does(store, "fail-create")) {
    free(store);
    return ROLLCALL_E_IO;
  }
  return ROLLCALL_OK;
}

static void store_destroy(void* self) { free(self); }

static rollcall_store_entry entry_of(const struct store* store, const char* name) {
  rollcall_store_entry entry;
  memset(&entry, 0, sizeof(entry));
  entry.struct_size = sizeof(entry);
  entry.owner_uid = -1;
  entry.name = str(name);
  entry.version = str("1");
  entry.bytes.data = store->record;
  entry.bytes.size = store->record_size;
  return entry;
}

static void tell_lies(const struct store* store, const rollcall_store_sink* sink) {
  static const char* const kNames[] = {"../../etc/passwd", "twice", "twice", "\x1b[2Jclear", "a/b",
                                       ".hidden",          "other"};
  rollcall_store_entry entry;
  size_t i;
  for (i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    entry = entry_of(store, kNames[i]);
    sink->entry(sink->context, &entry);
  }
  entry = entry_of(store, "problem");
  entry.problem = str("\x1b]0;title\x07\r\nline");
  sink->entry(sink->context, &entry);
  entry = entry_of(store, "huge");
  entry.bytes.data = kHuge;
  entry.bytes.size = sizeof(kHuge);
  sink->entry(sink->context, &entry);
  entry = entry_of(store, "null-bytes");
  entry.bytes.data = NULL;
  entry.bytes.size = UINT64_MAX;
  sink->entry(sink->context, &entry);
  entry = entry_of(store, "short-struct");
  entry.struct_size = 8;
  sink->entry(sink->context, &entry);
  sink->entry(sink->context, NULL);
}

static int32_t answer(const struct store* store, const char* name,
                      const rollcall_store_sink* sink) {
  rollcall_store_entry entry;
  if (does(store, "crash")) abort();
  if (does(store, "hang")) hang();
  if (does(store, "fail")) return ROLLCALL_E_IO;
  if (does(store, "no-status")) return 42;
  if (does(store, "lie")) tell_lies(store, sink);
  entry = entry_of(store, name);
  return sink->entry(sink->context, &entry);
}

static int32_t store_list(void* self, const rollcall_store_sink* sink, const rollcall_call* call,
                          rollcall_error* error) {
  (void)call;
  (void)error;
  return answer(self, "theirs", sink);
}

/* Whatever is asked for. */
static int32_t store_read(void* self, rollcall_str name, const rollcall_store_sink* sink,
                          const rollcall_call* call, rollcall_error* error) {
  char wanted[257] = "";
  (void)call;
  (void)error;
  if (name.size < sizeof(wanted)) memcpy(wanted, name.data, (size_t)name.size);
  return answer(self, wanted, sink);
}

/* Says yes to every change. */
static int32_t store_remove(void* self, rollcall_str name, rollcall_str version,
                            const rollcall_call* call, rollcall_error* error) {
  (void)self;
  (void)name;
  (void)version;
  (void)call;
  (void)error;
  return ROLLCALL_OK;
}

static const rollcall_record_store kStore = {
    .struct_size = sizeof(rollcall_record_store),
    .create = store_create,
    .destroy = store_destroy,
    .list = store_list,
    .read = store_read,
    .remove_if = store_remove,
};

static const void* get_interface(const char* id) {
  return strcmp(id, ROLLCALL_RECORD_STORE_ID) == 0 ? &kStore : NULL;
}

ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1 = {
    .magic = ROLLCALL_PLUGIN_MAGIC,
    .struct_size = sizeof(rollcall_entry),
    .abi_major = ROLLCALL_ABI_MAJOR,
    .abi_minor = ROLLCALL_ABI_MINOR,
    .id = "com.example.faulty-store",
    .version = "1.0.0",
    .vendor = "Rollcall tests",
    .get_interface = get_interface,
};
