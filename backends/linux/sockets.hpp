// Who holds the other end of our connected sockets.
#pragma once

#include "procfs.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// Answers a whole rollcall_socket_batch.
//
// TCP: every listener that could have taken the connection, and the socket that did take it once it
// was accepted, must be among the descriptors of the recorded process or its descendants. So a
// stranger is seen whether he still listens or has accepted and closed his listener. What reads as
// another's is read once more from fresh tables, since a descriptor may move while it is looked
// for. AF_UNIX: the peer's pid (and uid, where the owner's is known) by SO_PEERCRED, and its pidfd
// by SO_PEERPIDFD where the kernel has it, must be the recorded process or a descendant; where an
// ancestor called listen, who holds the socket is unknown. Where the process's descriptors may not
// be read, a readable stranger that holds the socket makes it foreign, and else its uid decides. An
// IPv4 address in IPv6 form (::ffff:127.0.0.1) is not counted as loopback: only 127.0.0.0/8 of an
// IPv4 socket, ::1, and AF_UNIX are. Errors: E_TIMEOUT and E_CANCELLED by the call's bounds.
[[nodiscard]] plugin::Status find_owners(const System& system, const Procfs& procfs,
                                         const plugin::SocketBatch& batch,
                                         const plugin::Call& call);

}  // namespace rollcall::linux_backend
