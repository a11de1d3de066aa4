#include "rollcall/door_url.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "doors/ip_text.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kMaxUrl = 512;
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https:";

using Parsed = tl::expected<DoorAddress, DoorUrlError>;

tl::unexpected<DoorUrlError> refuse(Reason reason, std::string text) {
  return tl::unexpected<DoorUrlError>(DoorUrlError{reason, std::move(text)});
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char got) {
           return want == static_cast<char>(std::tolower(static_cast<unsigned char>(got)));
         });
}

// 1..65535 in plain decimal; 0: not one.
std::uint16_t parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return 0;
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value > 65535 ? std::uint16_t{0} : static_cast<std::uint16_t>(value);
}

struct HostPort {
  std::string_view host;  // with brackets where it has them
  std::uint16_t port = 0;
};

// Splits "host:port". The host of an IPv6 address stands in brackets.
tl::expected<HostPort, DoorUrlError> split(std::string_view text) {
  std::size_t colon = std::string_view::npos;
  if (!text.empty() && text.front() == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      return refuse(Reason::kBadUrl, "the bracket of its IPv6 address is not closed");
    }
    if (close + 1 < text.size() && text[close + 1] == ':') colon = close + 1;
  } else {
    colon = text.find(':');
  }
  if (colon == std::string_view::npos) {
    return refuse(Reason::kBadUrl, "it has no port; write HOST:PORT");
  }
  const HostPort parts{text.substr(0, colon), parse_port(text.substr(colon + 1))};
  if (parts.port == 0) {
    return refuse(Reason::kBadUrl, "its port is not 1..65535 in plain decimal");
  }
  if (parts.host.empty()) return refuse(Reason::kBadUrl, "it has no host");
  return parts;
}

bool is_host_name(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

// Whether some resolver would take the text for a number: "127.1", "2130706433", "0x7f.1".
bool looks_numeric(std::string_view host) {
  const auto dot = host.find_last_of('.');
  const auto last = dot == std::string_view::npos ? host : host.substr(dot + 1);
  if (last.empty()) return true;  // "127.0.0.1."
  if (starts_with_ignoring_case(last, "0x")) return true;
  return std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_listed(std::string_view host, std::string_view bare, const std::vector<std::string>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& entry) { return entry == host || entry == bare; });
}

Parsed not_loopback(std::string_view host) {
  return refuse(Reason::kNotLoopback,
                std::string(host) + " is not a loopback address; a door is on this machine");
}

Parsed address_of(const HostPort& at, std::vector<std::string> hosts, bool loopback) {
  DoorAddress address;
  address.authority = std::string(at.host) + ":" + std::to_string(at.port);
  address.loopback = loopback;
  for (auto& host : hosts) address.endpoints.push_back(Endpoint{std::move(host), at.port});
  return address;
}

Parsed judge_ipv6(const HostPort& at, const std::vector<std::string>& allow_hosts) {
  const auto bare = at.host.substr(1, at.host.size() - 2);
  if (bare == "::1") return address_of(at, {"::1"}, true);
  const auto groups = parse_ipv6(bare);
  if (!groups) {
    return refuse(Reason::kBadUrl, std::string(at.host) +
                                       " is not a plain IPv6 address (a scope or an embedded IPv4 "
                                       "address is not taken)");
  }
  if (is_ipv6_loopback(*groups)) {
    return refuse(Reason::kBadUrl, "the IPv6 loopback address is written [::1]");
  }
  if (is_ipv6_unspecified(*groups) || !is_listed(at.host, bare, allow_hosts)) {
    return not_loopback(at.host);
  }
  return address_of(at, {std::string(bare)}, false);
}

Parsed judge_name(const HostPort& at, const std::vector<std::string>& allow_hosts) {
  if (at.host == "localhost") return address_of(at, {"127.0.0.1", "::1"}, true);
  if (!is_host_name(at.host)) {
    return refuse(Reason::kBadUrl, "its host holds a character that no address has");
  }
  if (const auto octets = parse_ipv4(at.host)) {
    if ((*octets)[0] == 127) return address_of(at, {std::string(at.host)}, true);
    const bool unspecified = *octets == std::array<std::uint8_t, 4>{};
    if (unspecified || !is_listed(at.host, at.host, allow_hosts)) return not_loopback(at.host);
    return address_of(at, {std::string(at.host)}, false);
  }
  if (looks_numeric(at.host)) {
    return refuse(Reason::kBadUrl,
                  "its address is not written as four plain decimal numbers (127.0.0.1)");
  }
  if (at.host.size() == 9 && starts_with_ignoring_case(at.host, "localhost")) {
    return refuse(Reason::kBadUrl, "localhost is written in lower case");
  }
  if (is_listed(at.host, at.host, allow_hosts)) {
    return refuse(Reason::kNotLoopback, std::string(at.host) +
                                            " is listed in doors.allow_hosts but is a name; list "
                                            "its numeric address: no resolver is ever asked");
  }
  return not_loopback(at.host);
}

}  // namespace

Parsed parse_door_url(std::string_view url, const std::vector<std::string>& allow_hosts) {
  if (url.size() > kMaxUrl) return refuse(Reason::kBadUrl, "it is longer than 512 bytes");
  for (const unsigned char c : url) {
    if (c <= 0x20 || c >= 0x7f) {
      return refuse(Reason::kBadUrl, "it holds a blank, a control byte or a byte beyond ASCII");
    }
  }
  if (starts_with_ignoring_case(url, kHttps)) {
    return refuse(Reason::kNotSupported,
                  "https doors are not supported, and not spoken to in "
                  "plain HTTP");
  }
  if (url.substr(0, kHttp.size()) == kHttp) {
    url.remove_prefix(kHttp.size());
    if (!url.empty() && url.back() == '/') url.remove_suffix(1);
  } else if (url.find("//") != std::string_view::npos) {
    return refuse(Reason::kBadUrl, "its scheme is not http");
  }
  if (url.find('@') != std::string_view::npos) {
    return refuse(Reason::kBadUrl, "it holds a user name (something before an @)");
  }
  if (url.find_first_of("/?#\\") != std::string_view::npos) {
    return refuse(Reason::kBadUrl, "something stands behind its port; write HOST:PORT");
  }
  const auto parts = split(url);
  if (!parts) return tl::unexpected<DoorUrlError>(parts.error());
  if (parts->host.front() == '[') return judge_ipv6(*parts, allow_hosts);
  return judge_name(*parts, allow_hosts);
}

}  // namespace rollcall
