/* Rollcall plugin ABI, major version 1.
 *
 * This one C header is all that crosses the boundary between a Rollcall host and a plugin. It
 * compiles as C99 and later and as C++11 and later. RULES.md beside it numbers what both sides
 * promise; CHANGELOG.md says what each minor version added.
 *
 * Conventions
 *   Types      fixed-width integers, pointers and {data,size} strings only.
 *   Growth     a struct that begins with `struct_size` grows only at its end. A reader copies the
 *              smaller of both sizes into a zeroed struct; a slot is there when the size covers it
 *              and it is not null. Arrays of structs carry their stride. `reserved` is zero.
 *   Strings    bytes, not null-terminated unless the comment says so, UTF-8 unless it says "bytes".
 *   Errors     a slot returns ROLLCALL_OK or a negative ROLLCALL_E_*; on failure it fills the
 *              caller's rollcall_error (which may be null) and leaves other outputs untouched.
 *              "The process is gone" is a reading, never an error.
 *   Memory     nothing allocated on one side is freed on the other. What a callback is handed is
 *              valid until the callback returns.
 *   Exceptions never cross. An exception that leaves a plugin ends the host.
 *   Threads    [load]     called by one thread while nothing else of the plugin runs.
 *              [any]      may be called by any thread, concurrently with anything.
 *              [instance] calls on one instance are serial, from any thread, unless the table's
 *                         flags hold ROLLCALL_TABLE_CONCURRENT; two instances are independent.
 */
#ifndef ROLLCALL_PLUGIN_H
#define ROLLCALL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROLLCALL_ABI_MAJOR 1u
#define ROLLCALL_ABI_MINOR 0u

/* "RLCPLUG1" read as a big-endian number. */
#define ROLLCALL_PLUGIN_MAGIC UINT64_C(0x524C43504C554731)

/* The one exported symbol. The ABI major is in its name. */
#define ROLLCALL_ENTRY_SYMBOL "rollcall_plugin_v1"

#if defined(_WIN32)
#define ROLLCALL_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ROLLCALL_EXPORT __attribute__((visibility("default")))
#else
#define ROLLCALL_EXPORT
#endif

/* Interface ids. An id never changes its meaning. Third parties use reverse-DNS ids of their own;
 * a draft ends in ".draft". */
#define ROLLCALL_PROCESS_PROBE_ID "rollcall.process-probe/1"
#define ROLLCALL_PROCESS_CONTROL_ID "rollcall.process-control/1"
#define ROLLCALL_WATCH_ID "rollcall.watch/1"
#define ROLLCALL_RECORD_STORE_ID "rollcall.record-store/1"
#define ROLLCALL_DOOR_PROBER_ID "rollcall.door-prober/1"

/* Status codes. */
#define ROLLCALL_OK 0
#define ROLLCALL_E_INVALID (-1)     /* an argument is outside its documented shape */
#define ROLLCALL_E_IO (-2)          /* the system refused; os_code holds errno or GetLastError */
#define ROLLCALL_E_DENIED (-3)      /* permission */
#define ROLLCALL_E_UNSUPPORTED (-4) /* this platform or kernel cannot */
#define ROLLCALL_E_TIMEOUT (-5)     /* the call's deadline passed */
#define ROLLCALL_E_CANCELLED (-6)   /* the call's cancelled() said so */
#define ROLLCALL_E_NOT_FOUND (-7)   /* no such object */
#define ROLLCALL_E_EXISTS (-8)      /* it is there already */
#define ROLLCALL_E_CONFLICT (-9)    /* it is not the version that was named */
#define ROLLCALL_E_CORRUPT (-10)    /* it was read and makes no sense */
#define ROLLCALL_E_TOO_LARGE (-11)  /* over a documented bound */
#define ROLLCALL_E_INTERNAL (-12)   /* a defect of the callee */
#define ROLLCALL_E_NO_MEMORY (-13)
#define ROLLCALL_E_INCOMPATIBLE (-14) /* versions do not meet */

/* Flags of every interface table. */
#define ROLLCALL_TABLE_CONCURRENT 1u /* instance slots may be called concurrently */

/* A byte string. `data` may be null when `size` is 0. */
typedef struct rollcall_str {
  const char* data;
  uint64_t size;
} rollcall_str;

/* Filled by the callee when it fails; owned by the caller, who sets struct_size. `message` is
 * null-terminated UTF-8: what, on which object, why, what to do. */
typedef struct rollcall_error {
  uint32_t struct_size;
  int32_t code;
  int64_t os_code;
  char message[496];
} rollcall_error;

/* Bounds of one call. `deadline_ns` is absolute on the host's monotonic clock (see
 * rollcall_host.monotonic_now_ns); INT64_MAX: none. `cancelled` may be null; [any]; it returns
 * non-zero once the call should be given up with ROLLCALL_E_CANCELLED. */
typedef struct rollcall_call {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t deadline_ns;
  void* context;
  uint32_t (*cancelled)(void* context);
} rollcall_call;

/* One setting of an instance: UTF-8 key and value. */
typedef struct rollcall_setting {
  rollcall_str key;
  rollcall_str value;
} rollcall_setting;

/* Receives bytes. Called zero or more times during the slot that it was handed to, from the
 * thread that called the slot; a negative return means "stop", and the slot returns it. */
typedef struct rollcall_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  int32_t (*write)(void* context, const void* data, uint64_t size);
} rollcall_sink;

/* Levels of rollcall_host.log. */
#define ROLLCALL_LOG_ERROR 0
#define ROLLCALL_LOG_WARNING 1
#define ROLLCALL_LOG_INFO 2
#define ROLLCALL_LOG_DEBUG 3

/* What the host offers. Owned by the host; valid from init until deinit has returned. */
typedef struct rollcall_host {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  void* context;
  /* [any] Nanoseconds on the clock that deadlines are measured by. Never steps. */
  int64_t (*monotonic_now_ns)(void* context);
  /* [any] A line for the host's log. Never hand it a secret. */
  void (*log)(void* context, int32_t level, rollcall_str message);
} rollcall_host;

/* The exported datum. All strings are null-terminated and static. */
typedef struct rollcall_entry {
  uint64_t magic;              /* ROLLCALL_PLUGIN_MAGIC */
  uint32_t struct_size;        /* sizeof(rollcall_entry) of the plugin's header */
  uint32_t abi_major;          /* ROLLCALL_ABI_MAJOR of the plugin's header */
  uint32_t abi_minor;          /* ROLLCALL_ABI_MINOR of the plugin's header */
  uint32_t abi_minor_required; /* the lowest host minor that the plugin works with */
  uint32_t flags;              /* 0 */
  uint32_t reserved;           /* 0 */
  const char* id;              /* reverse-DNS or "rollcall.NAME"; equals the manifest's */
  const char* version;
  const char* vendor;
  /* [load] Called before anything else, once in a process however many hosts it has; again only
   * after it failed or after deinit. May be null. */
  int32_t (*init)(const rollcall_host* host, rollcall_error* error);
  /* [load] Called after every instance was destroyed, if init succeeded. The library stays loaded.
   * Not called on a plugin that hung. May be null. */
  void (*deinit)(void);
  /* [any] The table of an interface id (null-terminated), or null where the plugin has none. The
   * table is static and begins with a uint32_t struct_size. Must not be null. */
  const void* (*get_interface)(const char* interface_id);
} rollcall_entry;

/* ------------------------------------------------------------------ rollcall.process-probe/1 */

/* Bits of rollcall_ask.wants. */
#define ROLLCALL_WANT_START_TOKEN 1u /* the start token */
#define ROLLCALL_WANT_EXACT_ID 2u    /* the exact id, where the kernel has one */
#define ROLLCALL_WANT_STATE 4u       /* ROLLCALL_OBS_SUSPENDED */
#define ROLLCALL_WANT_AGE 8u         /* start_unix_ns and age_ns */
/* An exact id that could be read makes WANT_START_TOKEN void: it decides alone. */
#define ROLLCALL_WANT_EXACT_SUFFICES 16u

/* One question: which readings of this pid are wanted. */
typedef struct rollcall_ask {
  int64_t pid; /* any value: a pid outside 1..INT32_MAX is absent, without a system call */
  uint32_t wants;
  uint32_t reserved;
} rollcall_ask;

/* rollcall_observation.presence. Zero, what a plugin that did nothing leaves, is "cannot tell". */
#define ROLLCALL_PRESENCE_UNREADABLE 0u
#define ROLLCALL_PRESENCE_PRESENT 1u
#define ROLLCALL_PRESENCE_EXITED 2u /* a zombie, or seen to have exited */
#define ROLLCALL_PRESENCE_ABSENT 3u /* proven: ESRCH or its like; or the pid is a thread's id */

/* Bits of rollcall_observation.flags: which fields below were read. */
#define ROLLCALL_OBS_START_TOKEN 1u
#define ROLLCALL_OBS_EXACT_ID 2u
#define ROLLCALL_OBS_STATE 4u
#define ROLLCALL_OBS_SUSPENDED 8u /* with OBS_STATE: stopped by a signal or a tracer */
#define ROLLCALL_OBS_AGE 16u
#define ROLLCALL_OBS_START_TIME 32u
#define ROLLCALL_OBS_THREAD 64u /* with ABSENT: another process's thread has this id */

/* One reading. Fixed size, no pointers. The caller zeroes it. */
typedef struct rollcall_observation {
  int64_t pid;
  uint32_t presence;
  uint32_t flags;
  uint64_t exact_id;     /* with OBS_EXACT_ID: never reused in a boot */
  int64_t start_unix_ns; /* with OBS_START_TIME: now minus age; display only, never compared */
  int64_t age_ns;        /* with OBS_AGE: at least 0 */
  int64_t os_code;       /* with UNREADABLE: errno or GetLastError, else 0 */
  uint32_t start_token_size;
  uint32_t reason_size;
  char start_token[64]; /* with OBS_START_TOKEN: opaque, visible ASCII, compared for equality */
  char reason[128];     /* with UNREADABLE: why, UTF-8 */
} rollcall_observation;

typedef struct rollcall_observe_batch {
  uint32_t struct_size;
  uint32_t ask_stride;         /* bytes from one ask to the next */
  uint32_t observation_stride; /* bytes from one observation to the next */
  uint32_t reserved;
  uint64_t count;
  const rollcall_ask* asks;
  rollcall_observation* observations; /* `count` of them, zeroed by the caller */
} rollcall_observe_batch;

/* How two boot ids of this platform compare. */
#define ROLLCALL_BOOT_EXACT 0u        /* equal bytes, same boot; else another */
#define ROLLCALL_BOOT_WITHIN_120_S 1u /* decimal seconds; same boot when at most 120 s apart */
#define ROLLCALL_BOOT_EQUAL_ONLY 2u   /* equal bytes, same boot; a difference proves nothing */

/* The caller's own process and machine. A size of 0 means "could not be read" (never ""), and
 * `why` says so for boot_id and start_token. */
typedef struct rollcall_whoami {
  uint32_t struct_size;
  uint32_t boot_rule;
  int64_t pid;
  uint64_t exact_id; /* 0: the kernel has none */
  uint64_t uid;      /* numeric user id; 0 where the platform has none */
  uint32_t start_token_size;
  uint32_t boot_id_size;
  uint32_t machine_id_size;
  uint32_t nodename_size;
  uint32_t pid_namespace_size;
  uint32_t time_namespace_size;
  uint32_t start_token_why_size;
  uint32_t boot_id_why_size;
  char start_token[64];
  char boot_id[64];
  char machine_id[64]; /* raw; the framework shows and stores only a keyed hash of it */
  char nodename[256];
  char pid_namespace[32];
  char time_namespace[32];
  char start_token_why[128];
  char boot_id_why[128];
} rollcall_whoami;

/* What `read` reads. Bytes as the system gives them. */
#define ROLLCALL_READ_COMMAND 1u     /* arguments, each ended by NUL */
#define ROLLCALL_READ_ENVIRONMENT 2u /* entries, each ended by NUL */
#define ROLLCALL_READ_CWD 3u         /* a path */
#define ROLLCALL_READ_PARENT 4u      /* the parent's pid in decimal */
#define ROLLCALL_READ_NAME 5u        /* the short name (comm) */
/* Every user id that the process has (real, effective, saved, ...) as numbers in decimal, a space
 * between. E_UNSUPPORTED where the platform has no numbers. */
#define ROLLCALL_READ_USERS 6u

/* One pid of `list`. */
typedef struct rollcall_pid_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  int32_t (*pid)(void* context, int64_t pid, int64_t parent_pid); /* parent -1: not known */
} rollcall_pid_sink;

/* A question about one connected socket of the calling process: who can have answered it? */
typedef struct rollcall_socket_ask {
  int64_t socket;    /* file descriptor or SOCKET; stays open and owned by the caller */
  int64_t pid;       /* the recorded process */
  int64_t owner_uid; /* the uid that owns the record; -1: not known */
} rollcall_socket_ask;

/* rollcall_socket_answer.owner. */
#define ROLLCALL_OWNER_UNKNOWN 0u  /* nothing could be read */
#define ROLLCALL_OWNER_PROCESS 1u  /* every listener is held by the process or a descendant */
#define ROLLCALL_OWNER_UID_ONLY 2u /* descriptors unreadable; every listener's uid is owner_uid */
#define ROLLCALL_OWNER_FOREIGN 3u  /* a listener that could have taken it is another's */

/* Bits of rollcall_socket_answer.flags. */
#define ROLLCALL_SOCKET_LOOPBACK 1u     /* the connected peer is 127.0.0.0/8 or ::1, or AF_UNIX */
#define ROLLCALL_SOCKET_SELF_CONNECT 2u /* a TCP simultaneous open with itself */
#define ROLLCALL_SOCKET_UNIX 4u

typedef struct rollcall_socket_answer {
  uint32_t owner;
  uint32_t flags;
  int64_t holder_pid; /* with FOREIGN, where known: who holds it; else 0 */
  uint32_t peer_size;
  uint32_t reason_size;
  char peer[64];    /* "127.0.0.1:80", "[::1]:80" or "unix"; from the socket, not from a record */
  char reason[128]; /* what was read or why nothing could be */
} rollcall_socket_answer;

typedef struct rollcall_socket_batch {
  uint32_t struct_size;
  uint32_t ask_stride;
  uint32_t answer_stride;
  uint32_t reserved;
  uint64_t count;
  const rollcall_socket_ask* asks;
  rollcall_socket_answer* answers; /* `count` of them, zeroed by the caller */
} rollcall_socket_batch;

typedef struct rollcall_process_probe {
  uint32_t struct_size;
  uint32_t flags;
  /* [any] Makes an instance. Unknown settings are ignored. Required. */
  int32_t (*create)(const rollcall_setting* settings, uint64_t count, void** self,
                    rollcall_error* error);
  /* [instance] Required. */
  void (*destroy)(void* self);
  /* [instance] Fills every observation of the batch. An error means that the batch as a whole
   * could not be tried; one pid that could not be read is UNREADABLE in its own row. Required. */
  int32_t (*observe)(void* self, const rollcall_observe_batch* batch, const rollcall_call* call,
                     rollcall_error* error);
  /* [instance] The calling process and this machine. */
  int32_t (*whoami)(void* self, rollcall_whoami* out, const rollcall_call* call,
                    rollcall_error* error);
  /* [instance] Every process, in no order. */
  int32_t (*list)(void* self, const rollcall_pid_sink* sink, const rollcall_call* call,
                  rollcall_error* error);
  /* [instance] Reads one thing (ROLLCALL_READ_*) of a process into the sink. Empty, refused
   * (E_DENIED) and gone (E_NOT_FOUND) are three answers. */
  int32_t (*read)(void* self, int64_t pid, uint32_t what, const rollcall_sink* sink,
                  const rollcall_call* call, rollcall_error* error);
  /* [instance] Who holds the other end of each connected socket. One reading of the system's
   * tables, taken after the call began, serves the batch. */
  int32_t (*port_owner)(void* self, const rollcall_socket_batch* batch, const rollcall_call* call,
                        rollcall_error* error);
} rollcall_process_probe;

/* ---------------------------------------------------------------- rollcall.process-control/1 */

/* What the host's judge says of an observation that the backend took through its pin. */
#define ROLLCALL_JUDGE_UNVERIFIED 0u
#define ROLLCALL_JUDGE_ALIVE 1u /* it is the recorded process: go on */
#define ROLLCALL_JUDGE_GONE 2u

/* The host's verdict, made anew from the backend's reading. Called on the caller's thread, during
 * the slot, once. Valid only during the slot. */
typedef struct rollcall_judge {
  uint32_t struct_size;
  uint32_t wants; /* ROLLCALL_WANT_*: the readings that the judge needs */
  void* context;
  uint32_t (*judge)(void* context, const rollcall_observation* observation);
} rollcall_judge;

/* Signals, by number of our own so that they mean one thing on every platform. */
#define ROLLCALL_SIGNAL_TERM 1u
#define ROLLCALL_SIGNAL_INT 2u
#define ROLLCALL_SIGNAL_HUP 3u
#define ROLLCALL_SIGNAL_QUIT 4u
#define ROLLCALL_SIGNAL_KILL 5u
#define ROLLCALL_SIGNAL_USR1 6u
#define ROLLCALL_SIGNAL_USR2 7u
#define ROLLCALL_SIGNAL_CONT 8u
#define ROLLCALL_SIGNAL_STOP 9u

#define ROLLCALL_SIGNAL_REFUSED 0u /* no signal was sent; reason says why */
#define ROLLCALL_SIGNAL_SENT 1u
#define ROLLCALL_SIGNAL_ALREADY_GONE 2u

typedef struct rollcall_signal_outcome {
  uint32_t struct_size;
  uint32_t outcome;
  int64_t os_code;
  uint32_t reason_size;
  uint32_t reserved;
  char reason[160];
} rollcall_signal_outcome;

#define ROLLCALL_AWAIT_UNKNOWN 0u     /* its end could not be seen; reason says why */
#define ROLLCALL_AWAIT_ENDED 1u       /* seen to have ended, or proven gone already */
#define ROLLCALL_AWAIT_STILL_THERE 2u /* the deadline came first */

/* How a process ended, of any process, not of a child only. */
#define ROLLCALL_EXIT_UNKNOWN 0u /* `why` says why it is not known */
#define ROLLCALL_EXIT_CODE 1u    /* `value`: as the process gave it */
#define ROLLCALL_EXIT_SIGNAL 2u  /* `value`: the system's own number of the signal */

typedef struct rollcall_exit {
  uint32_t kind;
  int32_t value;
  uint32_t why_size;
  uint32_t reserved;
  char why[112];
} rollcall_exit;

typedef struct rollcall_await_outcome {
  uint32_t struct_size;
  uint32_t outcome;
  uint32_t flags; /* ROLLCALL_OBS_SUSPENDED where the process is stopped at the deadline */
  uint32_t reason_size;
  char reason[160];
  rollcall_exit exit; /* with ENDED */
} rollcall_await_outcome;

/* One signal of `stop`, and when it is due. */
typedef struct rollcall_shot {
  uint32_t signal; /* ROLLCALL_SIGNAL_* */
  uint32_t reserved;
  int64_t after_ns; /* after the slot began; not before the shot in front of it */
} rollcall_shot;

/* Bits of rollcall_stop_plan.flags. */
#define ROLLCALL_STOP_TREE 1u  /* with all that descends from the process */
#define ROLLCALL_STOP_HOLDS 2u /* the process keeps its orphans and can be held: RULES.md, P54 */

typedef struct rollcall_stop_plan {
  uint32_t struct_size;
  uint32_t flags;
  const rollcall_shot* shots; /* 1..32, in order */
  uint64_t shot_count;
} rollcall_stop_plan;

/* rollcall_stop_member.state. */
#define ROLLCALL_MEMBER_STILL_THERE 0u
#define ROLLCALL_MEMBER_ENDED 1u /* its end was seen through its pin */
#define ROLLCALL_MEMBER_LOST 2u  /* seen in the tree, and not pinned there: never signalled */

/* Bits of rollcall_stop_member.flags. */
#define ROLLCALL_MEMBER_ROOT 1u      /* the judged process itself */
#define ROLLCALL_MEMBER_SUSPENDED 2u /* STILL_THERE, and stopped */
#define ROLLCALL_MEMBER_ORPHAN 4u    /* of the tree by its cgroup: its parent had gone before */

/* One process of the tree, for the receipt. */
typedef struct rollcall_stop_member {
  uint32_t struct_size;
  uint32_t state;
  int64_t pid;
  int64_t parent_pid; /* as it was found; -1: not known */
  uint32_t shots;     /* bit i: shot i of the plan was sent to it */
  uint32_t flags;
  uint32_t start_token_size;
  uint32_t name_size;
  uint32_t reason_size;
  uint32_t reserved;
  char start_token[64];
  char name[64]; /* the command name: bytes */
  char reason[160];
  rollcall_exit exit; /* with ENDED */
} rollcall_stop_member;

/* Receives the receipt: the root first; called when all is over, on the caller's thread. A negative
 * answer ends it and is returned. */
typedef struct rollcall_stop_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  int32_t (*member)(void* context, const rollcall_stop_member* member);
} rollcall_stop_sink;

/* How surely nothing is left of a tree. */
#define ROLLCALL_CONTAINED_NOT \
  0u /* best effort: what was seen is what there was, as far as known */
#define ROLLCALL_CONTAINED_CGROUP \
  1u /* it had a cgroup of its own, which the kernel says is empty */
#define ROLLCALL_CONTAINED_REAPER                                \
  2u /* its orphans stay with the root, which was there when the \
      * last reading found no descendant of it */

typedef struct rollcall_stop_outcome {
  uint32_t struct_size;
  uint32_t outcome;   /* ROLLCALL_SIGNAL_*, of the first shot. Not SENT: nothing was signalled */
  uint32_t end;       /* ROLLCALL_AWAIT_*, of the process itself */
  uint32_t contained; /* ROLLCALL_CONTAINED_* */
  int64_t os_code;
  uint32_t shots; /* bit i: shot i of the plan was sent to the process itself */
  uint32_t flags; /* ROLLCALL_OBS_SUSPENDED where it is stopped at the deadline */
  uint32_t reason_size;
  uint32_t reserved;
  char reason[160];
  rollcall_exit exit; /* of the process itself, with ENDED */
} rollcall_stop_outcome;

typedef struct rollcall_process_control {
  uint32_t struct_size;
  uint32_t flags;
  /* [any] Required. */
  int32_t (*create)(const rollcall_setting* settings, uint64_t count, void** self,
                    rollcall_error* error);
  /* [instance] Required. */
  void (*destroy)(void* self);
  /* [instance] Pins the process (pidfd, handle), reads it through the pin, asks the judge about
   * that very reading, and only on ALIVE signals through the same pin. GONE is ALREADY_GONE,
   * UNVERIFIED is REFUSED; in both no signal call is made. Where the platform could pin but
   * cannot now (old kernel, seccomp, no descriptors): REFUSED, never a racy signal. Pid 1 and pids
   * out of range: REFUSED; the caller's own pid: REFUSED, or ALREADY_GONE on GONE. Required. */
  int32_t (*signal)(void* self, int64_t pid, uint32_t signal, const rollcall_judge* judge,
                    rollcall_signal_outcome* out, const rollcall_call* call, rollcall_error* error);
  /* [instance] Waits until the judged process has ended (a zombie has), at most until the call's
   * deadline, at which it is asked once more. Required. */
  int32_t (*await_exit)(void* self, int64_t pid, const rollcall_judge* judge,
                        rollcall_await_outcome* out, const rollcall_call* call,
                        rollcall_error* error);
  /* [instance] A whole stop by one pin: pins and judges as `signal` does, once, sends the plan's
   * shots through that pin as long as the process is there, and awaits its end until the call's
   * deadline; what `signal` would refuse, it refuses. With ROLLCALL_STOP_TREE every descendant is
   * pinned, proven to be one through its pin, and treated alike: P53 of RULES.md. The exit status
   * is given where the kernel tells it; it is waited for a moment at most. Cancelled after a shot
   * was sent: OK, with what was sent, and STILL_THERE unless it has ended. Null, or
   * E_UNSUPPORTED: only the two slots above are there. */
  int32_t (*stop)(void* self, int64_t pid, const rollcall_stop_plan* plan,
                  const rollcall_judge* judge, const rollcall_stop_sink* sink,
                  rollcall_stop_outcome* out, const rollcall_call* call, rollcall_error* error);
} rollcall_process_control;

/* -------------------------------------------------------------------------- rollcall.watch/1 */

/* What became of adding something to a watcher. All but WATCHED: it is not watched. */
#define ROLLCALL_WATCH_UNVERIFIED 0u  /* whether it is the recorded process could not be told */
#define ROLLCALL_WATCH_WATCHED 1u     /* from now on nothing of it is missed */
#define ROLLCALL_WATCH_GONE 2u        /* the judge said GONE; a directory: there is none */
#define ROLLCALL_WATCH_UNSUPPORTED 3u /* this kernel cannot, or not there (a file system) */
#define ROLLCALL_WATCH_LIMIT 4u       /* descriptors, watches or memory have run out */

typedef struct rollcall_watch_outcome {
  uint32_t struct_size;
  uint32_t outcome;
  int64_t os_code;
  uint32_t reason_size;
  uint32_t reserved;
  char reason[160]; /* but for WATCHED: why, UTF-8 */
} rollcall_watch_outcome;

/* rollcall_watch_event.kind. */
#define ROLLCALL_WATCH_EVENT_ENDED 1u    /* the process `id` has ended, and is watched no more */
#define ROLLCALL_WATCH_EVENT_CHANGED 2u  /* something in the directory `id` did */
#define ROLLCALL_WATCH_EVENT_LOST 3u     /* the directory `id` went, and is watched no more */
#define ROLLCALL_WATCH_EVENT_OVERFLOW 4u /* changes of any directory were missed; `id` is 0 */

/* One event. Fixed size, no pointers. Further ones of one directory and name may be left out while
 * the first is not handed over. */
typedef struct rollcall_watch_event {
  uint64_t id;
  uint32_t kind;
  uint32_t name_size; /* 0: of any name */
  char name[256];     /* with CHANGED: the entry's name, bytes (Windows: UTF-8) */
} rollcall_watch_event;

typedef struct rollcall_watch_batch {
  uint32_t struct_size;
  uint32_t event_stride; /* bytes from one event to the next */
  uint64_t capacity;     /* room for so many events, at least 1 */
  uint64_t count;        /* out: so many were given */
  rollcall_watch_event* events;
} rollcall_watch_batch;

/* An instance is one watcher. An `id` is the host's, and names one thing at a time. */
typedef struct rollcall_watch {
  uint32_t struct_size;
  uint32_t flags;
  /* [any] Required. */
  int32_t (*create)(const rollcall_setting* settings, uint64_t count, void** self,
                    rollcall_error* error);
  /* [instance] Not while another thread is in a slot, wake included. Required. */
  void (*destroy)(void* self);
  /* [instance] Pins the process, reads it through the pin, asks the judge about that very reading,
   * and on ALIVE watches it by the pin: a successor on its pid is never taken for it. Where the
   * platform cannot pin, it is read after it was armed. Required. */
  int32_t (*add_process)(void* self, uint64_t id, int64_t pid, const rollcall_judge* judge,
                         rollcall_watch_outcome* out, const rollcall_call* call,
                         rollcall_error* error);
  /* [instance] Watches the entries of a directory, not those below: made, written, renamed, removed
   * or given other permissions. `path` is absolute; its last component is no link. An id that is a
   * directory's already: watches what stands at `path` now in its place. Required. */
  int32_t (*add_directory)(void* self, uint64_t id, rollcall_str path, rollcall_watch_outcome* out,
                           const rollcall_call* call, rollcall_error* error);
  /* [instance] From then on no event has this id. E_NOT_FOUND where it is not watched. Required. */
  int32_t (*remove)(void* self, uint64_t id, rollcall_error* error);
  /* [instance] Waits for events until the call's deadline, and gives as many as there are and have
   * room. None: the deadline came, or wake() was called, or for no reason at all. Makes no system
   * call while it waits, and does not ask `cancelled`: wake() is how a wait is ended. Required. */
  int32_t (*wait)(void* self, rollcall_watch_batch* batch, const rollcall_call* call,
                  rollcall_error* error);
  /* [any] Ends the wait that is under way, or the next one. Required. */
  void (*wake)(void* self);
} rollcall_watch;

/* ------------------------------------------------------------------- rollcall.record-store/1 */

/* One entry of `list` and `read`. `version` is opaque, at most 128 bytes, and changes whenever
 * the entry does. `problem` is non-empty when the entry is there and could not be read. */
typedef struct rollcall_store_entry {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t owner_uid; /* -1: not known */
  rollcall_str name; /* the session id that the store keeps it under */
  rollcall_str version;
  rollcall_str bytes;
  rollcall_str problem;
} rollcall_store_entry;

typedef struct rollcall_store_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  int32_t (*entry)(void* context, const rollcall_store_entry* entry);
} rollcall_store_sink;

typedef struct rollcall_record_store {
  uint32_t struct_size;
  uint32_t flags;
  /* [any] Required. */
  int32_t (*create)(const rollcall_setting* settings, uint64_t count, void** self,
                    rollcall_error* error);
  /* [instance] Required. */
  void (*destroy)(void* self);
  /* [instance] Every entry, in no order. A missing store is an empty one; an unusable one is an
   * error. Required. */
  int32_t (*list)(void* self, const rollcall_store_sink* sink, const rollcall_call* call,
                  rollcall_error* error);
  /* [instance] One entry, or E_NOT_FOUND. Required. */
  int32_t (*read)(void* self, rollcall_str name, const rollcall_store_sink* sink,
                  const rollcall_call* call, rollcall_error* error);
  /* [instance] Atomic. E_EXISTS where the name is taken. A store without writing leaves the three
   * slots below null. */
  int32_t (*create_if_absent)(void* self, rollcall_str name, rollcall_str bytes,
                              const rollcall_call* call, rollcall_error* error);
  /* [instance] Atomic. E_CONFLICT where the entry is not of this version any more. */
  int32_t (*replace_if)(void* self, rollcall_str name, rollcall_str version, rollcall_str bytes,
                        const rollcall_call* call, rollcall_error* error);
  /* [instance] Atomic compare-and-delete. E_CONFLICT as above; E_NOT_FOUND where it has gone. */
  int32_t (*remove_if)(void* self, rollcall_str name, rollcall_str version,
                       const rollcall_call* call, rollcall_error* error);
} rollcall_record_store;

/* -------------------------------------------------------------------- rollcall.door-prober/1 */

/* An address that the host has ruled on: a numeric IPv4 or IPv6 address without brackets. */
typedef struct rollcall_endpoint {
  rollcall_str host;
  uint32_t port;
  uint32_t reserved;
} rollcall_endpoint;

/* One door to ask. All strings are the host's and valid until `probe` returns. The host has parsed
 * and judged the record's url already: a prober connects to the endpoints, in order, within the one
 * deadline, and resolves no name. */
typedef struct rollcall_door_item {
  rollcall_str session_id; /* whose door it should be; sent nowhere but by `stop` */
  rollcall_str kind;
  rollcall_str authority; /* "host:port" for an HTTP Host header; empty without a url */
  const rollcall_endpoint* endpoints;
  uint64_t endpoint_count;          /* 0 without a url */
  const rollcall_setting* settings; /* of the record's `door`, and of the host (below) */
  uint64_t setting_count;
} rollcall_door_item;

/* What the host adds to an item's settings, where it knows it; keys of this prefix that a record
 * holds are left out. When the recorded process began, in nanoseconds since 1970 UTC, in decimal:
 * the present wall clock less its age. */
#define ROLLCALL_SETTING_HOST_PREFIX "host."
#define ROLLCALL_SETTING_PROCESS_START "host.process_start_unix_ns"

/* What a door was found to be. The host compares `named` with the record; a plugin never does. */
#define ROLLCALL_DOOR_FAILED 0u /* `reason` says how */
#define ROLLCALL_DOOR_NAMED 1u  /* it answered and named the session in `named` */
#define ROLLCALL_DOOR_HELD 2u   /* it names nobody by design; the kernel's ownership decides */

/* The closed set of reasons that a prober gives. */
#define ROLLCALL_DOOR_REFUSED 1u
#define ROLLCALL_DOOR_CONNECT_TIMEOUT 2u
#define ROLLCALL_DOOR_READ_TIMEOUT 3u
#define ROLLCALL_DOOR_CLOSED_EARLY 4u
#define ROLLCALL_DOOR_BAD_HTTP 5u
#define ROLLCALL_DOOR_HTTP_STATUS 6u
#define ROLLCALL_DOOR_RPC_ERROR 7u
#define ROLLCALL_DOOR_NOT_JSON 8u
#define ROLLCALL_DOOR_NO_SESSION 9u
#define ROLLCALL_DOOR_TOKEN_REFUSED 10u
#define ROLLCALL_DOOR_TOO_LARGE 11u
#define ROLLCALL_DOOR_NOT_SUPPORTED 12u
#define ROLLCALL_DOOR_NOT_LOOPBACK 13u
#define ROLLCALL_DOOR_BAD_URL 14u
#define ROLLCALL_DOOR_TOKEN_MISSING 15u
#define ROLLCALL_DOOR_NOT_ADMITTED 16u /* the host's gate said no; the host knows why */

typedef struct rollcall_door_answer {
  uint32_t struct_size;
  uint32_t outcome;
  uint32_t reason;
  uint32_t http_status; /* 0: none */
  int64_t elapsed_ns;
  rollcall_str named;
  rollcall_str detail; /* remote text or the system's; the host escapes it before it is shown */
} rollcall_door_answer;

/* A connected socket that the prober wants to speak on. */
typedef struct rollcall_connected {
  uint64_t item; /* index into the batch */
  int64_t socket;
} rollcall_connected;

typedef struct rollcall_admission {
  uint32_t admitted; /* 0: close it and answer NOT_ADMITTED */
  uint32_t has_token;
  rollcall_str token; /* the host's; valid until `probe` returns; never to be logged */
} rollcall_admission;

/* The host's half of a probe. Every function is called on the thread that called `probe` or on a
 * thread of the plugin's; the host serialises them. */
typedef struct rollcall_door_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* Rules on connected sockets, many at once: after connecting and before sending one byte. */
  void (*admit)(void* context, const rollcall_connected* sockets, uint64_t count,
                rollcall_admission* admissions);
  /* An item's answer; once an item, in any order. */
  void (*answer)(void* context, uint64_t item, const rollcall_door_answer* answer);
} rollcall_door_sink;

typedef struct rollcall_door_batch {
  uint32_t struct_size;
  uint32_t item_stride;
  uint64_t count;
  const rollcall_door_item* items;
  int64_t connect_timeout_ns; /* for connecting, of each probe, from its start */
  int64_t total_timeout_ns;   /* for all of it, of each probe, from its start */
} rollcall_door_batch;

typedef struct rollcall_door_prober {
  uint32_t struct_size;
  uint32_t flags;
  /* [any] Required. */
  int32_t (*create)(const rollcall_setting* settings, uint64_t count, void** self,
                    rollcall_error* error);
  /* [instance] Required. */
  void (*destroy)(void* self);
  /* [instance] Asks every door of the batch, side by side. The exchange is idempotent and without
   * side effect. Returns when every item has its answer. Required. */
  int32_t (*probe)(void* self, const rollcall_door_batch* batch, const rollcall_door_sink* sink,
                   const rollcall_call* call, rollcall_error* error);
  /* [instance] Asks every door of the batch to end its session, side by side, and says why in
   * `reason` (UTF-8, may be empty). Only on connections that were admitted with a token, and only
   * where the door named the item's session and says of itself that it can be asked so. NAMED with
   * that session where it accepted; else FAILED, NOT_SUPPORTED where it does not offer it. Null:
   * no door of this kind does. */
  int32_t (*stop)(void* self, const rollcall_door_batch* batch, rollcall_str reason,
                  const rollcall_door_sink* sink, const rollcall_call* call, rollcall_error* error);
} rollcall_door_prober;

#ifdef __cplusplus
}
#endif

#endif /* ROLLCALL_PLUGIN_H */
