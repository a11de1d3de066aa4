/* A process probe in plain C, as a third party would write one: it reads /proc/PID/stat.
 *
 * It is an example of the ABI, and smaller than Rollcall's own backend: it opens no pidfd, so a pid
 * that is reused between two of its steps is told apart by the start token alone.
 *
 * Setting `proc_root`: where procfs is mounted; "/proc" by default.
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rollcall/plugin.h"

/* Fields of proc(5), /proc/PID/stat, counted as the manual does: the state, behind the command
 * name's last ')', is field 3. */
enum { FIELD_STATE = 3, FIELD_NUM_THREADS = 20, FIELD_STARTTIME = 22, FIELD_EXIT_SIGNAL = 38 };

struct probe {
  char root[256];
};

/* ------------------------------------------------------------------------------------ errors */

static int32_t fail(rollcall_error* error, int32_t code, int os_code, const char* message) {
  if (error != NULL && error->struct_size >= sizeof(*error)) {
    error->code = code;
    error->os_code = os_code;
    snprintf(error->message, sizeof(error->message), "%s", message);
  }
  return code;
}

static void unreadable(rollcall_observation* out, const char* what, int os_code) {
  int size = snprintf(out->reason, sizeof(out->reason), "%s: %s", what, strerror(os_code));
  out->presence = ROLLCALL_PRESENCE_UNREADABLE;
  out->os_code = os_code;
  out->reason_size = size < (int)sizeof(out->reason) ? (uint32_t)size : sizeof(out->reason) - 1;
}

/* ------------------------------------------------------------------------------------ reading */

/* One read of a whole stat file, null-terminated. Returns 0, or errno. */
static int read_stat(const struct probe* probe, int64_t pid, char* line, size_t capacity) {
  char path[320];
  ssize_t got;
  int fd;
  snprintf(path, sizeof(path), "%s/%lld/stat", probe->root, (long long)pid);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  do {
    got = read(fd, line, capacity - 1);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    int code = errno;
    close(fd);
    return code;
  }
  close(fd);
  line[got] = '\0';
  return got == 0 ? ESRCH : 0;
}

/* The first byte of a field, and its length; NULL where the line ends before it. The command name
 * may hold blanks and parentheses, so fields are counted from the LAST ')'. */
static const char* field(const char* line, int number, size_t* size) {
  const char* at = strrchr(line, ')');
  int current = FIELD_STATE - 1;
  if (at == NULL) return NULL;
  for (++at; *at != '\0'; at += *size) {
    while (*at == ' ') ++at;
    *size = strcspn(at, " \n");
    if (*size == 0) return NULL;
    if (++current == number) return at;
  }
  return NULL;
}

/* A field that is a whole number. Returns 0 where it is not. */
static int number_field(const char* line, int which, long long* value) {
  size_t size = 0;
  const char* text = field(line, which, &size);
  char* end = NULL;
  if (text == NULL) return 0;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return errno == 0 && end == text + size;
}

static void read_token(const char* line, rollcall_observation* out) {
  size_t size = 0;
  const char* text = field(line, FIELD_STARTTIME, &size);
  size_t i;
  if (text == NULL || size > sizeof(out->start_token)) return;
  for (i = 0; i < size; ++i) {
    if (!isdigit((unsigned char)text[i])) return;
  }
  /* All processes with the start time 0 is what a sandbox shows that hides it. */
  if (size == 1 && text[0] == '0') return;
  memcpy(out->start_token, text, size);
  out->start_token_size = (uint32_t)size;
  out->flags |= ROLLCALL_OBS_START_TOKEN;
}

/* A file that cannot be opened proves nothing (hidepid hides it): only the kernel's ESRCH does. */
static void observe_closed(int64_t pid, int open_error, rollcall_observation* out) {
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
    out->presence = ROLLCALL_PRESENCE_ABSENT;
  } else {
    unreadable(out, "cannot read its stat file", open_error);
  }
}

static void observe_one(const struct probe* probe, const rollcall_ask* ask,
                        rollcall_observation* out) {
  char line[4096];
  size_t size = 0;
  const char* state;
  long long threads = 0;
  long long exit_signal = 0;
  int code;
  out->pid = ask->pid;
  if (ask->pid < 1 || ask->pid > INT32_MAX) {
    out->presence = ROLLCALL_PRESENCE_ABSENT; /* no system call: 0 and negatives mean groups */
    return;
  }
  code = read_stat(probe, ask->pid, line, sizeof(line));
  if (code != 0) {
    observe_closed(ask->pid, code, out);
    return;
  }
  state = field(line, FIELD_STATE, &size);
  if (state == NULL || size != 1 || !number_field(line, FIELD_NUM_THREADS, &threads) ||
      !number_field(line, FIELD_EXIT_SIGNAL, &exit_signal)) {
    unreadable(out, "its stat file makes no sense", EINVAL);
    return;
  }
  if (exit_signal == -1) { /* the id of another process's thread */
    out->presence = ROLLCALL_PRESENCE_ABSENT;
    out->flags |= ROLLCALL_OBS_THREAD;
    return;
  }
  if ((*state == 'Z' && threads <= 1) || *state == 'X' || *state == 'x') {
    out->presence = ROLLCALL_PRESENCE_EXITED;
    return;
  }
  out->presence = ROLLCALL_PRESENCE_PRESENT;
  read_token(line, out);
  out->flags |= ROLLCALL_OBS_STATE;
  if (*state == 'T' || *state == 't') out->flags |= ROLLCALL_OBS_SUSPENDED;
}

/* -------------------------------------------------------------------------------------- slots */

static int32_t probe_create(const rollcall_setting* settings, uint64_t count, void** self,
                            rollcall_error* error) {
  const char* root = "/proc";
  size_t size = strlen(root);
  struct probe* probe;
  uint64_t i;
  for (i = 0; i < count; ++i) { /* settings that are not known are ignored */
    if (settings[i].key.size == 9 && memcmp(settings[i].key.data, "proc_root", 9) == 0) {
      root = settings[i].value.data;
      size = (size_t)settings[i].value.size;
    }
  }
  if (size == 0 || root[0] != '/' || size >= sizeof(probe->root)) {
    return fail(error, ROLLCALL_E_INVALID, 0, "proc_root is no absolute path below 256 bytes");
  }
  probe = calloc(1, sizeof(*probe));
  if (probe == NULL) return fail(error, ROLLCALL_E_NO_MEMORY, ENOMEM, "out of memory");
  memcpy(probe->root, root, size);
  *self = probe;
  return ROLLCALL_OK;
}

static void probe_destroy(void* self) { free(self); }

static int32_t probe_observe(void* self, const rollcall_observe_batch* batch,
                             const rollcall_call* call, rollcall_error* error) {
  const char* ask = (const char*)batch->asks;
  char* out = (char*)batch->observations;
  uint64_t i;
  for (i = 0; i < batch->count; ++i) {
    if (call != NULL && call->cancelled != NULL && call->cancelled(call->context) != 0) {
      return fail(error, ROLLCALL_E_CANCELLED, 0, "the call was cancelled");
    }
    /* The strides are the host's: its structs may be longer than ours. */
    observe_one(self, (const rollcall_ask*)ask, (rollcall_observation*)out);
    ask += batch->ask_stride;
    out += batch->observation_stride;
  }
  return ROLLCALL_OK;
}

static const rollcall_process_probe kProbe = {
    .struct_size = sizeof(rollcall_process_probe),
    .flags = ROLLCALL_TABLE_CONCURRENT, /* an instance is only read after create */
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
    .abi_major = ROLLCALL_ABI_MAJOR,
    .abi_minor = ROLLCALL_ABI_MINOR,
    .abi_minor_required = 0,
    .id = "com.example.stat-probe",
    .version = "1.0.0",
    .vendor = "Example Ltd",
    .get_interface = get_interface,
};
