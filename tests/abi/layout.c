/* The layout of plugin ABI 1.0 on 64-bit platforms, as it was published. A line of this file never
 * changes; what a later minor appends gets lines of its own, and the sizes of tables and of structs
 * that carry their size may then grow. */
#include <stddef.h>

#include "rollcall/plugin.h"

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)

_Static_assert(sizeof(void*) == 8, "64-bit platforms");

SIZE(rollcall_str, 16);
AT(rollcall_str, data, 0);
AT(rollcall_str, size, 8);

SIZE(rollcall_error, 512);
AT(rollcall_error, struct_size, 0);
AT(rollcall_error, code, 4);
AT(rollcall_error, os_code, 8);
AT(rollcall_error, message, 16);

SIZE(rollcall_call, 32);
AT(rollcall_call, struct_size, 0);
AT(rollcall_call, reserved, 4);
AT(rollcall_call, deadline_ns, 8);
AT(rollcall_call, context, 16);
AT(rollcall_call, cancelled, 24);

SIZE(rollcall_setting, 32);
AT(rollcall_setting, key, 0);
AT(rollcall_setting, value, 16);

SIZE(rollcall_sink, 24);
AT(rollcall_sink, struct_size, 0);
AT(rollcall_sink, reserved, 4);
AT(rollcall_sink, context, 8);
AT(rollcall_sink, write, 16);

SIZE(rollcall_host, 40);
AT(rollcall_host, struct_size, 0);
AT(rollcall_host, abi_major, 4);
AT(rollcall_host, abi_minor, 8);
AT(rollcall_host, reserved, 12);
AT(rollcall_host, context, 16);
AT(rollcall_host, monotonic_now_ns, 24);
AT(rollcall_host, log, 32);

SIZE(rollcall_entry, 80);
AT(rollcall_entry, magic, 0);
AT(rollcall_entry, struct_size, 8);
AT(rollcall_entry, abi_major, 12);
AT(rollcall_entry, abi_minor, 16);
AT(rollcall_entry, abi_minor_required, 20);
AT(rollcall_entry, flags, 24);
AT(rollcall_entry, reserved, 28);
AT(rollcall_entry, id, 32);
AT(rollcall_entry, version, 40);
AT(rollcall_entry, vendor, 48);
AT(rollcall_entry, init, 56);
AT(rollcall_entry, deinit, 64);
AT(rollcall_entry, get_interface, 72);

SIZE(rollcall_ask, 16);
AT(rollcall_ask, pid, 0);
AT(rollcall_ask, wants, 8);
AT(rollcall_ask, reserved, 12);

SIZE(rollcall_observation, 248);
AT(rollcall_observation, pid, 0);
AT(rollcall_observation, presence, 8);
AT(rollcall_observation, flags, 12);
AT(rollcall_observation, exact_id, 16);
AT(rollcall_observation, start_unix_ns, 24);
AT(rollcall_observation, age_ns, 32);
AT(rollcall_observation, os_code, 40);
AT(rollcall_observation, start_token_size, 48);
AT(rollcall_observation, reason_size, 52);
AT(rollcall_observation, start_token, 56);
AT(rollcall_observation, reason, 120);

SIZE(rollcall_observe_batch, 40);
AT(rollcall_observe_batch, struct_size, 0);
AT(rollcall_observe_batch, ask_stride, 4);
AT(rollcall_observe_batch, observation_stride, 8);
AT(rollcall_observe_batch, reserved, 12);
AT(rollcall_observe_batch, count, 16);
AT(rollcall_observe_batch, asks, 24);
AT(rollcall_observe_batch, observations, 32);

SIZE(rollcall_whoami, 832);
AT(rollcall_whoami, struct_size, 0);
AT(rollcall_whoami, boot_rule, 4);
AT(rollcall_whoami, pid, 8);
AT(rollcall_whoami, exact_id, 16);
AT(rollcall_whoami, uid, 24);
AT(rollcall_whoami, start_token_size, 32);
AT(rollcall_whoami, boot_id_size, 36);
AT(rollcall_whoami, machine_id_size, 40);
AT(rollcall_whoami, nodename_size, 44);
AT(rollcall_whoami, pid_namespace_size, 48);
AT(rollcall_whoami, time_namespace_size, 52);
AT(rollcall_whoami, start_token_why_size, 56);
AT(rollcall_whoami, boot_id_why_size, 60);
AT(rollcall_whoami, start_token, 64);
AT(rollcall_whoami, boot_id, 128);
AT(rollcall_whoami, machine_id, 192);
AT(rollcall_whoami, nodename, 256);
AT(rollcall_whoami, pid_namespace, 512);
AT(rollcall_whoami, time_namespace, 544);
AT(rollcall_whoami, start_token_why, 576);
AT(rollcall_whoami, boot_id_why, 704);

SIZE(rollcall_pid_sink, 24);
AT(rollcall_pid_sink, struct_size, 0);
AT(rollcall_pid_sink, reserved, 4);
AT(rollcall_pid_sink, context, 8);
AT(rollcall_pid_sink, pid, 16);

SIZE(rollcall_socket_ask, 24);
AT(rollcall_socket_ask, socket, 0);
AT(rollcall_socket_ask, pid, 8);
AT(rollcall_socket_ask, owner_uid, 16);

SIZE(rollcall_socket_answer, 216);
AT(rollcall_socket_answer, owner, 0);
AT(rollcall_socket_answer, flags, 4);
AT(rollcall_socket_answer, holder_pid, 8);
AT(rollcall_socket_answer, peer_size, 16);
AT(rollcall_socket_answer, reason_size, 20);
AT(rollcall_socket_answer, peer, 24);
AT(rollcall_socket_answer, reason, 88);

SIZE(rollcall_socket_batch, 40);
AT(rollcall_socket_batch, struct_size, 0);
AT(rollcall_socket_batch, ask_stride, 4);
AT(rollcall_socket_batch, answer_stride, 8);
AT(rollcall_socket_batch, reserved, 12);
AT(rollcall_socket_batch, count, 16);
AT(rollcall_socket_batch, asks, 24);
AT(rollcall_socket_batch, answers, 32);

SIZE(rollcall_process_probe, 64);
AT(rollcall_process_probe, struct_size, 0);
AT(rollcall_process_probe, flags, 4);
AT(rollcall_process_probe, create, 8);
AT(rollcall_process_probe, destroy, 16);
AT(rollcall_process_probe, observe, 24);
AT(rollcall_process_probe, whoami, 32);
AT(rollcall_process_probe, list, 40);
AT(rollcall_process_probe, read, 48);
AT(rollcall_process_probe, port_owner, 56);

SIZE(rollcall_judge, 24);
AT(rollcall_judge, struct_size, 0);
AT(rollcall_judge, wants, 4);
AT(rollcall_judge, context, 8);
AT(rollcall_judge, judge, 16);

SIZE(rollcall_signal_outcome, 184);
AT(rollcall_signal_outcome, struct_size, 0);
AT(rollcall_signal_outcome, outcome, 4);
AT(rollcall_signal_outcome, os_code, 8);
AT(rollcall_signal_outcome, reason_size, 16);
AT(rollcall_signal_outcome, reserved, 20);
AT(rollcall_signal_outcome, reason, 24);

SIZE(rollcall_exit, 128);
AT(rollcall_exit, kind, 0);
AT(rollcall_exit, value, 4);
AT(rollcall_exit, why_size, 8);
AT(rollcall_exit, reserved, 12);
AT(rollcall_exit, why, 16);

SIZE(rollcall_shot, 16);
AT(rollcall_shot, signal, 0);
AT(rollcall_shot, reserved, 4);
AT(rollcall_shot, after_ns, 8);

SIZE(rollcall_stop_plan, 24);
AT(rollcall_stop_plan, struct_size, 0);
AT(rollcall_stop_plan, flags, 4);
AT(rollcall_stop_plan, shots, 8);
AT(rollcall_stop_plan, shot_count, 16);

SIZE(rollcall_stop_member, 464);
AT(rollcall_stop_member, struct_size, 0);
AT(rollcall_stop_member, state, 4);
AT(rollcall_stop_member, pid, 8);
AT(rollcall_stop_member, parent_pid, 16);
AT(rollcall_stop_member, shots, 24);
AT(rollcall_stop_member, flags, 28);
AT(rollcall_stop_member, start_token_size, 32);
AT(rollcall_stop_member, name_size, 36);
AT(rollcall_stop_member, reason_size, 40);
AT(rollcall_stop_member, reserved, 44);
AT(rollcall_stop_member, start_token, 48);
AT(rollcall_stop_member, name, 112);
AT(rollcall_stop_member, reason, 176);
AT(rollcall_stop_member, exit, 336);

SIZE(rollcall_stop_sink, 24);
AT(rollcall_stop_sink, struct_size, 0);
AT(rollcall_stop_sink, reserved, 4);
AT(rollcall_stop_sink, context, 8);
AT(rollcall_stop_sink, member, 16);

SIZE(rollcall_stop_outcome, 328);
AT(rollcall_stop_outcome, struct_size, 0);
AT(rollcall_stop_outcome, outcome, 4);
AT(rollcall_stop_outcome, end, 8);
AT(rollcall_stop_outcome, contained, 12);
AT(rollcall_stop_outcome, os_code, 16);
AT(rollcall_stop_outcome, shots, 24);
AT(rollcall_stop_outcome, flags, 28);
AT(rollcall_stop_outcome, reason_size, 32);
AT(rollcall_stop_outcome, reserved, 36);
AT(rollcall_stop_outcome, reason, 40);
AT(rollcall_stop_outcome, exit, 200);

SIZE(rollcall_await_outcome, 304);
AT(rollcall_await_outcome, struct_size, 0);
AT(rollcall_await_outcome, outcome, 4);
AT(rollcall_await_outcome, flags, 8);
AT(rollcall_await_outcome, reason_size, 12);
AT(rollcall_await_outcome, reason, 16);
AT(rollcall_await_outcome, exit, 176);

SIZE(rollcall_process_control, 48);
AT(rollcall_process_control, struct_size, 0);
AT(rollcall_process_control, flags, 4);
AT(rollcall_process_control, create, 8);
AT(rollcall_process_control, destroy, 16);
AT(rollcall_process_control, signal, 24);
AT(rollcall_process_control, await_exit, 32);
AT(rollcall_process_control, stop, 40);

SIZE(rollcall_watch_outcome, 184);
AT(rollcall_watch_outcome, struct_size, 0);
AT(rollcall_watch_outcome, outcome, 4);
AT(rollcall_watch_outcome, os_code, 8);
AT(rollcall_watch_outcome, reason_size, 16);
AT(rollcall_watch_outcome, reserved, 20);
AT(rollcall_watch_outcome, reason, 24);

SIZE(rollcall_watch_event, 272);
AT(rollcall_watch_event, id, 0);
AT(rollcall_watch_event, kind, 8);
AT(rollcall_watch_event, name_size, 12);
AT(rollcall_watch_event, name, 16);

SIZE(rollcall_watch_batch, 32);
AT(rollcall_watch_batch, struct_size, 0);
AT(rollcall_watch_batch, event_stride, 4);
AT(rollcall_watch_batch, capacity, 8);
AT(rollcall_watch_batch, count, 16);
AT(rollcall_watch_batch, events, 24);

SIZE(rollcall_watch, 64);
AT(rollcall_watch, struct_size, 0);
AT(rollcall_watch, flags, 4);
AT(rollcall_watch, create, 8);
AT(rollcall_watch, destroy, 16);
AT(rollcall_watch, add_process, 24);
AT(rollcall_watch, add_directory, 32);
AT(rollcall_watch, remove, 40);
AT(rollcall_watch, wait, 48);
AT(rollcall_watch, wake, 56);

SIZE(rollcall_store_entry, 80);
AT(rollcall_store_entry, struct_size, 0);
AT(rollcall_store_entry, reserved, 4);
AT(rollcall_store_entry, owner_uid, 8);
AT(rollcall_store_entry, name, 16);
AT(rollcall_store_entry, version, 32);
AT(rollcall_store_entry, bytes, 48);
AT(rollcall_store_entry, problem, 64);

SIZE(rollcall_store_sink, 24);
AT(rollcall_store_sink, struct_size, 0);
AT(rollcall_store_sink, reserved, 4);
AT(rollcall_store_sink, context, 8);
AT(rollcall_store_sink, entry, 16);

SIZE(rollcall_record_store, 64);
AT(rollcall_record_store, struct_size, 0);
AT(rollcall_record_store, flags, 4);
AT(rollcall_record_store, create, 8);
AT(rollcall_record_store, destroy, 16);
AT(rollcall_record_store, list, 24);
AT(rollcall_record_store, read, 32);
AT(rollcall_record_store, create_if_absent, 40);
AT(rollcall_record_store, replace_if, 48);
AT(rollcall_record_store, remove_if, 56);

SIZE(rollcall_endpoint, 24);
AT(rollcall_endpoint, host, 0);
AT(rollcall_endpoint, port, 16);
AT(rollcall_endpoint, reserved, 20);

SIZE(rollcall_door_item, 80);
AT(rollcall_door_item, session_id, 0);
AT(rollcall_door_item, kind, 16);
AT(rollcall_door_item, authority, 32);
AT(rollcall_door_item, endpoints, 48);
AT(rollcall_door_item, endpoint_count, 56);
AT(rollcall_door_item, settings, 64);
AT(rollcall_door_item, setting_count, 72);

SIZE(rollcall_door_answer, 56);
AT(rollcall_door_answer, struct_size, 0);
AT(rollcall_door_answer, outcome, 4);
AT(rollcall_door_answer, reason, 8);
AT(rollcall_door_answer, http_status, 12);
AT(rollcall_door_answer, elapsed_ns, 16);
AT(rollcall_door_answer, named, 24);
AT(rollcall_door_answer, detail, 40);

SIZE(rollcall_connected, 16);
AT(rollcall_connected, item, 0);
AT(rollcall_connected, socket, 8);

SIZE(rollcall_admission, 24);
AT(rollcall_admission, admitted, 0);
AT(rollcall_admission, has_token, 4);
AT(rollcall_admission, token, 8);

SIZE(rollcall_door_sink, 32);
AT(rollcall_door_sink, struct_size, 0);
AT(rollcall_door_sink, reserved, 4);
AT(rollcall_door_sink, context, 8);
AT(rollcall_door_sink, admit, 16);
AT(rollcall_door_sink, answer, 24);

SIZE(rollcall_door_batch, 40);
AT(rollcall_door_batch, struct_size, 0);
AT(rollcall_door_batch, item_stride, 4);
AT(rollcall_door_batch, count, 8);
AT(rollcall_door_batch, items, 16);
AT(rollcall_door_batch, connect_timeout_ns, 24);
AT(rollcall_door_batch, total_timeout_ns, 32);

SIZE(rollcall_door_prober, 40);
AT(rollcall_door_prober, struct_size, 0);
AT(rollcall_door_prober, flags, 4);
AT(rollcall_door_prober, create, 8);
AT(rollcall_door_prober, destroy, 16);
AT(rollcall_door_prober, probe, 24);
AT(rollcall_door_prober, stop, 32);

/* What is a number on the wire between two builds. */
#define VALUE(name, value) _Static_assert((name) == (value), #name)

VALUE(ROLLCALL_ABI_MAJOR, 1u);
VALUE(ROLLCALL_OK, 0);
VALUE(ROLLCALL_E_INVALID, (-1));
VALUE(ROLLCALL_E_IO, (-2));
VALUE(ROLLCALL_E_DENIED, (-3));
VALUE(ROLLCALL_E_UNSUPPORTED, (-4));
VALUE(ROLLCALL_E_TIMEOUT, (-5));
VALUE(ROLLCALL_E_CANCELLED, (-6));
VALUE(ROLLCALL_E_NOT_FOUND, (-7));
VALUE(ROLLCALL_E_EXISTS, (-8));
VALUE(ROLLCALL_E_CONFLICT, (-9));
VALUE(ROLLCALL_E_CORRUPT, (-10));
VALUE(ROLLCALL_E_TOO_LARGE, (-11));
VALUE(ROLLCALL_E_INTERNAL, (-12));
VALUE(ROLLCALL_E_NO_MEMORY, (-13));
VALUE(ROLLCALL_E_INCOMPATIBLE, (-14));
VALUE(ROLLCALL_TABLE_CONCURRENT, 1u);
VALUE(ROLLCALL_LOG_ERROR, 0);
VALUE(ROLLCALL_LOG_WARNING, 1);
VALUE(ROLLCALL_LOG_INFO, 2);
VALUE(ROLLCALL_LOG_DEBUG, 3);
VALUE(ROLLCALL_WANT_START_TOKEN, 1u);
VALUE(ROLLCALL_WANT_EXACT_ID, 2u);
VALUE(ROLLCALL_WANT_STATE, 4u);
VALUE(ROLLCALL_WANT_AGE, 8u);
VALUE(ROLLCALL_WANT_EXACT_SUFFICES, 16u);
VALUE(ROLLCALL_PRESENCE_UNREADABLE, 0u);
VALUE(ROLLCALL_PRESENCE_PRESENT, 1u);
VALUE(ROLLCALL_PRESENCE_EXITED, 2u);
VALUE(ROLLCALL_PRESENCE_ABSENT, 3u);
VALUE(ROLLCALL_OBS_START_TOKEN, 1u);
VALUE(ROLLCALL_OBS_EXACT_ID, 2u);
VALUE(ROLLCALL_OBS_STATE, 4u);
VALUE(ROLLCALL_OBS_SUSPENDED, 8u);
VALUE(ROLLCALL_OBS_AGE, 16u);
VALUE(ROLLCALL_OBS_START_TIME, 32u);
VALUE(ROLLCALL_OBS_THREAD, 64u);
VALUE(ROLLCALL_BOOT_EXACT, 0u);
VALUE(ROLLCALL_BOOT_WITHIN_120_S, 1u);
VALUE(ROLLCALL_BOOT_EQUAL_ONLY, 2u);
VALUE(ROLLCALL_READ_COMMAND, 1u);
VALUE(ROLLCALL_READ_ENVIRONMENT, 2u);
VALUE(ROLLCALL_READ_CWD, 3u);
VALUE(ROLLCALL_READ_PARENT, 4u);
VALUE(ROLLCALL_READ_NAME, 5u);
VALUE(ROLLCALL_READ_USERS, 6u);
VALUE(ROLLCALL_OWNER_UNKNOWN, 0u);
VALUE(ROLLCALL_OWNER_PROCESS, 1u);
VALUE(ROLLCALL_OWNER_UID_ONLY, 2u);
VALUE(ROLLCALL_OWNER_FOREIGN, 3u);
VALUE(ROLLCALL_SOCKET_LOOPBACK, 1u);
VALUE(ROLLCALL_SOCKET_SELF_CONNECT, 2u);
VALUE(ROLLCALL_SOCKET_UNIX, 4u);
VALUE(ROLLCALL_JUDGE_UNVERIFIED, 0u);
VALUE(ROLLCALL_JUDGE_ALIVE, 1u);
VALUE(ROLLCALL_JUDGE_GONE, 2u);
VALUE(ROLLCALL_SIGNAL_TERM, 1u);
VALUE(ROLLCALL_SIGNAL_INT, 2u);
VALUE(ROLLCALL_SIGNAL_HUP, 3u);
VALUE(ROLLCALL_SIGNAL_QUIT, 4u);
VALUE(ROLLCALL_SIGNAL_KILL, 5u);
VALUE(ROLLCALL_SIGNAL_USR1, 6u);
VALUE(ROLLCALL_SIGNAL_USR2, 7u);
VALUE(ROLLCALL_SIGNAL_CONT, 8u);
VALUE(ROLLCALL_SIGNAL_STOP, 9u);
VALUE(ROLLCALL_SIGNAL_REFUSED, 0u);
VALUE(ROLLCALL_SIGNAL_SENT, 1u);
VALUE(ROLLCALL_SIGNAL_ALREADY_GONE, 2u);
VALUE(ROLLCALL_AWAIT_UNKNOWN, 0u);
VALUE(ROLLCALL_AWAIT_ENDED, 1u);
VALUE(ROLLCALL_AWAIT_STILL_THERE, 2u);
VALUE(ROLLCALL_WATCH_UNVERIFIED, 0u);
VALUE(ROLLCALL_WATCH_WATCHED, 1u);
VALUE(ROLLCALL_WATCH_GONE, 2u);
VALUE(ROLLCALL_WATCH_UNSUPPORTED, 3u);
VALUE(ROLLCALL_WATCH_LIMIT, 4u);
VALUE(ROLLCALL_WATCH_EVENT_ENDED, 1u);
VALUE(ROLLCALL_WATCH_EVENT_CHANGED, 2u);
VALUE(ROLLCALL_WATCH_EVENT_LOST, 3u);
VALUE(ROLLCALL_WATCH_EVENT_OVERFLOW, 4u);
VALUE(ROLLCALL_DOOR_FAILED, 0u);
VALUE(ROLLCALL_DOOR_NAMED, 1u);
VALUE(ROLLCALL_DOOR_HELD, 2u);
VALUE(ROLLCALL_DOOR_REFUSED, 1u);
VALUE(ROLLCALL_DOOR_CONNECT_TIMEOUT, 2u);
VALUE(ROLLCALL_DOOR_READ_TIMEOUT, 3u);
VALUE(ROLLCALL_DOOR_CLOSED_EARLY, 4u);
VALUE(ROLLCALL_DOOR_BAD_HTTP, 5u);
VALUE(ROLLCALL_DOOR_HTTP_STATUS, 6u);
VALUE(ROLLCALL_DOOR_RPC_ERROR, 7u);
VALUE(ROLLCALL_DOOR_NOT_JSON, 8u);
VALUE(ROLLCALL_DOOR_NO_SESSION, 9u);
VALUE(ROLLCALL_DOOR_TOKEN_REFUSED, 10u);
VALUE(ROLLCALL_DOOR_TOO_LARGE, 11u);
VALUE(ROLLCALL_DOOR_NOT_SUPPORTED, 12u);
VALUE(ROLLCALL_DOOR_NOT_LOOPBACK, 13u);
VALUE(ROLLCALL_DOOR_BAD_URL, 14u);
VALUE(ROLLCALL_DOOR_TOKEN_MISSING, 15u);
VALUE(ROLLCALL_DOOR_NOT_ADMITTED, 16u);
VALUE(ROLLCALL_PLUGIN_MAGIC, UINT64_C(0x524C43504C554731));

/* The program runs, so that the test says that it was built. */
int main(void) { return 0; }
