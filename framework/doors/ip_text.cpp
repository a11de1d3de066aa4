#include "doors/ip_text.hpp"

#include <algorithm>
#include <vector>

namespace rollcall {
namespace {

std::optional<std::uint8_t> parse_octet(std::string_view text) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) return {};
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (value > 255) return {};
  return static_cast<std::uint8_t>(value);
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return {};
  unsigned value = 0;
  for (const char c : text) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A') + 10;
    } else {
      return {};
    }
    value = value * 16 + digit;
  }
  return static_cast<std::uint16_t>(value);
}

// "a:b:c"; an empty text is no groups at all.
std::optional<std::vector<std::uint16_t>> parse_groups(std::string_view text) {
  std::vector<std::uint16_t> groups;
  while (!text.empty()) {
    const auto colon = text.find(':');
    const auto group = parse_group(text.substr(0, colon));
    if (!group || groups.size() == 8) return {};
    groups.push_back(*group);
    if (colon == std::string_view::npos) return groups;
    text.remove_prefix(colon + 1);
    if (text.empty()) return {};
  }
  return groups;
}

}  // namespace

std::optional<std::array<std::uint8_t, 4>> parse_ipv4(std::string_view text) {
  std::array<std::uint8_t, 4> octets{};
  for (std::size_t i = 0; i < octets.size(); ++i) {
    const auto dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return {};
    const auto octet = parse_octet(text.substr(0, dot));
    if (!octet) return {};
    octets[i] = *octet;
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return octets;
}

std::optional<std::array<std::uint16_t, 8>> parse_ipv6(std::string_view text) {
  std::array<std::uint16_t, 8> result{};
  const auto gap = text.find("::");
  if (gap == std::string_view::npos) {
    const auto groups = parse_groups(text);
    if (!groups || groups->size() != 8) return {};
    std::copy(groups->begin(), groups->end(), result.begin());
    return result;
  }
  const auto left = parse_groups(text.substr(0, gap));
  const auto right = parse_groups(text.substr(gap + 2));
  if (!left || !right || left->size() + right->size() > 7) return {};
  std::copy(left->begin(), left->end(), result.begin());
  std::copy(right->rbegin(), right->rend(), result.rbegin());
  return result;
}

bool is_ipv6_loopback(const std::array<std::uint16_t, 8>& groups) {
  return groups == std::array<std::uint16_t, 8>{0, 0, 0, 0, 0, 0, 0, 1};
}

bool is_ipv6_unspecified(const std::array<std::uint16_t, 8>& groups) {
  return groups == std::array<std::uint16_t, 8>{};
}

}  // namespace rollcall
