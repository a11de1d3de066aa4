// The one rule of which addresses are doors of this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rollcall/door_prober.hpp"
#include "rollcall/export.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

struct DoorAddress {
  std::string authority;            // "127.0.0.1:80", "[::1]:80", "localhost:80"
  std::vector<Endpoint> endpoints;  // localhost: 127.0.0.1, then ::1
  bool loopback = true;             // false: an operator's doors.allow_hosts names it; no token
};

struct DoorUrlError {
  Reason reason = Reason::kBadUrl;  // kBadUrl, kNotLoopback, kNotSupported (https)
  std::string text;
};

// "host:port" or "http://host:port" with nothing behind it (one "/" at the end is nothing).
// Accepted hosts: 127.0.0.0/8 in canonical dotted form, "[::1]", "localhost" in lower case. A host
// that is none of these is kNotLoopback unless `allow_hosts` names it letter for letter, and then
// it must be a numeric address. Any userinfo, blank, control byte, path, query or odd spelling is
// kBadUrl. No resolver is ever asked. Pure; any thread.
[[nodiscard]] ROLLCALL_API tl::expected<DoorAddress, DoorUrlError> parse_door_url(
    std::string_view url, const std::vector<std::string>& allow_hosts = {});

}  // namespace rollcall
