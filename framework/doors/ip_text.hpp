// Numeric addresses in their strict textual forms. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall {

// Four decimal numbers 0..255 without leading zeros; nothing else (no "127.1", no hex, no octal).
[[nodiscard]] std::optional<std::array<std::uint8_t, 4>> parse_ipv4(std::string_view text);

// Eight groups of 1 to 4 hex digits, "::" once for at least one of them (RFC 4291, 2.2). No scope
// and no embedded IPv4 address.
[[nodiscard]] std::optional<std::array<std::uint16_t, 8>> parse_ipv6(std::string_view text);

[[nodiscard]] bool is_ipv6_loopback(const std::array<std::uint16_t, 8>& groups);
[[nodiscard]] bool is_ipv6_unspecified(const std::array<std::uint16_t, 8>& groups);

}  // namespace rollcall
