// One connection of the session's own door, with an end in time and in bytes.
#pragma once

#include <cstdint>

#include "doors/session_socket.hpp"

namespace Poco::Net {
class SocketImpl;
}

namespace rollcall::doors {

// Takes the socket over. `send_flags` go with each send. The caller gives the result to a socket
// object of Poco's, which owns it from then on. The time begins when a thread takes the connection
// up, not while it waits for one; over a bound its calls throw.
[[nodiscard]] Poco::Net::SocketImpl* bounded_connection(std::intptr_t socket, int send_flags,
                                                        const ConnectionBounds& bounds);

}  // namespace rollcall::doors
