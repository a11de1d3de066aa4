#include <winsock2.h>
// winsock2.h comes first.
#include <afunix.h>
#include <mstcpip.h>
#include <windows.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <thread>
#include <unordered_map>

#include "common/net_address.hpp"

namespace rollcall::doors {
namespace {

using detail::is_self_connected;
using detail::raw;

constexpr std::int64_t kNsPerMs = 1'000'000;

SOCKET socket_of(const Socket& socket) { return static_cast<SOCKET>(socket.handle()); }

// Winsock counts its users in a process; a plugin stays loaded to its end and so never goes.
void start_winsock() {
  static const int code = [] {
    WSADATA data{};
    return ::WSAStartup(MAKEWORD(2, 2), &data);
  }();
  (void)code;  // where it failed, the calls below say so
}

Connecting outcome_of(int code, Family family) {
  switch (code) {
    case WSAEWOULDBLOCK:
    case WSAEINPROGRESS:
    case WSAEALREADY:
      return Connecting::kPending;
    case WSAEAFNOSUPPORT:
    case WSAEPROTONOSUPPORT:
    case WSAESOCKTNOSUPPORT:
      return family == Family::kUnix ? Connecting::kUnsupported : Connecting::kRefused;
    case WSAEADDRNOTAVAIL:  // IPv6 switched off; or no free local port
      return family == Family::kIpv6 ? Connecting::kRefused : Connecting::kNoResources;
    case WSAEADDRINUSE:  // no free local port
    case WSAEMFILE:
    case WSAENOBUFS:
    case WSA_NOT_ENOUGH_MEMORY:
    case WSANOTINITIALISED:
      return Connecting::kNoResources;
    case WSAETIMEDOUT:
      return Connecting::kTimedOut;
    default:
      return Connecting::kRefused;
  }
}

// Windows answers a refusal by trying again, half a second apart, for two seconds. On loopback the
// first one is the truth. Older systems do not know the request, and go on as they do.
void refuse_at_once(SOCKET socket) {
  TCP_INITIAL_RTO_PARAMETERS wanted{};
  wanted.Rtt = TCP_INITIAL_RTO_UNSPECIFIED_RTT;
  wanted.MaxSynRetransmissions = TCP_INITIAL_RTO_NO_SYN_RETRANSMISSIONS;
  DWORD size = 0;
  ::WSAIoctl(socket, SIO_TCP_INITIAL_RTO, &wanted, sizeof(wanted), nullptr, 0, &size, nullptr,
             nullptr);
}

bool is_loopback(const Address& address) {
  if (address.family == Family::kIpv4) {
    sockaddr_in v4{};
    std::memcpy(&v4, address.bytes.data(), sizeof(v4));
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == 127;
  }
  if (address.family != Family::kIpv6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address.bytes.data(), sizeof(v6));
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

TransferStep transferred(int count) {
  if (count > 0) return {Transfer::kBytes, static_cast<std::size_t>(count), 0};
  const int code = ::WSAGetLastError();
  const bool again = code == WSAEWOULDBLOCK || code == WSAEINTR || code == WSAENOBUFS;
  return {again ? Transfer::kAgain : Transfer::kBroken, 0, code};
}

int bounded_size(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

// An fd_set of any size: Winsock's is a count and an array, and takes what the count says.
class SocketSet {
 public:
  void clear() { words_.assign(1, 0); }
  void add(SOCKET socket) { words_.push_back(socket); }
  // For select(2); null where it is empty.
  fd_set* for_select() {
    static_assert(offsetof(fd_set, fd_array) == sizeof(SOCKET));
    auto* set = reinterpret_cast<fd_set*>(words_.data());
    set->fd_count = static_cast<u_int>(words_.size() - 1);
    return set->fd_count == 0 ? nullptr : set;
  }
  // Those that select(2) left in it.
  [[nodiscard]] std::span<const SOCKET> left() const {
    const auto* set = reinterpret_cast<const fd_set*>(words_.data());
    return {words_.data() + 1, std::min<std::size_t>(set->fd_count, words_.size() - 1)};
  }

 private:
  std::vector<SOCKET> words_ = std::vector<SOCKET>(1);
};

}  // namespace

std::optional<Address> tcp_address(std::string_view host, std::uint16_t port) {
  return detail::numeric_address(host, port);
}

std::optional<Address> unix_address(std::string_view path) {
  const auto is_separator = [](char c) { return c == '\\' || c == '/'; };
  const bool drive = path.size() > 3 && path[1] == ':' && is_separator(path[2]) &&
                     ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z'));
  if (!drive) return {};
  return detail::path_address(path);
}

void Socket::close() {
  if (handle_ >= 0) ::closesocket(static_cast<SOCKET>(handle_));
  handle_ = -1;
}

// Handles are bounded by memory alone: there is nothing to reserve.
ConnectStep start_connect(const Address& address, std::uint32_t /*reserve*/, Socket& out) {
  start_winsock();
  const SOCKET made = ::WSASocketW(raw(address)->sa_family, SOCK_STREAM, 0, nullptr, 0,
                                   WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) {
    const int code = ::WSAGetLastError();
    return {outcome_of(code, address.family), code};
  }
  Socket socket(static_cast<SocketHandle>(made));
  u_long on = 1;
  if (::ioctlsocket(made, static_cast<long>(FIONBIO), &on) != 0) {
    return {Connecting::kNoResources, ::WSAGetLastError()};
  }
  if (is_loopback(address)) refuse_at_once(made);
  if (::connect(made, raw(address), static_cast<int>(address.size)) != 0) {
    const int code = ::WSAGetLastError();
    const auto outcome = outcome_of(code, address.family);
    if (outcome == Connecting::kPending) out = std::move(socket);
    return {outcome, code};
  }
  if (is_self_connected(made)) return {Connecting::kRefused, 0};
  out = std::move(socket);
  return {Connecting::kConnected, 0};
}

ConnectStep finish_connect(const Socket& socket) {
  int code = 0;
  int size = sizeof(code);
  if (::getsockopt(socket_of(socket), SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&code),
                   &size) != 0) {
    code = ::WSAGetLastError();
  }
  if (code != 0) return {outcome_of(code, Family::kIpv6), code};
  sockaddr_storage peer{};
  int peer_size = sizeof(peer);
  if (::getpeername(socket_of(socket), reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return {Connecting::kRefused, ::WSAGetLastError()};  // it was reset already
  }
  if (is_self_connected(socket_of(socket))) return {Connecting::kRefused, 0};
  return {Connecting::kConnected, 0};
}

TransferStep receive(const Socket& socket, std::span<char> into) {
  const int got = ::recv(socket_of(socket), into.data(), bounded_size(into.size()), 0);
  return got == 0 ? TransferStep{Transfer::kClosed, 0, 0} : transferred(got);
}

TransferStep transmit(const Socket& socket, std::string_view bytes) {
  const int sent = ::send(socket_of(socket), bytes.data(), bounded_size(bytes.size()), 0);
  return sent == 0 ? TransferStep{Transfer::kBytes, 0, 0} : transferred(sent);
}

// In the words that other systems use: Windows has its own in the user's language and code page.
std::string system_text(std::int64_t os_code) {
  switch (os_code) {
    case WSAECONNREFUSED:
      return "Connection refused";
    case WSAECONNRESET:
    case WSAECONNABORTED:
      return "Connection reset by peer";
    case WSAETIMEDOUT:
      return "Connection timed out";
    case WSAEACCES:
      return "Permission denied";
    case WSAENETUNREACH:
      return "Network is unreachable";
    case WSAEHOSTUNREACH:
      return "No route to host";
    case WSAEADDRNOTAVAIL:
      return "Cannot assign requested address";
    default:
      return "Windows Sockets error " + std::to_string(os_code);
  }
}

// select(2) and not WSAPoll, which told of no failed connect before Windows 10 2004.
struct Poller::State {
  struct Watched {
    SOCKET socket;
    std::size_t key;
    bool readable;
    bool writable;
  };
  std::vector<Watched> watched;
  std::unordered_map<SOCKET, std::size_t> places;  // in `watched`
  std::unordered_map<SOCKET, std::size_t> found;   // in what wait() fills
  SocketSet to_read;
  SocketSet to_write;
  SocketSet to_fail;

  void fill_sets();
  Readiness& note(SOCKET socket, std::vector<Readiness>& ready);
};

Poller::Poller(std::unique_ptr<State> state) : state_(std::move(state)) {}
Poller::Poller(Poller&&) noexcept = default;
Poller& Poller::operator=(Poller&&) noexcept = default;
Poller::~Poller() = default;

std::optional<Poller> Poller::open() {
  start_winsock();
  return Poller(std::make_unique<State>());
}

bool Poller::watch(const Socket& socket, std::size_t key, bool readable, bool writable) {
  auto& all = state_->watched;
  const auto [place, is_new] = state_->places.try_emplace(socket_of(socket), all.size());
  if (!is_new) return false;
  all.push_back({socket_of(socket), key, readable, writable});
  return true;
}

void Poller::change(const Socket& socket, std::size_t key, bool readable, bool writable) {
  const auto place = state_->places.find(socket_of(socket));
  if (place == state_->places.end()) return;
  state_->watched[place->second] = {socket_of(socket), key, readable, writable};
}

void Poller::forget(const Socket& socket) {
  const auto place = state_->places.find(socket_of(socket));
  if (place == state_->places.end()) return;
  auto& all = state_->watched;
  all[place->second] = all.back();
  state_->places[all.back().socket] = place->second;
  all.pop_back();
  state_->places.erase(socket_of(socket));
}

// A connect that failed shows in the third set only. A connected socket is not in that: there it
// would mean urgent data, by which a door could keep us busy.
void Poller::State::fill_sets() {
  to_read.clear();
  to_write.clear();
  to_fail.clear();
  for (const Watched& one : watched) {
    if (one.readable) to_read.add(one.socket);
    if (one.writable) to_write.add(one.socket);
    if (one.writable && !one.readable) to_fail.add(one.socket);
  }
}

Readiness& Poller::State::note(SOCKET socket, std::vector<Readiness>& ready) {
  const auto [place, is_new] = found.try_emplace(socket, ready.size());
  if (is_new) ready.push_back({watched[places.at(socket)].key});
  return ready[place->second];
}

void Poller::wait(std::vector<Readiness>& ready, std::int64_t timeout_ns) {
  ready.clear();
  const std::int64_t ms = std::clamp<std::int64_t>((timeout_ns + kNsPerMs - 1) / kNsPerMs, 0,
                                                   std::numeric_limits<int>::max());
  State& state = *state_;
  state.fill_sets();
  timeval patience{};
  patience.tv_sec = static_cast<long>(ms / 1000);
  patience.tv_usec = static_cast<long>(ms % 1000 * 1000);
  fd_set* const reads = state.to_read.for_select();
  fd_set* const writes = state.to_write.for_select();
  fd_set* const fails = state.to_fail.for_select();
  // Winsock does not wait for nothing.
  if (reads == nullptr && writes == nullptr) {
    return std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
  if (::select(0, reads, writes, fails, &patience) <= 0) return;
  state.found.clear();
  for (const SOCKET socket : state.to_read.left()) state.note(socket, ready).readable = true;
  for (const SOCKET socket : state.to_write.left()) state.note(socket, ready).writable = true;
  for (const SOCKET socket : state.to_fail.left()) {
    Readiness& broken = state.note(socket, ready);
    broken.readable = broken.writable = true;
  }
}

}  // namespace rollcall::doors
