#include "sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "decode.hpp"
#include "holders.hpp"
#include "memory.hpp"
#include "table.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr int kAttempts = 6;
constexpr std::int64_t kPauseNs = 20'000'000;

using Kin = Tree::Kin;

// A TCP connection whose owner is to be looked up.
struct Connection {
  std::size_t row = 0;  // of the batch
  Endpoint door;
  Endpoint own;
};

template <class... Parts>
void conclude(rollcall_socket_answer& answer, std::uint32_t owner, const Parts&... parts) {
  Text<128> reason;
  (void)(reason << ... << parts);
  answer.owner = owner;
  plugin::set_text(answer.reason, answer.reason_size, reason.view());
}

std::optional<Endpoint> to_endpoint(const struct sockaddr_storage& address) {
  Endpoint endpoint;
  if (address.ss_family == AF_INET) {
    struct sockaddr_in v4 = {};
    std::memcpy(&v4, &address, sizeof v4);
    endpoint.port = ntohs(v4.sin_port);
    endpoint.address[10] = endpoint.address[11] = 0xFF;
    std::memcpy(&endpoint.address[12], &v4.sin_addr, 4);
    return endpoint;
  }
  if (address.ss_family == AF_INET6) {
    struct sockaddr_in6 v6 = {};
    std::memcpy(&v6, &address, sizeof v6);
    endpoint.port = ntohs(v6.sin6_port);
    std::memcpy(endpoint.address.data(), &v6.sin6_addr, 16);
    return endpoint;
  }
  return std::nullopt;
}

bool is_loopback(int family, const Endpoint& endpoint) {
  if (family == AF_INET) return endpoint.address[12] == 127;
  for (std::size_t i = 0; i < 15; ++i) {
    if (endpoint.address[i] != 0) return false;
  }
  return endpoint.address[15] == 1;
}

void set_peer(int family, const Endpoint& endpoint, rollcall_socket_answer& answer) {
  char address[INET6_ADDRSTRLEN] = {};
  const bool v4 = family == AF_INET;
  const auto* bytes = &endpoint.address[v4 ? 12 : 0];
  if (::inet_ntop(family, bytes, address, sizeof address) == nullptr) return;
  Text<64> peer;
  peer << (v4 ? "" : "[") << address << (v4 ? ":" : "]:") << std::int64_t{endpoint.port};
  plugin::set_text(answer.peer, answer.peer_size, peer.view());
}

// The process that listened, or that last used the listening socket, is not known to be the
// recorded one or a descendant.
void answer_other(const rollcall_socket_ask& ask, std::int64_t listener, const Tree& tree,
                  rollcall_socket_answer& answer) {
  if (tree.descends(listener, ask.pid) == Kin::kUnknown) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "pid ", listener,
                    " holds the door; its ancestors could not be read");
  }
  if (tree.is_ancestor(listener, ask.pid) != Kin::kNo) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "pid ", listener,
                    ", perhaps an ancestor, listened; whether it handed the door on is unknown");
  }
  answer.holder_pid = listener;
  conclude(answer, ROLLCALL_OWNER_FOREIGN, "pid ", listener, " listens on the door");
}

void answer_unix(const System& system, const rollcall_socket_ask& ask, const Tree& tree,
                 rollcall_socket_answer& answer) {
  const int socket = static_cast<int>(ask.socket);
  pid_t peer = 0;
  socklen_t size = sizeof peer;
  if (system.getsockopt(socket, SOL_LOCAL, LOCAL_PEERPID, &peer, &size) != 0) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "LOCAL_PEERPID: ", error_text(errno));
  }
  if (size != sizeof peer || peer <= 0) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the peer's pid is not known");
  }
  const std::int64_t listener = peer;
  if (tree.descends(listener, ask.pid) != Kin::kYes) {
    return answer_other(ask, listener, tree, answer);
  }
  uid_t uid = 0;
  gid_t gid = 0;
  if (ask.owner_uid >= 0 && system.getpeereid(socket, &uid, &gid) != 0) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "getpeereid: ", error_text(errno));
  }
  if (ask.owner_uid >= 0 && ask.owner_uid != std::int64_t{uid}) {
    answer.holder_pid = listener;
    return conclude(answer, ROLLCALL_OWNER_FOREIGN, "pid ", listener, " listens as uid ",
                    std::int64_t{uid});
  }
  conclude(answer, ROLLCALL_OWNER_PROCESS, "pid ", listener, " listens (LOCAL_PEERPID)");
}

enum class Kind : std::uint8_t { kAnswered, kUnix, kTcp };

// What the socket itself says.
Kind describe(const System& system, const rollcall_socket_ask& ask, Connection& connection,
              rollcall_socket_answer& answer) {
  struct sockaddr_storage peer = {};
  struct sockaddr_storage own = {};
  socklen_t peer_size = sizeof peer;
  socklen_t own_size = sizeof own;
  if (ask.socket < 0 || ask.socket > INT32_MAX) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "no descriptor can have this number");
    return Kind::kAnswered;
  }
  const int socket = static_cast<int>(ask.socket);
  if (system.getpeername(socket, reinterpret_cast<struct sockaddr*>(&peer), &peer_size) != 0 ||
      system.getsockname(socket, reinterpret_cast<struct sockaddr*>(&own), &own_size) != 0) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the socket is not connected: ", error_text(errno));
    return Kind::kAnswered;
  }
  if (peer.ss_family == AF_UNIX) {
    answer.flags |= ROLLCALL_SOCKET_UNIX | ROLLCALL_SOCKET_LOOPBACK;
    plugin::set_text(answer.peer, answer.peer_size, "unix");
    return Kind::kUnix;
  }
  const auto door = to_endpoint(peer);
  const auto here = to_endpoint(own);
  if (!door || !here) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "a socket of another kind");
    return Kind::kAnswered;
  }
  set_peer(peer.ss_family, *door, answer);
  if (is_loopback(peer.ss_family, *door)) answer.flags |= ROLLCALL_SOCKET_LOOPBACK;
  if (*door == *here) {
    answer.flags |= ROLLCALL_SOCKET_SELF_CONNECT;
    conclude(answer, ROLLCALL_OWNER_FOREIGN, "the socket is connected to itself");
    return Kind::kAnswered;
  }
  connection.door = *door;
  connection.own = *here;
  return Kind::kTcp;
}

// Whether a fresh reading may say more.
enum class Again : std::uint8_t { kNo, kOnce, kWhileUnaccepted };

// A socket of the door's that is not known to be in the family's hands.
struct Other {
  std::int64_t holder = 0;
  Kin ancestor = Kin::kNo;  // of the recorded process
  Kin family = Kin::kNo;    // kUnknown: whether it descends could not be read
};

// What was seen of one connection's door.
struct Sighting {
  bool took = false;      // the family holds the socket that took the connection
  bool at_door = false;   // ... a listener of the door's very address
  bool wildcard = false;  // ... a listener of every address
  std::optional<Other> other;
};

Sighting sight(const Connection& connection, std::int64_t pid, const Holders& holders) {
  Sighting seen;
  for (const Held& held : holders.sockets()) {
    const bool listens = could_have_taken(held.socket, connection.door);
    const bool took = has_taken(held.socket, connection.door, connection.own);
    if (!listens && !took) continue;
    if (holders.family_holds(pid, held.socket.socket)) {
      seen.took = seen.took || took;
      const bool exact = listens && held.socket.local.address == connection.door.address;
      seen.at_door = seen.at_door || exact;
      seen.wildcard = seen.wildcard || (listens && !exact);
    } else if (!seen.other) {
      seen.other = Other{held.pid, holders.tree().is_ancestor(held.pid, pid),
                         holders.tree().descends(held.pid, pid)};
    }
  }
  return seen;
}

// Somebody else was seen to hold a socket of the door.
Again answer_stranger(const rollcall_socket_ask& ask, const Other& other, const Holders& holders,
                      rollcall_socket_answer& answer) {
  if (other.family == Kin::kUnknown) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "pid ", other.holder,
             " holds the door; its ancestors could not be read");
    return Again::kNo;
  }
  if (holders.sight_of(ask.pid) != Holders::Sight::kWhole && other.ancestor != Kin::kNo) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the descriptors of pid ", ask.pid,
             " cannot be read, and pid ", other.holder, ", perhaps an ancestor, holds the door");
    return Again::kNo;
  }
  answer.holder_pid = other.holder;
  conclude(answer, ROLLCALL_OWNER_FOREIGN, "another process, pid ", other.holder,
           ", holds the door");
  return Again::kOnce;
}

Again judge(const rollcall_socket_ask& ask, const Connection& connection, const Holders& holders,
            rollcall_socket_answer& answer) {
  answer.holder_pid = 0;
  const Sighting seen = sight(connection, ask.pid, holders);
  if (seen.other) return answer_stranger(ask, *seen.other, holders, answer);
  if (seen.took || seen.at_door || (seen.wildcard && holders.all_seen())) {
    conclude(answer, ROLLCALL_OWNER_PROCESS, "pid ", ask.pid, " or a descendant holds ",
             seen.took ? "the socket that took the connection" : "every listener there");
    return Again::kNo;
  }
  if (seen.wildcard) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "pid ", ask.pid,
             " listens on every address and has not accepted; others' listeners cannot be seen");
    return Again::kWhileUnaccepted;
  }
  if (holders.sight_of(ask.pid) != Holders::Sight::kWhole) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the descriptors of pid ", ask.pid, " cannot be read");
    return Again::kNo;
  }
  conclude(answer, ROLLCALL_OWNER_UNKNOWN, "no process that can be read holds the door");
  return Again::kOnce;
}

void pause(const System& system, const Bounds& bounds) {
  const auto time = to_timespec(std::min(kPauseNs, bounds.remaining_ns()));
  (void)system.nanosleep(&time, nullptr);
}

// One reading of every process for all connections, and further ones for those that need them.
Status look_up(const System& system, const plugin::SocketBatch& batch, const Bounds& bounds,
               List<Connection>& open) {
  for (int attempt = 0; attempt < kAttempts && open.size() > 0; ++attempt) {
    Holders holders;
    if (auto status = holders.read(system, bounds); !status.ok()) return status;
    std::size_t kept = 0;
    bool waiting = false;
    for (const Connection& connection : open) {
      const std::size_t row = connection.row;
      const Again again = judge(batch.ask(row), connection, holders, batch.answer(row));
      waiting = waiting || again == Again::kWhileUnaccepted;
      const bool keep = again == Again::kWhileUnaccepted || (again == Again::kOnce && attempt == 0);
      if (keep) open[kept++] = connection;
    }
    open.set_size(kept);
    if (waiting) pause(system, bounds);
  }
  return {};
}

}  // namespace

Status find_owners(const System& system, const plugin::SocketBatch& batch, const Bounds& bounds) {
  List<Connection> connections;
  Tree tree;
  bool tree_read = false;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    Connection connection;
    connection.row = row;
    switch (describe(system, batch.ask(row), connection, batch.answer(row))) {
      case Kind::kAnswered:
        break;
      case Kind::kTcp:
        if (!connections.push(connection)) return failed(ROLLCALL_E_NO_MEMORY, 0, "out of memory");
        break;
      case Kind::kUnix:
        if (!tree_read) {
          if (auto status = tree.read(system, bounds); !status.ok()) return status;
          tree_read = true;
        }
        answer_unix(system, batch.ask(row), tree, batch.answer(row));
        break;
    }
  }
  return look_up(system, batch, bounds, connections);
}

}  // namespace rollcall::macos_backend
