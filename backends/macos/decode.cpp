#include "decode.hpp"

#include <arpa/inet.h>
#include <sys/proc.h>

#include <cstring>

namespace rollcall::macos_backend {
namespace {

constexpr std::size_t kV4At = 12;  // where an IPv4 address stands in its mapped form

// Cuts one string off the front; nullopt: it does not end.
std::optional<std::string_view> next_string(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

void map_v4(Endpoint& endpoint, const void* address) {
  endpoint.address.fill(0);
  endpoint.address[10] = endpoint.address[11] = 0xFF;
  std::memcpy(&endpoint.address[kV4At], address, 4);
}

// Ports stand in network order in the low half of an int.
std::uint16_t port_of(int stored) {
  return ntohs(static_cast<std::uint16_t>(static_cast<unsigned>(stored) & 0xFFFFU));
}

}  // namespace

Text<48> start_token(std::uint64_t seconds, std::uint64_t microseconds) {
  Text<48> token;
  if ((seconds == 0 && microseconds == 0) || microseconds >= 1'000'000) return token;
  token.decimal(seconds, 1) << ".";
  token.decimal(microseconds, 6);
  return token;
}

bool has_exited(const proc_bsdinfo& info) { return info.pbi_status == SZOMB; }

bool is_suspended(const proc_bsdinfo& info) { return info.pbi_status == SSTOP; }

std::string_view fixed_text(const char* field, std::size_t size) {
  const std::string_view whole(field, size);
  return whole.substr(0, whole.find('\0'));
}

std::string_view short_name(const proc_bsdinfo& info) {
  const std::string_view name = fixed_text(info.pbi_name, sizeof info.pbi_name);
  return name.empty() ? fixed_text(info.pbi_comm, sizeof info.pbi_comm) : name;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks(" \t\r\n\v\f\0", 7);
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Text<36> uuid_text(const unsigned char (&uuid)[16]) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  Text<36> text;
  for (std::size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text << "-";
    const char digits[] = {kDigits[uuid[i] >> 4], kDigits[uuid[i] & 0xF]};
    text << std::string_view(digits, sizeof digits);
  }
  return text;
}

std::optional<Arguments> decode_arguments(std::string_view area) {
  int count = 0;
  if (area.size() < sizeof count) return std::nullopt;
  std::memcpy(&count, area.data(), sizeof count);
  area.remove_prefix(sizeof count);
  if (count < 0 || static_cast<std::size_t>(count) > area.size()) return std::nullopt;
  if (!next_string(area)) return std::nullopt;  // the program's path
  while (!area.empty() && area.front() == '\0') area.remove_prefix(1);

  Arguments found;
  const char* start = area.data();
  for (int i = 0; i < count; ++i) {
    if (!next_string(area)) return std::nullopt;
  }
  found.command = {start, static_cast<std::size_t>(area.data() - start)};
  found.has_environment = !area.empty();
  start = area.data();
  while (!area.empty() && area.front() != '\0') {
    if (!next_string(area)) return std::nullopt;
  }
  found.environment = {start, static_cast<std::size_t>(area.data() - start)};
  return found;
}

bool is_v4(const Endpoint& endpoint) {
  static constexpr std::uint8_t kMapped[kV4At] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(endpoint.address.data(), kMapped, kV4At) == 0;
}

bool is_wildcard(const Endpoint& endpoint) {
  for (std::size_t i = is_v4(endpoint) ? kV4At : 0; i < endpoint.address.size(); ++i) {
    if (endpoint.address[i] != 0) return false;
  }
  return true;
}

std::optional<TcpSocket> decode_socket(const socket_info& info) {
  if (info.soi_kind != SOCKINFO_TCP || info.soi_so == 0) return std::nullopt;
  const tcp_sockinfo& tcp = info.soi_proto.pri_tcp;
  const in_sockinfo& ip = tcp.tcpsi_ini;
  TcpSocket socket;
  socket.takes_v4 = (ip.insi_vflag & INI_IPV4) != 0;
  if ((ip.insi_vflag & INI_IPV6) != 0) {
    std::memcpy(socket.local.address.data(), &ip.insi_laddr.ina_6, 16);
    std::memcpy(socket.remote.address.data(), &ip.insi_faddr.ina_6, 16);
  } else {
    map_v4(socket.local, &ip.insi_laddr.ina_46.i46a_addr4);
    map_v4(socket.remote, &ip.insi_faddr.ina_46.i46a_addr4);
  }
  socket.local.port = port_of(ip.insi_lport);
  socket.remote.port = port_of(ip.insi_fport);
  socket.listening = tcp.tcpsi_state == TSI_S_LISTEN;
  socket.socket = info.soi_so;
  return socket;
}

bool could_have_taken(const TcpSocket& listener, const Endpoint& door) {
  if (!listener.listening || listener.local.port != door.port) return false;
  if (listener.local.address == door.address) return true;
  if (!is_wildcard(listener.local)) return false;
  const bool v4_listener = is_v4(listener.local);
  if (is_v4(door)) return v4_listener || listener.takes_v4;
  return !v4_listener;
}

bool has_taken(const TcpSocket& socket, const Endpoint& door, const Endpoint& own) {
  return !socket.listening && socket.local == door && socket.remote == own;
}

}  // namespace rollcall::macos_backend
