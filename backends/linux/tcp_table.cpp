#include "tcp_table.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <cstring>
#include <memory>
#include <string_view>

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kMessageRoom = 32768;
constexpr std::size_t kTextLimit = std::size_t{64} << 20;
constexpr std::uint32_t kListenState = 1U << 10;  // TCP_LISTEN, include/net/tcp_states.h
constexpr std::uint32_t kAnyState = 0xFFFFFFFFU;

struct Request {
  struct nlmsghdr head;
  struct inet_diag_req_v2 body;
};

Request make_request(int family, std::uint16_t flags, std::uint32_t states) {
  Request request = {};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  request.head.nlmsg_seq = 1;
  request.body.sdiag_family = static_cast<std::uint8_t>(family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = states;
  request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

Endpoint to_endpoint(int family, const void* address, std::uint16_t port_be) {
  Endpoint endpoint;
  endpoint.port = ntohs(port_be);
  if (family == AF_INET) {
    endpoint.address[10] = endpoint.address[11] = 0xFF;
    std::memcpy(&endpoint.address[12], address, 4);
  } else {
    std::memcpy(endpoint.address.data(), address, 16);
  }
  return endpoint;
}

// INET_DIAG_SKV6ONLY of a v6 listener; a kernel that does not give it may mean either.
bool is_v6_only(const struct nlmsghdr& head, const struct inet_diag_msg& message) {
  const auto* attribute = reinterpret_cast<const struct rtattr*>(&message + 1);
  auto left = static_cast<int>(head.nlmsg_len - NLMSG_LENGTH(sizeof message));
  while (RTA_OK(attribute, left)) {
    if (attribute->rta_type == INET_DIAG_SKV6ONLY && RTA_PAYLOAD(attribute) >= 1) {
      return *static_cast<const std::uint8_t*>(RTA_DATA(attribute)) != 0;
    }
    attribute = RTA_NEXT(attribute, left);
  }
  return false;
}

std::optional<TcpSocket> to_socket(const struct nlmsghdr& head) {
  if (head.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg))) return std::nullopt;
  const auto& message = *static_cast<const struct inet_diag_msg*>(NLMSG_DATA(&head));
  TcpSocket socket;
  socket.local = to_endpoint(message.idiag_family, message.id.idiag_src, message.id.idiag_sport);
  socket.remote = to_endpoint(message.idiag_family, message.id.idiag_dst, message.id.idiag_dport);
  socket.listening = message.idiag_state == 10;
  socket.takes_v4 = message.idiag_family == AF_INET || !is_v6_only(head, message);
  socket.uid = message.idiag_uid;
  socket.inode = message.idiag_inode;
  return socket;
}

// Sends a request and hands each answering socket to `take`. 0, or errno; EINTR: the table changed
// under the dump.
template <class Take>
int converse(const System& system, int netlink, const Request& request, bool is_dump, Take take) {
  if (system.send(netlink, &request, sizeof request, 0) < 0) return errno;
  const auto buffer = std::make_unique<std::uint32_t[]>(kMessageRoom / sizeof(std::uint32_t));
  bool torn = false;
  for (;;) {
    const ssize_t got = system.recv(netlink, buffer.get(), kMessageRoom, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    auto left = static_cast<unsigned>(got);
    const auto* head = reinterpret_cast<const struct nlmsghdr*>(buffer.get());
    if (!NLMSG_OK(head, left)) return EPROTO;
    for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
      torn = torn || (head->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      if (head->nlmsg_type == NLMSG_DONE) return torn ? EINTR : 0;
      if (head->nlmsg_type == NLMSG_ERROR) {
        const int code = static_cast<const struct nlmsgerr*>(NLMSG_DATA(head))->error;
        return code == 0 ? 0 : -code;
      }
      if (const auto socket = to_socket(*head)) take(*socket);
      if (!is_dump) return 0;
    }
  }
}

void put_id(struct inet_diag_sockid& id, int family, const Endpoint& from, const Endpoint& to) {
  const std::size_t at = family == AF_INET ? 12 : 0;
  std::memcpy(id.idiag_src, &from.address[at], 16 - at);
  std::memcpy(id.idiag_dst, &to.address[at], 16 - at);
  id.idiag_sport = htons(from.port);
  id.idiag_dport = htons(to.port);
}

}  // namespace

TcpTable::~TcpTable() {
  if (netlink_ >= 0) system_.close(netlink_);
}

bool TcpTable::read(const std::unordered_set<std::uint16_t>& ports, std::string& why) {
  int error = open_netlink();
  for (const int family : {AF_INET, AF_INET6}) {
    if (error == 0) error = dump(family, ports);
  }
  if (error == 0) return true;
  why = "sock_diag: " + error_text(error);
  listeners_.clear();
  from_text_ = true;
  error = read_text("net/tcp", ports, true);
  if (error == 0) error = read_text("net/tcp6", ports, false);
  if (error == 0) return true;
  why += "; " + procfs_.path() + "/net/tcp: " + error_text(error);
  return false;
}

int TcpTable::open_netlink() {
  netlink_ = system_.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (netlink_ < 0) return errno;
  // The kernel answers at once; the time-out is for a sandbox that does not answer at all.
  const struct timeval limit = {.tv_sec = 1, .tv_usec = 0};
  (void)system_.setsockopt(netlink_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return 0;
}

int TcpTable::dump(int family, const std::unordered_set<std::uint16_t>& ports) {
  constexpr int kTries = 3;
  int error = 0;
  for (int i = 0; i < kTries; ++i) {
    // A listener that stands twice after a torn dump does no harm.
    error = converse(system_, netlink_, make_request(family, NLM_F_DUMP, kListenState), true,
                     [&](const TcpSocket& socket) {
                       if (!socket.listening || ports.count(socket.local.port) == 0) return;
                       listeners_.emplace(socket.local.port, socket);
                     });
    if (error != EINTR) break;
  }
  // No IPv6 in this kernel: nobody listens there.
  return family == AF_INET6 && error == ENOENT ? 0 : error;
}

int TcpTable::read_text(const char* file, const std::unordered_set<std::uint16_t>& ports,
                        bool needed) {
  std::string text;
  const int error = procfs_.read_file(file, kTextLimit, text);
  if (error == ENOENT && !needed) return 0;
  if (error != 0) return error;
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    const auto socket = decode_net_tcp(line);
    if (!socket || ports.count(socket->local.port) == 0) continue;
    (socket->listening ? listeners_ : connections_).emplace(socket->local.port, *socket);
  }
  return 0;
}

std::vector<TcpSocket> TcpTable::candidates(const Endpoint& door) const {
  std::vector<TcpSocket> found;
  const auto [first, last] = listeners_.equal_range(door.port);
  for (auto it = first; it != last; ++it) {
    if (could_have_taken(it->second, door)) found.push_back(it->second);
  }
  return found;
}

std::optional<TcpSocket> TcpTable::accepted(const Endpoint& door, const Endpoint& own) {
  const auto is_it = [&](const TcpSocket& socket) {
    return !socket.listening && socket.local == door && socket.remote == own;
  };
  if (from_text_) {
    const auto [first, last] = connections_.equal_range(door.port);
    for (auto it = first; it != last; ++it) {
      if (is_it(it->second)) return it->second;
    }
    return std::nullopt;
  }
  const int family = is_v4(door) ? AF_INET : AF_INET6;
  Request request = make_request(family, 0, kAnyState);
  put_id(request.body.id, family, door, own);
  std::optional<TcpSocket> found;
  (void)converse(system_, netlink_, request, false, [&](const TcpSocket& socket) {
    if (is_it(socket)) found = socket;
  });
  return found;
}

}  // namespace rollcall::linux_backend
