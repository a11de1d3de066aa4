// A listening socket for Poco's HTTP server whose connections are bounded as a whole: in time and
// in bytes received. Poco's own time-outs begin anew with each byte.
#pragma once

#include <cstdint>
#include <string>

#include "rollcall/result.hpp"

namespace Poco::Net {
class ServerSocket;
}

namespace rollcall::doors {

struct ConnectionBounds {
  std::int64_t total_ms = 3000;             // from accept on
  std::int64_t receive_bytes = 192 * 1024;  // head and body
};

// Listens on 127.0.0.1; port 0: any. Close-on-exec, the accepted sockets too. A connection over a
// bound fails in the hands of the server, which closes it.
// Errors: kIo.
[[nodiscard]] Result<Poco::Net::ServerSocket> listen_on_loopback(std::uint16_t port,
                                                                 const ConnectionBounds& bounds);

// Wakes the server that waits for connections on it: Poco looks only four times a second whether
// it was stopped, and a command that has ended should not wait for that.
void stop_listening(const Poco::Net::ServerSocket& listener);

}  // namespace rollcall::doors
