#include "sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "decode.hpp"
#include "holders.hpp"
#include "pidfs.hpp"
#include "tcp_table.hpp"

namespace rollcall::linux_backend {
namespace {

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

struct Connection {
  std::size_t row = 0;  // of the batch
  Endpoint door;
  Endpoint own;
  std::uint64_t foreign_inode = 0;  // what made it foreign
};

void conclude(rollcall_socket_answer& answer, std::uint32_t owner, std::string_view reason) {
  answer.owner = owner;
  plugin::set_text(answer.reason, answer.reason_size, reason);
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

std::string show(int family, const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = family == AF_INET;
  if (::inet_ntop(family, &endpoint.address[v4 ? 12 : 0], text, sizeof text) == nullptr) return {};
  const std::string address = v4 ? std::string(text) : "[" + std::string(text) + "]";
  return address + ":" + std::to_string(endpoint.port);
}

// The pid of the peer's pidfd still stands for the process that listened: it has not exited, or
// the kernel cannot say.
bool peer_is_there(const System& system, int socket) {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (system.getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) != 0) {
    return errno != ESRCH;  // ESRCH: it was reaped
  }
  const Fd pidfd(system, fd);
  return poll_pidfd(system, pidfd.get(), 0) == PidfdState::kRunning;
}

// The process that called listen(2) is not known to be the recorded one or a descendant.
void answer_other(const rollcall_socket_ask& ask, std::int64_t listener, Holders::Kin kin,
                  Holders& holders, rollcall_socket_answer& answer) {
  const std::string who = "pid " + std::to_string(listener);
  if (kin == Holders::Kin::kUnknown) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN,
                    who + " listened on the door; its ancestors could not be read");
  }
  const auto above = holders.is_ancestor(listener, ask.pid);
  if (above == Holders::Kin::kUnknown) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN,
                    who + " listened on the door; the ancestors of pid " + std::to_string(ask.pid) +
                        " could not be read");
  }
  if (above == Holders::Kin::kYes) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN,
                    who + ", an ancestor, called listen; whether it handed the door on is unknown");
  }
  answer.holder_pid = listener;
  conclude(answer, ROLLCALL_OWNER_FOREIGN, who + " listens on the door");
}

void answer_unix(const System& system, const rollcall_socket_ask& ask, Holders& holders,
                 rollcall_socket_answer& answer) {
  answer.flags |= ROLLCALL_SOCKET_UNIX | ROLLCALL_SOCKET_LOOPBACK;
  plugin::set_text(answer.peer, answer.peer_size, "unix");
  struct ucred peer = {};
  socklen_t size = sizeof peer;
  const int socket = static_cast<int>(ask.socket);
  if (system.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "SO_PEERCRED: " + error_text(errno));
  }
  if (peer.pid <= 0) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the peer is not of this pid namespace");
  }
  const std::string who = "pid " + std::to_string(peer.pid);
  if (!peer_is_there(system, socket)) {
    return conclude(answer, ROLLCALL_OWNER_FOREIGN,
                    "the process that listened, " + who + ", has exited; another holds the door");
  }
  if (const auto kin = holders.descends(peer.pid, ask.pid); kin != Holders::Kin::kYes) {
    return answer_other(ask, peer.pid, kin, holders, answer);
  }
  if (ask.owner_uid >= 0 && ask.owner_uid != std::int64_t{peer.uid}) {
    answer.holder_pid = peer.pid;
    return conclude(answer, ROLLCALL_OWNER_FOREIGN,
                    who + " listens as uid " + std::to_string(peer.uid));
  }
  conclude(answer, ROLLCALL_OWNER_PROCESS, who + " listens (SO_PEERCRED)");
}

// A TCP connection whose owner is to be looked up; nullopt: it is answered already.
std::optional<Connection> describe(const System& system, std::size_t row,
                                   const rollcall_socket_ask& ask, Holders& holders,
                                   rollcall_socket_answer& answer) {
  struct sockaddr_storage peer = {};
  struct sockaddr_storage own = {};
  socklen_t peer_size = sizeof peer;
  socklen_t own_size = sizeof own;
  if (ask.socket < 0 || ask.socket > INT32_MAX) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "no descriptor can have this number");
    return std::nullopt;
  }
  const int socket = static_cast<int>(ask.socket);
  if (system.getpeername(socket, reinterpret_cast<struct sockaddr*>(&peer), &peer_size) != 0 ||
      system.getsockname(socket, reinterpret_cast<struct sockaddr*>(&own), &own_size) != 0) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the socket is not connected: " + error_text(errno));
    return std::nullopt;
  }
  if (peer.ss_family == AF_UNIX) {
    answer_unix(system, ask, holders, answer);
    return std::nullopt;
  }
  const auto door = to_endpoint(peer);
  const auto here = to_endpoint(own);
  if (!door || !here) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "a socket of another kind");
    return std::nullopt;
  }
  plugin::set_text(answer.peer, answer.peer_size, show(peer.ss_family, *door));
  if (is_loopback(peer.ss_family, *door)) answer.flags |= ROLLCALL_SOCKET_LOOPBACK;
  if (*door == *here) {
    answer.flags |= ROLLCALL_SOCKET_SELF_CONNECT;
    conclude(answer, ROLLCALL_OWNER_FOREIGN, "the socket is connected to itself");
    return std::nullopt;
  }
  return Connection{.row = row, .door = *door, .own = *here};
}

// Every socket that may answer on this connection.
struct Answering {
  std::vector<TcpSocket> sockets;
};

// How the recorded process stands to one socket, the worst last.
enum class Standing : std::uint8_t { kHeld, kByUid, kUnknown, kForeign };

// The descriptors of the process may not be read. `why` is filled but for kForeign.
Standing stand_unread(const rollcall_socket_ask& ask, const TcpSocket& socket, Holders& holders,
                      std::string& why) {
  const std::string descriptors = "descriptors of pid " + std::to_string(ask.pid);
  switch (holders.other_holder(ask.pid, socket.inode)) {
    case Holders::Other::kStranger:
      return Standing::kForeign;
    case Holders::Other::kAncestor:
      why = descriptors + " cannot be read, and an ancestor of it holds the door";
      return Standing::kUnknown;
    case Holders::Other::kFailed:
      why = descriptors + " cannot be read, and reading the other processes failed";
      return Standing::kUnknown;
    case Holders::Other::kNobody:
      break;
  }
  if (!holders.may_own(ask.pid, socket.uid)) return Standing::kForeign;
  const bool same_uid = ask.owner_uid >= 0 && socket.uid == ask.owner_uid;
  why = descriptors + " cannot be read; the door's uid is " + std::to_string(socket.uid) +
        (same_uid ? "" : ", not known to be the record owner's");
  return same_uid ? Standing::kByUid : Standing::kUnknown;
}

Standing stand(const rollcall_socket_ask& ask, const TcpSocket& socket, Holders& holders,
               std::string& why) {
  const auto held =
      socket.inode == 0 ? Holders::Answer::kNotHeld : holders.holds(ask.pid, socket.inode);
  switch (held) {
    case Holders::Answer::kHeld:
      return Standing::kHeld;
    case Holders::Answer::kNotHeld:
      return Standing::kForeign;
    case Holders::Answer::kUnreadable:
      return stand_unread(ask, socket, holders, why);
    case Holders::Answer::kFailed:
      break;
  }
  why =
      "reading the descriptors of pid " + std::to_string(ask.pid) + " or of its descendants failed";
  return Standing::kUnknown;
}

void judge(const rollcall_socket_ask& ask, const Answering& answering, Holders& holders,
           Connection& connection, rollcall_socket_answer& answer) {
  if (answering.sockets.empty()) {
    return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "nobody listens there any more");
  }
  Standing worst = Standing::kHeld;
  std::string reason =
      "pid " + std::to_string(ask.pid) + " or a descendant holds every listener there";
  for (const TcpSocket& socket : answering.sockets) {
    std::string why;
    const Standing standing = stand(ask, socket, holders, why);
    if (standing == Standing::kForeign) {
      connection.foreign_inode = socket.inode;
      return conclude(answer, ROLLCALL_OWNER_FOREIGN,
                      "another process of uid " + std::to_string(socket.uid) + " holds the door");
    }
    if (standing <= worst) continue;
    worst = standing;
    reason = std::move(why);
  }
  const std::uint32_t owner = worst == Standing::kHeld    ? ROLLCALL_OWNER_PROCESS
                              : worst == Standing::kByUid ? ROLLCALL_OWNER_UID_ONLY
                                                          : ROLLCALL_OWNER_UNKNOWN;
  conclude(answer, owner, reason);
}

// One whole reading for all connections. The tables come first, then who took each connection, and
// the descriptors last, so that a connection accepted meanwhile is found with its holder.
plugin::Status look_up(const System& system, const Procfs& procfs, const plugin::SocketBatch& batch,
                       const plugin::Call& call, Holders& holders,
                       std::vector<Connection>& connections) {
  std::unordered_set<std::uint16_t> ports;
  for (const Connection& connection : connections) ports.insert(connection.door.port);
  TcpTable table(system, procfs);
  std::string why;
  if (!table.read(ports, why)) {
    for (const Connection& connection : connections) {
      conclude(batch.answer(connection.row), ROLLCALL_OWNER_UNKNOWN, why);
    }
    return {};
  }
  std::vector<Answering> answering(connections.size());
  for (std::size_t i = 0; i < connections.size(); ++i) {
    answering[i].sockets = table.candidates(connections[i].door);
    const auto taken = table.accepted(connections[i].door, connections[i].own);
    if (taken && taken->inode != 0) answering[i].sockets.push_back(*taken);
  }
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if (auto status = call.check(); !status.ok()) return status;
    const std::size_t row = connections[i].row;
    judge(batch.ask(row), answering[i], holders, connections[i], batch.answer(row));
  }
  return {};
}

std::vector<Connection> foreign_ones(const plugin::SocketBatch& batch,
                                     const std::vector<Connection>& connections) {
  std::vector<Connection> found;
  for (const Connection& connection : connections) {
    if (batch.answer(connection.row).owner == ROLLCALL_OWNER_FOREIGN) found.push_back(connection);
  }
  return found;
}

}  // namespace

plugin::Status find_owners(const System& system, const Procfs& procfs,
                           const plugin::SocketBatch& batch, const plugin::Call& call) {
  Holders holders(system, procfs, call);
  std::vector<Connection> connections;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    auto connection = describe(system, row, batch.ask(row), holders, batch.answer(row));
    if (connection) connections.push_back(*connection);
  }
  if (connections.empty()) return {};
  if (auto status = look_up(system, procfs, batch, call, holders, connections); !status.ok()) {
    return status;
  }
  auto doubtful = foreign_ones(batch, connections);
  if (doubtful.empty()) return {};
  Holders fresh(system, procfs, call);
  if (auto status = look_up(system, procfs, batch, call, fresh, doubtful); !status.ok()) {
    return status;
  }
  for (const Connection& connection : foreign_ones(batch, doubtful)) {
    batch.answer(connection.row).holder_pid = fresh.anyone(connection.foreign_inode);
  }
  return {};
}

}  // namespace rollcall::linux_backend
