// How a session is asked to stop on Windows, which has no SIGTERM: by a named event. A session, or
// the guard that stands for it (as `regtool run` does), makes the event and waits on it; Rollcall's
// Windows backend sets it. Any program may do the same for itself.
//
//   Name      stop_event_name(pid, start_token) of the *recorded* process, whoever listens. The
//             start token in it makes a reused pid's event another event.
//   Kind      auto-reset, not set at first: one wake-up for each asking, and a second asking that
//             comes before the first was seen is the same one.
//   Access    made with a DACL that holds one entry: everything, for the SID of the user who runs
//             it. The backend asks for EVENT_MODIFY_STATE alone.
//   Taken     where CreateEventW says ERROR_ALREADY_EXISTS, the event is somebody else's: close
//             it, say so, and go on without one.
//   Life      as long as a handle is open; close it when the session has ended. The name is not to
//             be made before the process is there, since the start token is in it.
//   Meaning   what SIGTERM means elsewhere: come to an end in your own time. The second may mean
//             "I meant it".
#ifndef ROLLCALL_WINDOWS_STOP_HPP
#define ROLLCALL_WINDOWS_STOP_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace rollcall::plugin {

// ASCII. `Global\`, so that somebody in another logon session, a service or an SSH login, can ask
// too; making an event there wants no privilege.
inline std::string stop_event_name(std::int64_t pid, std::string_view start_token) {
  return "Global\\rollcall-stop-" + std::to_string(pid) + "-" + std::string(start_token);
}

}  // namespace rollcall::plugin

#endif  // ROLLCALL_WINDOWS_STOP_HPP
