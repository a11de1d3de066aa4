// Who holds the other end of our connected sockets.
#pragma once

#include "bounds.hpp"
#include "rollcall/plugin_parts.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// Answers a whole rollcall_socket_batch.
//
// TCP: every listener that can be seen and could have taken the connection, and the socket that did
// take it where it can be seen, must be among the descriptors of the recorded process or its
// descendants; and the process must be seen to hold the socket that took it, or a listener of that
// very address, or else every process's descriptors must have been readable. A wildcard listener
// alone waits up to 100 ms for the connection to be accepted. What reads as another's is read once
// more from fresh tables, since a descriptor may move while it is looked for. AF_UNIX: the peer's
// pid by LOCAL_PEERPID (and uid by getpeereid, where the owner's is known) must be the recorded
// process or a descendant; of an ancestor it is unknown. An IPv4 address in IPv6 form
// (::ffff:127.0.0.1) is not counted as loopback: only 127.0.0.0/8 of an IPv4 socket, ::1, and
// AF_UNIX are. The uid of a socket cannot be asked, so UID_ONLY is never the answer.
// Errors: E_TIMEOUT and E_CANCELLED by the call's bounds, E_IO and E_NO_MEMORY.
[[nodiscard]] Status find_owners(const System& system, const plugin::SocketBatch& batch,
                                 const Bounds& bounds);

}  // namespace rollcall::macos_backend
