// Who holds the other end of our connected sockets.
#pragma once

#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::windows_backend {

// Answers a whole rollcall_socket_batch, from one reading of the TCP tables after the call began.
//
// Every listener that could have taken the connection, and the socket that did take it, must be the
// recorded process's or a descendant's by the table's owner pid. What reads as another's is read
// once more from fresh tables. A door that pid 4 (System) holds is HTTP.sys's, and for whom it
// listens does not stand there: unknown. AF_UNIX is unknown: Windows vouches for no peer of it.
// Errors: E_TIMEOUT and E_CANCELLED by the call's bounds.
[[nodiscard]] plugin::Status find_owners(const System& system, const plugin::SocketBatch& batch,
                                         const plugin::Call& call);

}  // namespace rollcall::windows_backend
