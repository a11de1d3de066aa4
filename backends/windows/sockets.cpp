#include "sockets.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "processes.hpp"

namespace rollcall::windows_backend {
namespace {

constexpr std::uint32_t kSystemPid = 4;

struct Connection {
  std::size_t row = 0;  // of the batch
  SocketName door;
  SocketName own;
};

void conclude(rollcall_socket_answer& answer, std::uint32_t owner, std::string_view reason) {
  answer.owner = owner;
  plugin::set_text(answer.reason, answer.reason_size, reason);
}

// A TCP connection whose owner is to be looked up; nullopt: it is answered already.
std::optional<Connection> describe(const System& system, std::size_t row,
                                   const rollcall_socket_ask& ask, rollcall_socket_answer& answer) {
  Connection connection{.row = row};
  const Code no_peer = system.peer(ask.socket, connection.door);
  const Code error = no_peer != 0 ? no_peer : system.own(ask.socket, connection.own);
  if (error != 0) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "the socket is not connected: " + error_text(error));
    return std::nullopt;
  }
  if (connection.door.family == Family::kUnix) {
    answer.flags |= ROLLCALL_SOCKET_UNIX | ROLLCALL_SOCKET_LOOPBACK;
    plugin::set_text(answer.peer, answer.peer_size, "unix");
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "Windows vouches for no peer of a Unix socket");
    return std::nullopt;
  }
  if (connection.door.family == Family::kOther) {
    conclude(answer, ROLLCALL_OWNER_UNKNOWN, "a socket of another kind");
    return std::nullopt;
  }
  plugin::set_text(answer.peer, answer.peer_size, show(connection.door));
  if (is_loopback(connection.door)) answer.flags |= ROLLCALL_SOCKET_LOOPBACK;
  if (connection.door.endpoint == connection.own.endpoint) {
    answer.flags |= ROLLCALL_SOCKET_SELF_CONNECT;
    conclude(answer, ROLLCALL_OWNER_FOREIGN, "the socket is connected to itself");
    return std::nullopt;
  }
  return connection;
}

// One reading of what the system knows.
class Tables {
 public:
  explicit Tables(const System& system) : system_(system), processes_(system) {}

  // "" where both tables could be read, else why not.
  std::string read() {
    for (const bool v6 : {false, true}) {
      if (const Code error = system_.tcp_table(v6, sockets_); error != 0) {
        return "the TCP table cannot be read: " + error_text(error);
      }
    }
    if (const Code error = processes_.read(); error != 0) {
      return "the processes cannot be read: " + error_text(error);
    }
    return {};
  }

  void judge(const rollcall_socket_ask& ask, const Connection& connection,
             rollcall_socket_answer& answer) {
    bool any = false;
    std::string unknown;
    for (const TcpRow& socket : sockets_) {
      if (!concerns(socket, connection)) continue;
      any = true;
      if (socket.pid == 0 || (socket.pid == kSystemPid && ask.pid != kSystemPid)) {
        unknown = socket.pid == 0
                      ? "the system does not say whose a listener there is"
                      : "the system itself (HTTP.sys) holds the door, for whom is not known";
        continue;
      }
      switch (processes_.descends(socket.pid, ask.pid)) {
        case ProcessTable::Kin::kYes:
          break;
        case ProcessTable::Kin::kNo:
          return foreign(socket.pid, answer);
        case ProcessTable::Kin::kUnknown:
          unknown = backend::name(socket.pid) + " holds the door; whether " +
                    backend::name(ask.pid) + " is its ancestor could not be told";
          break;
      }
    }
    settle(ask.pid, any, unknown, answer);
  }

 private:
  // A listener that could have taken it, or the socket that did. One that is connected and nobody's
  // (pid 0: it is being closed) says nothing.
  static bool concerns(const TcpRow& socket, const Connection& connection) {
    if (could_have_taken(socket, connection.door.endpoint)) return true;
    return !socket.listening && socket.pid != 0 && socket.local == connection.door.endpoint &&
           socket.remote == connection.own.endpoint;
  }

  static void foreign(std::uint32_t pid, rollcall_socket_answer& answer) {
    answer.holder_pid = pid;
    conclude(answer, ROLLCALL_OWNER_FOREIGN,
             "another process, " + backend::name(pid) + ", holds the door");
  }

  static void settle(std::int64_t pid, bool any, const std::string& unknown,
                     rollcall_socket_answer& answer) {
    if (!any) {
      return conclude(answer, ROLLCALL_OWNER_UNKNOWN, "nobody listens there any more");
    }
    if (!unknown.empty()) return conclude(answer, ROLLCALL_OWNER_UNKNOWN, unknown);
    conclude(answer, ROLLCALL_OWNER_PROCESS,
             backend::name(pid) + " or a descendant holds every listener there");
  }

  const System& system_;
  ProcessTable processes_;
  std::vector<TcpRow> sockets_;
};

plugin::Status look_up(const System& system, const plugin::SocketBatch& batch,
                       const plugin::Call& call, const std::vector<Connection>& connections) {
  Tables tables(system);
  const std::string why = tables.read();
  for (const Connection& connection : connections) {
    if (auto status = call.check(); !status.ok()) return status;
    rollcall_socket_answer& answer = batch.answer(connection.row);
    if (why.empty()) {
      answer.holder_pid = 0;
      tables.judge(batch.ask(connection.row), connection, answer);
    } else {
      conclude(answer, ROLLCALL_OWNER_UNKNOWN, why);
    }
  }
  return {};
}

}  // namespace

plugin::Status find_owners(const System& system, const plugin::SocketBatch& batch,
                           const plugin::Call& call) {
  std::vector<Connection> connections;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    auto connection = describe(system, row, batch.ask(row), batch.answer(row));
    if (connection) connections.push_back(*connection);
  }
  if (connections.empty()) return {};
  if (auto status = look_up(system, batch, call, connections); !status.ok()) return status;
  std::vector<Connection> doubtful;
  for (const Connection& connection : connections) {
    if (batch.answer(connection.row).owner == ROLLCALL_OWNER_FOREIGN) {
      doubtful.push_back(connection);
    }
  }
  return doubtful.empty() ? plugin::Status() : look_up(system, batch, call, doubtful);
}

}  // namespace rollcall::windows_backend
