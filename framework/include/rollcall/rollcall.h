/* Rollcall for hosts in C, and in any language that can call C.
 *
 * The whole of it: open a home, list and prove its sessions, stop one, register one. What the C++
 * headers beside this one offer is more; what both do is the same.
 *
 * Conventions
 *   Result     ROLLCALL_OK or a negative ROLLCALL_E_*; on failure `error`, which may be null, holds
 *              the sentence, and other outputs are untouched. Set error->struct_size before.
 *   Structs    begin with struct_size, which the caller sets to sizeof; they grow at their end.
 *              Zero in a field that is not mentioned means its default.
 *   Strings    null-terminated UTF-8. What a callback is handed is valid until it returns.
 *   Memory     an opaque handle is given back to the function that is named with it. Nothing else
 *              is ever freed.
 *   Bounds     list, verify, stop and register take a deadline and a canceller. Opening, closing
 *              and releasing take neither: they ask no door and wait for no session.
 *   Threads    a registry and a canceller may be used by any thread, concurrently. A registration
 *              belongs to one thread at a time.
 *   Exceptions never leave a function. A callback must not throw or longjmp through one.
 */
#ifndef ROLLCALL_ROLLCALL_H
#define ROLLCALL_ROLLCALL_H

#include <stdint.h>

#include "rollcall/plugin.h" /* rollcall_error and the ROLLCALL_E_* codes */

#if defined(ROLLCALL_STATIC)
#define ROLLCALL_C_API
#elif defined(_WIN32)
#if defined(ROLLCALL_BUILDING)
#define ROLLCALL_C_API __declspec(dllexport)
#else
#define ROLLCALL_C_API __declspec(dllimport)
#endif
#else
#define ROLLCALL_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Codes that only a host meets, beside those of plugin.h. UNREADABLE: it is there and could not be
 * read, which is no evidence either way. */
#define ROLLCALL_E_UNREADABLE (-101)
#define ROLLCALL_E_REFUSED (-102)   /* a safety rule forbids the act */
#define ROLLCALL_E_AMBIGUOUS (-103) /* the name fits more than one */

typedef struct rollcall_registry rollcall_registry;
typedef struct rollcall_registration rollcall_registration;
typedef struct rollcall_canceller rollcall_canceller;

/* "0.1.0" */
ROLLCALL_C_API const char* rollcall_version(void);

/* Gives up the calls that it was handed to, at once and for good. cancel() may be called from a
 * signal handler. */
ROLLCALL_C_API rollcall_canceller* rollcall_canceller_new(void); /* null: no memory */
ROLLCALL_C_API void rollcall_canceller_cancel(rollcall_canceller* canceller);
ROLLCALL_C_API void rollcall_canceller_free(rollcall_canceller* canceller); /* null is nothing */

/* Bounds of one call; a null pointer to it means none. */
typedef struct rollcall_bounds {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t timeout_ms; /* 0: none */
  rollcall_canceller* canceller;
} rollcall_bounds;

/* Bits of rollcall_open_options.flags. */
#define ROLLCALL_OPEN_READ_ONLY 1u      /* nothing is created, changed or removed in the home */
#define ROLLCALL_OPEN_NO_ENVIRONMENT 2u /* ROLLCALL_PLUGIN_PATH is not heeded */

typedef struct rollcall_open_options {
  uint32_t struct_size;
  uint32_t flags;
  const char* home;       /* absolute; required */
  const char* plugin_dir; /* absolute: searched before the installed one; null: only that */
} rollcall_open_options;

/* Loads the platform's backend. The home is created when something is first written to it. */
ROLLCALL_C_API int32_t rollcall_open(const rollcall_open_options* options, rollcall_registry** out,
                                     rollcall_error* error);
/* No call on it may be running. Registrations that it gave out must be released before. */
ROLLCALL_C_API void rollcall_close(rollcall_registry* registry); /* null is nothing */

/* rollcall_session.verdict */
#define ROLLCALL_VERDICT_LIVE 1u        /* all layers hold */
#define ROLLCALL_VERDICT_ALIVE 2u       /* the process is proven, its door was not asked */
#define ROLLCALL_VERDICT_UNREACHABLE 3u /* alive or untellable, and not proven reachable */
#define ROLLCALL_VERDICT_GONE 4u        /* proven not to run any more */

/* One session as it was found. Never null: session_id, name, version, workdir, reason_code,
 * reason. */
typedef struct rollcall_session {
  uint32_t struct_size;
  uint32_t verdict;
  int64_t pid;
  int64_t uptime_s;     /* -1: not known */
  uint32_t is_detached; /* 1: it outlives its launcher */
  uint32_t reserved;
  const char* session_id;
  const char* name;
  const char* version;
  const char* workdir;     /* made strict UTF-8 where it is not */
  const char* url;         /* null: it has no door by url */
  const char* reason_code; /* "none", "no-process", "read-timeout", ...: docs/verdicts.md */
  const char* reason;      /* a sentence, or empty */
} rollcall_session;

/* A negative return ends the listing, which returns it. */
typedef int32_t (*rollcall_session_callback)(void* context, const rollcall_session* session);

/* Bits of rollcall_list's flags. */
#define ROLLCALL_LIST_NO_DOORS 1u /* layers 1 and 2 only */

/* Every session, newest first, gone ones included. Removes nothing. */
ROLLCALL_C_API int32_t rollcall_list(rollcall_registry* registry, uint32_t flags,
                                     rollcall_session_callback callback, void* context,
                                     const rollcall_bounds* bounds, rollcall_error* error);

/* One session by its full id. ROLLCALL_E_NOT_FOUND: it has no record. */
ROLLCALL_C_API int32_t rollcall_verify(rollcall_registry* registry, const char* session_id,
                                       rollcall_session_callback callback, void* context,
                                       const rollcall_bounds* bounds, rollcall_error* error);

/* rollcall_stop_result.outcome */
#define ROLLCALL_STOP_ENDED 1u        /* seen to go */
#define ROLLCALL_STOP_ALREADY_GONE 2u /* nothing was signalled */
#define ROLLCALL_STOP_STILL_THERE 3u  /* signalled, and not seen to go in time */
#define ROLLCALL_STOP_REFUSED 4u /* it could not be told, or not pinned: nothing was signalled */

#define ROLLCALL_STOP_FORCE 1u /* one SIGKILL in place of both SIGTERM */

typedef struct rollcall_stop_result {
  uint32_t struct_size;
  uint32_t outcome;
  uint32_t signals_sent;
  uint32_t reserved;
  int64_t elapsed_ms;
  char reason[256]; /* a sentence, or empty */
} rollcall_stop_result;

/* SIGTERM, another after a second, and 3 s in all; each only to the proven process. */
ROLLCALL_C_API int32_t rollcall_stop(rollcall_registry* registry, const char* session_id,
                                     uint32_t flags, rollcall_stop_result* out,
                                     const rollcall_bounds* bounds, rollcall_error* error);

/* What a session says of itself. */
typedef struct rollcall_new_session {
  uint32_t struct_size;
  uint32_t flags;         /* 0 */
  const char* session_id; /* null: one is made */
  const char* url;        /* "127.0.0.1:4711"; null: no door */
  const char* name;       /* required */
  const char* version;    /* required */
  const char* workdir;    /* null: the current one */
  const char* door_token; /* null: none. A secret: kept in the record only. */
} rollcall_new_session;

/* Records the calling process as a session, for as long as the registration is held. After a fork
 * the child's copy removes nothing. ROLLCALL_E_EXISTS: the id is another's, alive or untellable. */
ROLLCALL_C_API int32_t rollcall_register(rollcall_registry* registry,
                                         const rollcall_new_session* session,
                                         rollcall_registration** out, const rollcall_bounds* bounds,
                                         rollcall_error* error);
/* Valid until the registration is released. */
ROLLCALL_C_API const char* rollcall_registration_id(const rollcall_registration* registration);
/* Removes the record and frees the handle, whatever is returned. ROLLCALL_E_CONFLICT: somebody
 * else's record stands there now, and was left. */
ROLLCALL_C_API int32_t rollcall_registration_release(rollcall_registration* registration,
                                                     rollcall_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ROLLCALL_ROLLCALL_H */
