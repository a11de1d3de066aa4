#include "registry/gone_record.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/rfc3339.hpp"
#include "core/secret.hpp"
#include "core/text.hpp"
#include "registry/json_events.hpp"
#include "registry/json_text.hpp"
#include "registry/record_text.hpp"

namespace rollcall::registry {
namespace {

bool names_a_secret(std::string_view key) {
  std::string folded(key);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded.ends_with("token") || folded.ends_with("secret") || folded.ends_with("password");
}

std::string join_object(const std::vector<RawMember>& members) {
  JsonCopy name;
  std::string out = "{";
  for (const auto& [key, value] : members) {
    if (out.size() > 1) out.push_back(',');
    name.clear();
    name.scalar(JsonKind::kString, key);
    out.append(name.text()).append(":").append(value);
  }
  return out + "}";
}

// Unknown members without those that name a secret, at the top and one level down.
std::string without_secret_members(const std::string& json) {
  auto members = split_object(json);
  if (!members) return {};
  std::erase_if(*members, [](const RawMember& member) { return names_a_secret(member.first); });
  for (auto& [key, value] : *members) {
    auto inner = split_object(value);
    if (!inner) continue;
    std::erase_if(*inner, [](const RawMember& member) { return names_a_secret(member.first); });
    value = join_object(*inner);
  }
  return members->empty() ? std::string() : join_object(*members);
}

Reason reason_of(std::string_view text) {
  for (auto value = static_cast<int>(Reason::kNone); value <= static_cast<int>(Reason::kUnverified);
       ++value) {
    if (to_text(static_cast<Reason>(value)) == text) return static_cast<Reason>(value);
  }
  return Reason::kNone;
}

}  // namespace

Record without_tokens(Record record) {
  if (record.door_token) core::wipe(*record.door_token);
  record.door_token.reset();
  if (record.door) {
    std::erase_if(record.door->settings,
                  [](const auto& setting) { return names_a_secret(setting.first); });
  }
  std::erase_if(record.metadata, [](const auto& label) { return names_a_secret(label.first); });
  if (!record.unknown_json.empty()) {
    record.unknown_json = without_secret_members(record.unknown_json);
  }
  return record;
}

Result<std::string> gone_text(const Record& record, const GoneEvidence& evidence) {
  auto body = record_text(record);
  if (!body) return tl::unexpected(body.error());
  body->pop_back();  // its line ending
  JsonCopy out;
  const auto member = [&](std::string_view key, std::string_view value) {
    out.key(key);
    out.scalar(JsonKind::kString, text::to_utf8(value));
  };
  out.begin(JsonKind::kObject);
  member("schema", kGoneSchema);
  member("session_id", record.session_id);
  member("reason", to_text(evidence.reason));
  member("text", evidence.text);
  member("pruned_at", core::format_rfc3339_utc(evidence.pruned_unix_ns));
  member("plugin", evidence.plugin);
  out.key("record");
  out.scalar(JsonKind::kNumber, *body);  // as it is
  out.end(JsonKind::kObject);
  return std::string(out.text()) + "\n";
}

Result<GoneRecord> parse_gone(std::string_view bytes, std::string_view session_id) {
  const auto corrupt = [&](std::string_view why) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the gone record of session {} is unusable: {}", session_id, why));
  };
  const auto json = admit_json(bytes, kMaxGoneBytes);
  if (!json) return corrupt(json.error().text);
  auto members = split_object(*json);
  if (!members) return corrupt(members.error().message);
  std::map<std::string, std::string, std::less<>> by_key;
  for (auto& [key, value] : *members) by_key.emplace(std::move(key), std::move(value));
  const auto field = [&](std::string_view key) -> std::string {
    const auto found = by_key.find(key);
    if (found == by_key.end()) return {};
    return string_value(found->second).value_or(std::string());
  };
  if (field("schema") != kGoneSchema) return corrupt("it is of another schema");
  const auto record = by_key.find("record");
  if (record == by_key.end()) return corrupt("it holds no record");
  auto parsed = parse_record(record->second, session_id);
  if (!parsed) return corrupt(parsed.error().text);
  const auto pruned = core::parse_rfc3339_utc(field("pruned_at"));
  return GoneRecord{.session_id = std::string(session_id),
                    .record = std::move(*parsed),
                    .evidence = {.reason = reason_of(field("reason")),
                                 .text = field("text"),
                                 .pruned_unix_ns = pruned.value_or(0),
                                 .plugin = field("plugin")}};
}

}  // namespace rollcall::registry
