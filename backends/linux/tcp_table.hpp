// The kernel's table of TCP sockets: who listens on a port, and who took a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "decode.hpp"
#include "procfs.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// One reading. Not for several threads at once.
class TcpTable {
 public:
  TcpTable(const System& system, const Procfs& procfs) : system_(system), procfs_(procfs) {}
  TcpTable(const TcpTable&) = delete;
  TcpTable& operator=(const TcpTable&) = delete;
  ~TcpTable();

  // Reads every listener on the given ports, by sock_diag(7), else from net/tcp and net/tcp6 of the
  // procfs. False: neither could be read; `why` says so.
  [[nodiscard]] bool read(const std::unordered_set<std::uint16_t>& ports, std::string& why);

  // Every listener that could have taken a connection to `door`.
  [[nodiscard]] std::vector<TcpSocket> candidates(const Endpoint& door) const;

  // The other end of our connection `own` -> `door`: the socket that took it. Its inode is 0 while
  // nobody has accepted it. nullopt: there is none (any more), or it could not be asked.
  [[nodiscard]] std::optional<TcpSocket> accepted(const Endpoint& door, const Endpoint& own);

 private:
  int open_netlink();
  int dump(int family, const std::unordered_set<std::uint16_t>& ports);
  int read_text(const char* file, const std::unordered_set<std::uint16_t>& ports, bool needed);

  const System& system_;
  const Procfs& procfs_;
  int netlink_ = -1;
  bool from_text_ = false;
  std::unordered_multimap<std::uint16_t, TcpSocket> listeners_;    // by port
  std::unordered_multimap<std::uint16_t, TcpSocket> connections_;  // by local port; from text only
};

}  // namespace rollcall::linux_backend
