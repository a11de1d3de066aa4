// The A2A door of a session of our own: names the session on loopback, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rollcall/result.hpp"

namespace rollcall {

// Serves, on 127.0.0.1 and a port that the system chose:
//   GET  /.well-known/agent-card.json and /.well-known/agent.json   the public card
//   POST /   JSON-RPC GetExtendedAgentCard and agent/getAuthenticatedExtendedCard, and session/stop
// The card names the session by the extension `urn:rollcall:ext:session:1`; with a token only the
// extended card does, and it asks for `Authorization: Bearer`. Answers the official A2A client in
// both generations. Refuses any Origin, a Host that is not literal loopback with the port, and a
// POST that is not application/json. Header, body, time and connections are bounded.
// Its descriptors are close-on-exec.
// Threads: open and stop by one; it serves on threads of its own.
class SessionDoor {
 public:
  struct Options {
    std::string session_id;
    std::string name;                   // UTF-8; shown in the card
    std::string version;                // likewise
    std::optional<std::string> token;   // nullopt: the public card names the session
    std::uint16_t port = 0;             // 0: any
    std::int64_t connection_ms = 3000;  // all of one connection, once it is served
    int max_connections = 32;           // served at once; 64 more may wait
    // With a token: `session/stop` is offered, and this is called once its acceptance was sent, by
    // a thread of the door's, with the reason that was given (remote text). Without a token, or
    // without this, it is no method of the door's.
    std::function<void(const std::string& reason)> on_stop;
  };

  // Listens from then on. Errors: kInvalid (id, token), kIo (no port).
  [[nodiscard]] static Result<std::unique_ptr<SessionDoor>> open(Options options);
  // Stops and joins.
  ~SessionDoor();
  SessionDoor(const SessionDoor&) = delete;
  SessionDoor& operator=(const SessionDoor&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // "http://127.0.0.1:PORT": the `url` of the session's record.
  [[nodiscard]] std::string url() const;

 private:
  class Impl;
  explicit SessionDoor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
