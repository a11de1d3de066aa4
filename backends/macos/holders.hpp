// Which process holds which TCP socket, as far as descriptors may be read.
#pragma once

#include <cstdint>

#include "bounds.hpp"
#include "decode.hpp"
#include "memory.hpp"
#include "system.hpp"
#include "table.hpp"

namespace rollcall::macos_backend {

// A TCP socket in a process's hands.
struct Held {
  std::int64_t pid = 0;
  TcpSocket socket;
};

// One reading of every process's descriptors. Not for several threads at once.
class Holders {
 public:
  // How far the descriptors of one process could be read.
  enum class Sight : std::uint8_t {
    kWhole,   // all of them, or it has gone meanwhile
    kHidden,  // refused (EPERM): another user's, or protected
    kFailed,  // otherwise not, or not all
  };

  // Errors: E_IO and E_NO_MEMORY where nothing at all was learnt, and the call's bounds.
  [[nodiscard]] Status read(const System& system, const Bounds& bounds);

  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] const List<Held>& sockets() const { return sockets_; }

  // kFailed too where there was no such process in this reading.
  [[nodiscard]] Sight sight_of(std::int64_t pid) const;

  // Whether the process or a descendant of it is known to hold this socket.
  [[nodiscard]] bool family_holds(std::int64_t pid, std::uint64_t socket) const;

  // Whether every process could be seen whole.
  [[nodiscard]] bool all_seen() const { return all_seen_; }

 private:
  struct Seen {
    std::int64_t pid = 0;
    Sight sight = Sight::kFailed;
  };
  Sight read_process_sockets(const System& system, std::int64_t pid);

  Tree tree_;
  List<Held> sockets_;
  List<Seen> seen_;
  bool all_seen_ = true;
};

}  // namespace rollcall::macos_backend
