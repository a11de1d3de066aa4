#include "regtool/door_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace rollcall::regtool {
namespace {

// sockaddr_un(7): 108 bytes, the last a NUL.
constexpr std::size_t kLongestSocketPath = 107;
constexpr std::size_t kLongestRequestPath = 2048;

bool is_socket_path(std::string_view value) {
  return !value.empty() && value.front() == '/' && value.size() <= kLongestSocketPath;
}

bool is_request_path(std::string_view value) {
  return !value.empty() && value.front() == '/' && value.size() <= kLongestRequestPath &&
         std::all_of(value.begin(), value.end(),
                     [](char byte) { return byte > 0x20 && byte < 0x7F && byte != '#'; });
}

// RFC 6901, section 3.
bool is_json_pointer(std::string_view value) {
  if (!value.empty() && value.front() != '/') return false;
  for (std::size_t at = value.find('~'); at != std::string_view::npos;
       at = value.find('~', at + 1)) {
    if (at + 1 == value.size() || (value[at + 1] != '0' && value[at + 1] != '1')) return false;
  }
  return true;
}

bool is_switch(std::string_view value) { return value == "0" || value == "1"; }

bool is_not_blank(std::string_view value) {
  return value.find_first_not_of(" \t") != std::string_view::npos;
}

struct Setting {
  std::string_view key;
  bool (*is_good)(std::string_view value);
  std::string_view expected;
};

struct Kind {
  std::string_view name;
  bool needs_url;
  Setting settings[2];  // an empty key: none
};

constexpr Kind kKinds[] = {
    {"a2a",
     true,
     {{"legacy_card_path", is_switch, "0 or 1"},
      {"extension_uris", is_not_blank, "URIs separated by blanks"}}},
    {"http",
     true,
     {{"path", is_request_path, "a path of visible ASCII that begins with /"},
      {"pointer", is_json_pointer, "a JSON pointer (RFC 6901), such as /session_id"}}},
    {"tcp", true, {}},
    {"unix",
     false,
     {{"path", is_socket_path, "the absolute path of a socket, of at most 107 bytes"}, {}}},
};

const Kind* find_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::string known_settings(const Kind& kind) {
  std::string out;
  for (const Setting& setting : kind.settings) {
    if (!setting.key.empty()) out.append(out.empty() ? "" : " and ").append(setting.key);
  }
  return out.empty() ? "none" : out;
}

Outcome<void> check_setting(const Kind& kind, const KeyValue& given) {
  for (const Setting& setting : kind.settings) {
    if (setting.key.empty() || setting.key != given.key) continue;
    if (setting.is_good(given.value)) return {};
    return usage_failure(
        fmt::format("--door-set {}={}: it is {}", given.key, given.value, setting.expected),
        given.key);
  }
  return usage_failure(fmt::format("--door-set {}: a {} door has no such setting; it has {}",
                                   given.key, kind.name, known_settings(kind)),
                       given.key);
}

}  // namespace

bool is_own_door_kind(std::string_view kind) { return find_kind(kind) != nullptr; }

Outcome<void> check_door(std::string_view kind, bool has_url,
                         const std::vector<KeyValue>& settings) {
  for (auto at = settings.begin(); at != settings.end(); ++at) {
    const bool twice = std::any_of(settings.begin(), at,
                                   [&](const KeyValue& other) { return other.key == at->key; });
    if (twice) return usage_failure(fmt::format("--door-set {} is given twice", at->key), at->key);
  }
  const Kind* known = find_kind(kind);
  if (known == nullptr) return {};
  for (const KeyValue& setting : settings) {
    if (auto good = check_setting(*known, setting); !good) return good;
  }
  if (known->needs_url && !has_url) {
    return usage_failure(fmt::format("a door of kind {} needs --url HOST:PORT", kind),
                         std::string(kind));
  }
  if (!known->needs_url && has_url) {
    return usage_failure("a unix door has no url; its socket is --door-set path=PATH", "unix");
  }
  if (!known->needs_url && settings.empty()) {
    return usage_failure("a unix door needs its socket: --door-set path=PATH", "unix");
  }
  return {};
}

}  // namespace rollcall::regtool
