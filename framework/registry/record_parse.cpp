// Reading a record. The format and every rule are in docs/record-format.md.
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "registry/json_events.hpp"
#include "registry/json_text.hpp"
#include "registry/record_fields.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace {

using registry::Field;
using registry::JsonKind;
using registry::name_of;
using registry::SchemaRule;

constexpr std::string_view kNewerText = "it is of a newer schema than rollcall.record/1";

// Builds a record out of RapidJSON's events. It reads on after a problem, since a later `schema`
// may say that the record is a newer writer's; the first problem is kept.
class RecordReader final : public registry::JsonEvents<RecordReader> {
 public:
  bool on_key(std::string_view key);
  bool on_scalar(JsonKind kind, std::string_view text);
  bool on_begin(JsonKind kind);
  bool on_end(JsonKind kind);

  // Once the whole document was read.
  tl::expected<Record, RecordError> finish(std::string_view expected_id);
  // Why the reading was ended early.
  RecordError ended_early() const;

 private:
  enum class Place : std::uint8_t { kTop, kDoor, kMetadata };

  void problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }
  void wrong_type(Field field, std::string_view wanted) {
    problem(fmt::format("`{}` is not {}", name_of(field), wanted));
  }
  bool top_key(std::string_view key);
  bool inner_key(std::string_view key);
  void top_scalar(JsonKind kind, std::string_view text);
  void inner_scalar(JsonKind kind, std::string_view text);
  void copied();
  std::string* text_slot(Field field);
  std::optional<std::string>* optional_slot(Field field);
  void take_text(Field field, std::string_view text);
  void take_pid(JsonKind kind, std::string_view text);
  void void_identity();
  void check_whole(std::string_view expected_id);

  Record record_;
  std::string problem_;
  std::uint32_t seen_ = 0;  // a bit for each field
  std::size_t next_field_ = 0;
  std::optional<Field> field_;  // of the top-level value being read; nullopt: unknown
  Place place_ = Place::kTop;
  bool newer_ = false;
  bool identity_is_void_ = false;
  std::string workdir_hex_;
  std::string key_;  // unknown, or a member of door or metadata
  std::set<std::string, std::less<>> unknown_keys_;
  std::set<std::string, std::less<>> inner_keys_;
  // Values that Record has no place for, as JSON members: `"key":value,`.
  registry::JsonCopy copy_;
  std::string unknown_members_;
  std::string unknown_door_;
  std::string unknown_metadata_;
};

void append_member(std::string& members, std::string_view key, std::string_view value) {
  registry::JsonCopy name;
  name.scalar(JsonKind::kString, key);
  members.append(name.text()).append(":").append(value).append(",");
}

std::string as_object(std::string members) {
  if (!members.empty()) members.back() = '}';
  return members.empty() ? "{}" : "{" + members;
}

bool RecordReader::on_key(std::string_view key) {
  if (registry::holds_lone_surrogate(key)) {
    problem("a key holds half of a surrogate pair");
    return false;
  }
  if (copy_.active()) {
    copy_.key(key);
    return true;
  }
  return place_ == Place::kTop ? top_key(key) : inner_key(key);
}

bool RecordReader::top_key(std::string_view key) {
  field_ = registry::find_field(key, next_field_);
  if (!field_) {
    key_ = key;
    if (!unknown_keys_.insert(key_).second) problem("an unknown key stands twice");
    return true;
  }
  const auto index = static_cast<std::size_t>(*field_);
  next_field_ = index + 1;
  const std::uint32_t bit = std::uint32_t{1} << index;
  if ((seen_ & bit) != 0) {
    // Two readers of such a record could act on two different values.
    problem(fmt::format("`{}` stands twice", name_of(*field_)));
    if (*field_ == Field::kSchema) return false;
  }
  seen_ |= bit;
  return true;
}

bool RecordReader::inner_key(std::string_view key) {
  key_ = key;
  if (!inner_keys_.insert(key_).second) {
    problem(fmt::format("a key stands twice in `{}`", name_of(*field_)));
  }
  return true;
}

bool RecordReader::on_scalar(JsonKind kind, std::string_view text) {
  if (depth() == 0) {
    problem("it is not a JSON object");
    return false;
  }
  if (kind == JsonKind::kString && registry::holds_lone_surrogate(text)) {
    problem("a string holds half of a surrogate pair");
    return false;
  }
  if (copy_.active()) {
    copy_.scalar(kind, text);
  } else if (place_ == Place::kTop) {
    top_scalar(kind, text);
  } else {
    inner_scalar(kind, text);
  }
  return true;
}

bool RecordReader::on_begin(JsonKind kind) {
  if (depth() == 1) {
    if (kind != JsonKind::kObject) problem("it is not a JSON object");
    return kind == JsonKind::kObject;
  }
  if (copy_.active() || place_ != Place::kTop || !field_) {
    copy_.begin(kind);
    return true;
  }
  const bool door = *field_ == Field::kDoor;
  if (kind == JsonKind::kObject && (door || *field_ == Field::kMetadata)) {
    place_ = door ? Place::kDoor : Place::kMetadata;
    inner_keys_.clear();
    if (door && !record_.door) record_.door.emplace();
    return true;
  }
  wrong_type(*field_, door || *field_ == Field::kMetadata ? "an object" : "a single value");
  copy_.begin(kind);  // read past it
  return true;
}

bool RecordReader::on_end(JsonKind kind) {
  if (copy_.active()) {
    copy_.end(kind);
    if (!copy_.active()) copied();
  } else {
    place_ = Place::kTop;
  }
  return true;
}

// A value that Record has no place for was read whole.
void RecordReader::copied() {
  if (place_ == Place::kDoor) {
    append_member(unknown_door_, key_, copy_.text());
  } else if (place_ == Place::kMetadata) {
    append_member(unknown_metadata_, key_, copy_.text());
  } else if (!field_) {
    append_member(unknown_members_, key_, copy_.text());
  }
  copy_.clear();
}

void RecordReader::inner_scalar(JsonKind kind, std::string_view text) {
  const bool is_string = kind == JsonKind::kString;
  if (place_ == Place::kDoor && key_ == "kind") {
    if (!is_string || text.empty()) problem("`kind` of `door` is not a non-empty string");
    if (is_string) record_.door->kind = text;
    return;
  }
  if (!is_string) {
    copy_.scalar(kind, text);
    copied();
  } else if (place_ == Place::kDoor) {
    record_.door->settings.emplace_back(key_, text);
  } else {
    record_.metadata.emplace(key_, text);
  }
}

std::string* RecordReader::text_slot(Field field) {
  switch (field) {
    case Field::kSessionId:
      return &record_.session_id;
    case Field::kProcessStart:
      return &record_.process.start_token;
    case Field::kName:
      return &record_.name;
    case Field::kVersion:
      return &record_.version;
    case Field::kWorkdir:
      return &record_.workdir;
    case Field::kWorkdirBytesHex:
      return &workdir_hex_;
    case Field::kStartedAt:
      return &record_.started_at;
    default:
      return nullptr;
  }
}

std::optional<std::string>* RecordReader::optional_slot(Field field) {
  switch (field) {
    case Field::kUrl:
      return &record_.url;
    case Field::kBootId:
      return &record_.process.boot_id;
    case Field::kExactId:
      return &record_.process.exact_id;
    case Field::kHostId:
      return &record_.process.host_id;
    case Field::kPidNamespace:
      return &record_.process.pid_namespace;
    case Field::kTimeNamespace:
      return &record_.process.time_namespace;
    case Field::kDoorToken:
      return &record_.door_token;
    default:
      return nullptr;
  }
}

void RecordReader::top_scalar(JsonKind kind, std::string_view text) {
  if (!field_) {
    copy_.scalar(kind, text);
    copied();
    return;
  }
  const Field field = *field_;
  if (field == Field::kPid) return take_pid(kind, text);
  if (field == Field::kOutlivesLauncher) {
    if (kind != JsonKind::kTrue && kind != JsonKind::kFalse) wrong_type(field, "true or false");
    record_.outlives_launcher = kind == JsonKind::kTrue;
    return;
  }
  if (field == Field::kUrl && kind == JsonKind::kNull) return;
  if (field == Field::kDoor || field == Field::kMetadata) return wrong_type(field, "an object");
  if (kind != JsonKind::kString) {
    return wrong_type(field, field == Field::kUrl ? "a string or null" : "a string");
  }
  take_text(field, text);
}

void RecordReader::take_text(Field field, std::string_view text) {
  if (std::string* slot = text_slot(field)) {
    *slot = text;
    return;
  }
  if (field == Field::kSchema) {
    const SchemaRule rule = registry::judge_schema(text, kRecordSchema);
    newer_ = rule == SchemaRule::kNewer;
    if (rule == SchemaRule::kForeign) problem("`schema` is another format's");
    return;
  }
  std::optional<std::string>* slot = optional_slot(field);
  if (field == Field::kDoorToken && !check_token(text)) {
    return problem("`door_token` is empty or holds what no token may (visible ASCII only)");
  }
  if (text.empty() && field != Field::kUrl && field != Field::kDoorToken) {
    identity_is_void_ = true;  // see void_identity()
    return;
  }
  if (field == Field::kExactId && !registry::plain_decimal(text)) {
    return wrong_type(field, "a decimal number in a string");
  }
  *slot = std::string(text);
}

void RecordReader::take_pid(JsonKind kind, std::string_view text) {
  const auto pid = kind == JsonKind::kNumber ? registry::plain_decimal(text) : std::nullopt;
  if (!pid || *pid == 0 || *pid > static_cast<std::uint64_t>(kMaxPid)) {
    return wrong_type(Field::kPid, "a whole number from 1 to 2147483647");
  }
  record_.process.pid = static_cast<std::int64_t>(*pid);
}

// An empty part of an identity is a reading that its writer failed to make, not a value: taken as
// one it would differ from every reading, and a live session would be proven gone. Such a record
// names its process by pid alone: it can be found absent, and never identified.
void RecordReader::void_identity() {
  ProcessIdentity& process = record_.process;
  process.start_token.clear();
  process.boot_id.reset();
  process.exact_id.reset();
}

void RecordReader::check_whole(std::string_view expected_id) {
  constexpr std::array kRequired = {
      Field::kSessionId, Field::kUrl,     Field::kPid,     Field::kProcessStart,
      Field::kName,      Field::kVersion, Field::kWorkdir, Field::kOutlivesLauncher,
      Field::kStartedAt};
  for (const Field field : kRequired) {
    if ((seen_ >> static_cast<unsigned>(field) & 1U) == 0) {
      problem(fmt::format("`{}` is missing", name_of(field)));
    }
  }
  if (record_.door && record_.door->kind.empty()) problem("`kind` of `door` is missing");
  if (identity_is_void_) void_identity();
  if (record_.process.pid == 1 && record_.process.start_token.empty()) {
    problem("it names pid 1 without a start token");
  }
  if (problem_.empty() && record_.session_id == expected_id) {
    if (auto valid = check_session_id(expected_id); !valid) problem(valid.error().message);
  }
}

tl::expected<Record, RecordError> RecordReader::finish(std::string_view expected_id) {
  const auto refuse = [](RecordProblem kind, std::string text) {
    return tl::unexpected<RecordError>(RecordError{kind, std::move(text)});
  };
  if (newer_) return refuse(RecordProblem::kNewerSchema, std::string(kNewerText));
  check_whole(expected_id);
  if (!problem_.empty()) return refuse(RecordProblem::kInvalid, std::move(problem_));
  if (record_.session_id != expected_id) {
    return refuse(RecordProblem::kNameMismatch, "`session_id` is not the name of its file");
  }
  if (!workdir_hex_.empty()) {
    // Only while both say the same: who edits `workdir` by hand means what he wrote.
    auto bytes = core::from_hex(workdir_hex_);
    if (bytes && text::to_utf8(*bytes) == record_.workdir) record_.workdir = std::move(*bytes);
  }
  if (!unknown_door_.empty()) {
    append_member(unknown_members_, "door", as_object(std::move(unknown_door_)));
  }
  if (!unknown_metadata_.empty()) {
    append_member(unknown_members_, "metadata", as_object(std::move(unknown_metadata_)));
  }
  if (!unknown_members_.empty()) record_.unknown_json = as_object(std::move(unknown_members_));
  return std::move(record_);
}

RecordError RecordReader::ended_early() const {
  if (newer_) return {RecordProblem::kNewerSchema, std::string(kNewerText)};
  if (!too_deep()) return {RecordProblem::kInvalid, problem_};
  return {RecordProblem::kInvalid,
          fmt::format("it is nested deeper than {} levels", registry::kMaxJsonDepth)};
}

}  // namespace

tl::expected<Record, RecordError> parse_record(std::string_view bytes,
                                               std::string_view expected_id) {
  const auto json = registry::admit_json(bytes, kMaxRecordBytes);
  if (!json) return tl::unexpected(json.error());
  rapidjson::MemoryStream stream(json->data(), json->size());
  rapidjson::Reader reader;
  RecordReader handler;
  const rapidjson::ParseResult parsed = reader.Parse<registry::kJsonFlags>(stream, handler);
  if (!parsed.IsError()) return handler.finish(expected_id);

  RecordError error;
  if (parsed.Code() == rapidjson::kParseErrorTermination) {
    error = handler.ended_early();
  } else if (stream.Tell() >= json->size()) {
    error = {RecordProblem::kTorn, fmt::format("it is cut off after {} bytes", bytes.size())};
  } else {
    error = {RecordProblem::kInvalid, fmt::format("it is not JSON (byte {})", parsed.Offset())};
  }
  return tl::unexpected(std::move(error));
}

}  // namespace rollcall
