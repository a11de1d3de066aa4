/* A record store in plain C, as a third party would write one: a file with a record a line,
 *
 *     <session id> TAB <the record as JSON, in one line>
 *
 * It only reads. The version of an entry is a hash of its line, since a line has no time of its
 * own.
 *
 * Setting `file`: where the lines are; "/var/lib/line_store/sessions" by default. With regtool:
 * {"stores": {"com.example.line-store": {"file": "/srv/sessions"}}} in the configuration.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rollcall/plugin.h"

enum { MAX_FILE = 4 * 1024 * 1024, MAX_PATH = 1024 };

struct store {
  char file[MAX_PATH];
};

static int32_t fail(rollcall_error* error, int32_t code, int os_code, const char* what) {
  if (error != NULL && error->struct_size >= sizeof(*error)) {
    error->code = code;
    error->os_code = os_code;
    snprintf(error->message, sizeof(error->message), os_code == 0 ? "%s" : "%s: %s", what,
             strerror(os_code));
  }
  return code;
}

/* ------------------------------------------------------------------------------------ reading */

/* The whole file, which the caller frees, and who owns it. What is no regular file is an error, and
 * is not waited for; a missing one has no lines. */
static int32_t read_file(const struct store* store, char** bytes, size_t* size, int64_t* owner,
                         rollcall_error* error) {
  struct stat info;
  ssize_t got = 0;
  int fd = open(store->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  *bytes = NULL;
  *size = 0;
  if (fd < 0 && errno == ENOENT) return ROLLCALL_OK;
  if (fd < 0) return fail(error, ROLLCALL_E_IO, errno, store->file);
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > MAX_FILE) {
    close(fd);
    return fail(error, ROLLCALL_E_CORRUPT, 0, "its file is none, or larger than 4 MiB");
  }
  *owner = (int64_t)info.st_uid;
  *bytes = malloc((size_t)info.st_size + 1);
  while (*bytes != NULL && *size < (size_t)info.st_size) {
    got = read(fd, *bytes + *size, (size_t)info.st_size - *size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    *size += (size_t)got;
  }
  close(fd);
  if (*bytes == NULL) return fail(error, ROLLCALL_E_NO_MEMORY, ENOMEM, "the store's file");
  if (got < 0) {
    free(*bytes);
    return fail(error, ROLLCALL_E_IO, errno, store->file);
  }
  return ROLLCALL_OK;
}

/* FNV-1a, in hex: it changes whenever the line does. Not for what an enemy may choose. */
static void version_of(const char* line, size_t size, char version[17]) {
  uint64_t hash = UINT64_C(14695981039346656037);
  size_t i;
  for (i = 0; i < size; ++i) hash = (hash ^ (unsigned char)line[i]) * UINT64_C(1099511628211);
  snprintf(version, 17, "%016llx", (unsigned long long)hash);
}

/* Hands one line over. Its strings are valid until the sink returns, which copies them. */
static int32_t hand_over(const char* line, size_t size, int64_t owner,
                         const rollcall_store_sink* sink) {
  const char* tab = memchr(line, '\t', size);
  size_t name_size = tab == NULL ? size : (size_t)(tab - line);
  char version[17];
  rollcall_store_entry entry;
  memset(&entry, 0, sizeof(entry));
  version_of(line, size, version);
  entry.struct_size = sizeof(entry);
  entry.owner_uid = owner;
  entry.name.data = line;
  entry.name.size = name_size;
  entry.version.data = version;
  entry.version.size = 16;
  if (tab == NULL) {
    static const char kNoTab[] = "its line has no tab";
    entry.problem.data = kNoTab;
    entry.problem.size = sizeof(kNoTab) - 1;
  } else {
    entry.bytes.data = tab + 1;
    entry.bytes.size = size - name_size - 1;
  }
  return sink->entry(sink->context, &entry);
}

/* Every line, or with `wanted` those of that name. Returns what the sink did not take. */
static int32_t each_line(const struct store* store, const rollcall_str* wanted,
                         const rollcall_store_sink* sink, uint64_t* count, rollcall_error* error) {
  char* bytes = NULL;
  size_t size = 0;
  size_t at = 0;
  int64_t owner = -1;
  int32_t code = read_file(store, &bytes, &size, &owner, error);
  while (code == ROLLCALL_OK && at < size) {
    const char* line = bytes + at;
    const char* end = memchr(line, '\n', size - at);
    size_t length = end == NULL ? size - at : (size_t)(end - line);
    const int is_wanted =
        wanted == NULL ||
        (length >= wanted->size && memcmp(line, wanted->data, (size_t)wanted->size) == 0 &&
         (length == wanted->size || line[wanted->size] == '\t'));
    if (length > 0 && line[0] != '\t' && is_wanted) {
      code = hand_over(line, length, owner, sink);
      ++*count;
    }
    at += length + 1;
  }
  free(bytes);
  return code;
}

/* -------------------------------------------------------------------------------------- slots */

static int32_t store_create(const rollcall_setting* settings, uint64_t count, void** self,
                            rollcall_error* error) {
  static const char kDefault[] = "/var/lib/line_store/sessions";
  const char* file = kDefault;
  size_t size = sizeof(kDefault) - 1;
  struct store* store;
  uint64_t i;
  for (i = 0; i < count; ++i) { /* settings that are not known are ignored */
    if (settings[i].key.size == 4 && memcmp(settings[i].key.data, "file", 4) == 0) {
      file = settings[i].value.data;
      size = (size_t)settings[i].value.size;
    }
  }
  if (size == 0 || file[0] != '/' || size >= MAX_PATH || memchr(file, '\0', size) != NULL) {
    return fail(error, ROLLCALL_E_INVALID, 0, "`file` is no absolute path below 1024 bytes");
  }
  store = calloc(1, sizeof(*store));
  if (store == NULL) return fail(error, ROLLCALL_E_NO_MEMORY, ENOMEM, "an instance");
  memcpy(store->file, file, size);
  *self = store;
  return ROLLCALL_OK;
}

static void store_destroy(void* self) { free(self); }

static int32_t store_list(void* self, const rollcall_store_sink* sink, const rollcall_call* call,
                          rollcall_error* error) {
  uint64_t count = 0;
  (void)call; /* one read of a small local file: nothing here waits */
  return each_line(self, NULL, sink, &count, error);
}

static int32_t store_read(void* self, rollcall_str name, const rollcall_store_sink* sink,
                          const rollcall_call* call, rollcall_error* error) {
  uint64_t count = 0;
  int32_t code = each_line(self, &name, sink, &count, error);
  (void)call;
  if (code == ROLLCALL_OK && count == 0) {
    return fail(error, ROLLCALL_E_NOT_FOUND, 0, "no line has that session id");
  }
  return code;
}

/* Without the three slots that write, the store is read-only. */
static const rollcall_record_store kStore = {
    .struct_size = sizeof(rollcall_record_store),
    .flags = ROLLCALL_TABLE_CONCURRENT, /* an instance is only read after create */
    .create = store_create,
    .destroy = store_destroy,
    .list = store_list,
    .read = store_read,
};

static const void* get_interface(const char* id) {
  return strcmp(id, ROLLCALL_RECORD_STORE_ID) == 0 ? &kStore : NULL;
}

ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1 = {
    .magic = ROLLCALL_PLUGIN_MAGIC,
    .struct_size = sizeof(rollcall_entry),
    .abi_major = ROLLCALL_ABI_MAJOR,
    .abi_minor = ROLLCALL_ABI_MINOR,
    .abi_minor_required = 0,
    .id = "com.example.line-store",
    .version = "1.0.0",
    .vendor = "Example Ltd",
    .get_interface = get_interface,
};
