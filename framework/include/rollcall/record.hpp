// The record that a session leaves of itself: a hint, never a truth.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/identity.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// A door that is not the default one: its kind and its settings.
struct DoorSpec {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> settings;
  friend bool operator==(const DoorSpec&, const DoorSpec&) = default;
};

struct Record {
  std::string session_id;
  std::optional<std::string> url;  // "host:port" or "http://host:port"; nullopt: null, no door
  ProcessIdentity process;         // pid, process_start, boot_id, exact_id, host_id, namespaces
  std::string name;
  std::string version;
  std::string workdir;  // bytes; stored recoverably where they are not UTF-8
  bool outlives_launcher = false;
  std::string started_at;                 // RFC 3339 UTC; not validated on reading
  std::optional<std::string> door_token;  // a secret
  std::optional<DoorSpec> door;
  std::map<std::string, std::string> metadata;  // strings; other values are kept in `unknown_json`
  std::string unknown_json;  // a JSON object of the keys we do not know, or empty

  [[nodiscard]] bool has_door() const { return url.has_value() || door.has_value(); }
};

inline constexpr std::size_t kMaxRecordBytes = 64 * 1024;
inline constexpr std::string_view kRecordSchema = "rollcall.record/1";

enum class RecordProblem : std::uint8_t { kTorn, kInvalid, kNewerSchema, kNameMismatch };

struct RecordError {
  RecordProblem problem = RecordProblem::kInvalid;
  std::string text;
};

// Reads one record out of a whole file. Strict: every required key once and of its type, one
// document and nothing behind it, UTF-8, at most 64 KiB, bounded depth; a BOM is skipped.
// `expected_id`: the name that the store keeps it under; must agree.
// Pure; any thread.
[[nodiscard]] ROLLCALL_API tl::expected<Record, RecordError> parse_record(
    std::string_view bytes, std::string_view expected_id);

// The file's text, ending in a newline. Unknown keys are written back. Errors: kInvalid, kTooLarge.
[[nodiscard]] ROLLCALL_API Result<std::string> serialize_record(const Record& record);

// A session id is a file name on every file system: [A-Za-z0-9._-], first a letter or digit, no
// trailing dot, 1..128 bytes, no name that Windows reserves, no ending .json, .control or .tmp.
// Errors: kInvalid, with the rule.
[[nodiscard]] ROLLCALL_API Status check_session_id(std::string_view id);

// "ses_" and the 32 hex digits of a UUIDv7. `random`: 10 bytes of OS randomness.
[[nodiscard]] ROLLCALL_API Result<std::string> make_session_id(std::int64_t unix_ns);

// The grammar of a token: visible ASCII, no blanks, 1..4096 bytes. Errors: kInvalid; the message
// never holds the token.
[[nodiscard]] ROLLCALL_API Status check_token(std::string_view token);

}  // namespace rollcall
