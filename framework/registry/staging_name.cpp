#include "registry/staging_name.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace rollcall::registry {
namespace {

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::string_view kStagingPrefix = ".w~";
constexpr std::string_view kAsidePrefix = ".a~";
constexpr std::string_view kEnding = ".tmp";
constexpr std::size_t kParts = 8;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '-';
}

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      if (!is_plain(text[at])) return std::nullopt;
      out.push_back(text[at]);
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* end = text.data() + at + 3;
    const auto read = std::from_chars(text.data() + at + 1, end, value, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    out.push_back(static_cast<char>(value));
    at += 2;
  }
  return out;
}

// What stands between `prefix` and the ending.
std::optional<std::string_view> inside(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kEnding)) return std::nullopt;
  if (name.size() < prefix.size() + kEnding.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kEnding.size());
  return name;
}

std::optional<std::string> present(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::string staging_name(std::uint64_t random, const std::optional<ProcessIdentity>& writer) {
  const std::string anonymous = fmt::format("{}{:016x}{}", kStagingPrefix, random, kEnding);
  if (!writer) return anonymous;
  std::string name = fmt::format(
      "{}{:016x}~{}~{}~{}~{}~{}~{}~{}{}", kStagingPrefix, random, writer->pid,
      encode(writer->start_token), encode(writer->boot_id.value_or("")),
      encode(writer->exact_id.value_or("")), encode(writer->pid_namespace.value_or("")),
      encode(writer->time_namespace.value_or("")), encode(writer->host_id.value_or("")), kEnding);
  return name.size() <= kMaxNameBytes ? name : anonymous;
}

std::optional<ProcessIdentity> staging_writer(std::string_view name) {
  auto rest = inside(name, kStagingPrefix);
  if (!rest) return std::nullopt;
  std::vector<std::string> parts;
  while (true) {
    const auto tilde = rest->find('~');
    auto part = decode(rest->substr(0, tilde));
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
    if (tilde == std::string_view::npos) break;
    rest->remove_prefix(tilde + 1);
  }
  if (parts.size() != kParts) return std::nullopt;
  std::int64_t pid = 0;
  const char* end = parts[1].data() + parts[1].size();
  const auto read = std::from_chars(parts[1].data(), end, pid);
  if (read.ec != std::errc{} || read.ptr != end || !is_possible_pid(pid)) return std::nullopt;
  return ProcessIdentity{.pid = pid,
                         .start_token = std::move(parts[2]),
                         .boot_id = present(std::move(parts[3])),
                         .exact_id = present(std::move(parts[4])),
                         .host_id = present(std::move(parts[7])),
                         .pid_namespace = present(std::move(parts[5])),
                         .time_namespace = present(std::move(parts[6]))};
}

bool is_anonymous_staging(std::string_view name) {
  constexpr std::size_t kRandomDigits = 16;
  const auto random = inside(name, kStagingPrefix);
  return random && random->size() == kRandomDigits &&
         random->find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string aside_name(std::uint64_t random, std::string_view file) {
  return fmt::format("{}{}~{:016x}{}", kAsidePrefix, file, random, kEnding);
}

std::optional<std::string_view> aside_file(std::string_view name) {
  const auto rest = inside(name, kAsidePrefix);
  if (!rest) return std::nullopt;
  const auto tilde = rest->rfind('~');
  if (tilde == std::string_view::npos || tilde == 0) return std::nullopt;
  return rest->substr(0, tilde);
}

}  // namespace rollcall::registry
