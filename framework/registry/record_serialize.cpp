// Writing a record: what parse_record() reads back as the same record.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "registry/json_events.hpp"
#include "registry/json_text.hpp"
#include "registry/record_fields.hpp"
#include "registry/record_text.hpp"
#include "rollcall/record.hpp"

namespace rollcall {
namespace registry {
namespace {

rapidjson::SizeType json_size(std::string_view text) {
  return static_cast<rapidjson::SizeType>(text.size());
}

class RecordWriter {
 public:
  explicit RecordWriter(const Record& record) : record_(record) {}
  Result<std::string> write();

 private:
  void key(std::string_view text) { writer_.Key(text.data(), json_size(text)); }
  void key(Field field) { key(name_of(field)); }
  void text(std::string_view value) { writer_.String(value.data(), json_size(value)); }
  // Text for people: bytes that are not UTF-8 are escaped where they can be seen.
  void shown(std::string_view value) { text(text::to_utf8(value)); }
  void member(Field field, std::string_view value) {
    key(field);
    text(value);
  }
  void optional_member(Field field, const std::optional<std::string>& value) {
    if (value) member(field, *value);
  }
  void raw(const RawMember& member) {
    key(member.first);
    writer_.RawValue(member.second.data(), member.second.size(), rapidjson::kObjectType);
  }
  void raws(const std::vector<RawMember>& members) {
    for (const RawMember& member : members) raw(member);
  }
  Status split_unknown();
  void identity();
  void workdir();
  void door();
  void metadata();

  const Record& record_;
  rapidjson::StringBuffer buffer_;
  JsonWriter writer_{buffer_};
  std::vector<RawMember> unknown_;
  std::vector<RawMember> unknown_door_;
  std::vector<RawMember> unknown_metadata_;
};

// What parse_record() kept for us. Keys that Record has a place for are not written twice.
Status RecordWriter::split_unknown() {
  if (record_.unknown_json.empty()) return {};
  auto members = split_object(record_.unknown_json);
  if (!members) return wrap("unknown_json", members.error());
  for (RawMember& member : *members) {
    const auto field = find_field(member.first, 0);
    if (!field) {
      unknown_.push_back(std::move(member));
      continue;
    }
    if (*field != Field::kDoor && *field != Field::kMetadata) continue;
    auto inner = split_object(member.second);
    if (!inner) return wrap("unknown_json", inner.error());
    (*field == Field::kDoor ? unknown_door_ : unknown_metadata_) = std::move(*inner);
  }
  return {};
}

void RecordWriter::identity() {
  const ProcessIdentity& process = record_.process;
  key(Field::kPid);
  writer_.Int64(process.pid);
  member(Field::kProcessStart, process.start_token);
  optional_member(Field::kBootId, process.boot_id);
  optional_member(Field::kExactId, process.exact_id);
  optional_member(Field::kHostId, process.host_id);
  optional_member(Field::kPidNamespace, process.pid_namespace);
  optional_member(Field::kTimeNamespace, process.time_namespace);
}

void RecordWriter::workdir() {
  key(Field::kWorkdir);
  shown(record_.workdir);
  if (!text::is_utf8(record_.workdir)) {
    member(Field::kWorkdirBytesHex, core::to_hex(record_.workdir));
  }
}

void RecordWriter::door() {
  if (!record_.door) return;
  key(Field::kDoor);
  writer_.StartObject();
  key("kind");
  text(record_.door->kind);
  for (const auto& [name, value] : record_.door->settings) {
    if (name == "kind") continue;
    key(name);
    text(value);
  }
  for (const RawMember& member : unknown_door_) {
    const bool known = member.first == "kind" ||
                       std::ranges::any_of(record_.door->settings, [&](const auto& setting) {
                         return setting.first == member.first;
                       });
    if (!known) raw(member);
  }
  writer_.EndObject();
}

void RecordWriter::metadata() {
  if (record_.metadata.empty() && unknown_metadata_.empty()) return;
  key(Field::kMetadata);
  writer_.StartObject();
  for (const auto& [name, value] : record_.metadata) {
    key(name);
    shown(value);
  }
  for (const RawMember& member : unknown_metadata_) {
    if (!record_.metadata.contains(member.first)) raw(member);
  }
  writer_.EndObject();
}

Result<std::string> RecordWriter::write() {
  if (auto split = split_unknown(); !split) return tl::unexpected(split.error());
  writer_.StartObject();
  member(Field::kSchema, kRecordSchema);
  member(Field::kSessionId, record_.session_id);
  key(Field::kUrl);
  record_.url ? text(*record_.url) : static_cast<void>(writer_.Null());
  identity();
  key(Field::kName);
  shown(record_.name);
  key(Field::kVersion);
  shown(record_.version);
  workdir();
  key(Field::kOutlivesLauncher);
  writer_.Bool(record_.outlives_launcher);
  member(Field::kStartedAt, record_.started_at);
  optional_member(Field::kDoorToken, record_.door_token);
  door();
  metadata();
  raws(unknown_);
  writer_.EndObject();
  std::string out(buffer_.GetString(), buffer_.GetSize());
  out.push_back('\n');
  return out;
}

Status invalid(std::string_view field, std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("cannot write the record: `{}` {}", field, why));
}

// Parts of an identity, a url and the like are compared or spoken: no byte of them is changed.
Status check_exact(std::string_view field, std::string_view value) {
  if (!text::is_utf8(value)) return invalid(field, "is not UTF-8");
  return {};
}

Status check_optional(Field field, const std::optional<std::string>& value) {
  if (!value) return {};
  if (value->empty()) return invalid(name_of(field), "is empty; leave it out instead");
  return check_exact(name_of(field), *value);
}

Status check_door(const DoorSpec& door) {
  if (door.kind.empty()) return invalid("door", "has no kind");
  if (auto good = check_exact("door", door.kind); !good) return good;
  for (std::size_t i = 0; i < door.settings.size(); ++i) {
    const auto& [name, value] = door.settings[i];
    if (auto good = check_exact("door", name); !good) return good;
    if (auto good = check_exact("door", value); !good) return good;
    for (std::size_t j = 0; j < i; ++j) {
      if (door.settings[j].first == name) return invalid("door", "names a setting twice");
    }
  }
  return {};
}

Status check_record(const Record& record) {
  if (auto good = check_session_id(record.session_id); !good) return good;
  if (auto good = check_identity(record.process); !good) return good;
  if (auto good = check_exact("url", record.url.value_or("")); !good) return good;
  if (auto good = check_exact("started_at", record.started_at); !good) return good;
  if (record.door_token) {
    if (auto good = check_token(*record.door_token); !good) return good;
  }
  for (const auto& [name, value] : record.metadata) {
    if (auto good = check_exact("metadata", name); !good) return good;
  }
  return record.door ? check_door(*record.door) : Status{};
}

}  // namespace

Status check_identity(const ProcessIdentity& process) {
  if (!is_possible_pid(process.pid)) return invalid("pid", "is not from 1 to 2147483647");
  if (process.pid == 1 && process.start_token.empty()) {
    return invalid("pid", "is 1, and there is no start token");
  }
  const std::pair<Field, const std::optional<std::string>&> parts[] = {
      {Field::kBootId, process.boot_id},
      {Field::kExactId, process.exact_id},
      {Field::kHostId, process.host_id},
      {Field::kPidNamespace, process.pid_namespace},
      {Field::kTimeNamespace, process.time_namespace}};
  for (const auto& [field, value] : parts) {
    if (auto good = check_optional(field, value); !good) return good;
  }
  const auto& exact = process.exact_id;
  if (exact && (exact->find_first_not_of("0123456789") != std::string::npos ||
                (exact->size() > 1 && exact->front() == '0') || exact->size() > 20)) {
    return invalid("exact_id", "is not a decimal number");
  }
  return check_exact("process_start", process.start_token);
}

Result<std::string> record_text(const Record& record) {
  if (auto good = check_record(record); !good) return tl::unexpected(good.error());
  return RecordWriter(record).write();
}

}  // namespace registry

Result<std::string> serialize_record(const Record& record) {
  auto text = registry::record_text(record);
  if (text && text->size() > kMaxRecordBytes) {
    return fail(ErrorCode::kTooLarge,
                fmt::format("the record of session {} takes {} bytes, more than {}",
                            record.session_id, text->size(), kMaxRecordBytes));
  }
  return text;
}

}  // namespace rollcall
