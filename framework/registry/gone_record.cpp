#include "registry/gone_record.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/rfc3339.hpp"
#include "core/secret.hpp"
#include "core/secret_name.hpp"
#include "core/shown_url.hpp"
#include "core/text.hpp"
#include "registry/json_events.hpp"
#include "registry/json_text.hpp"
#include "registry/record_text.hpp"

namespace rollcall::registry {
namespace {

// Copies a JSON value without the members whose keys name a secret, at any depth.
class WithoutSecrets : public JsonEvents<WithoutSecrets> {
 public:
  bool on_key(std::string_view key) {
    if (skipped_depth_ > 0) return true;
    skip_value_ = core::names_a_secret(key);
    if (!skip_value_) copy_.key(key);
    return true;
  }
  bool on_scalar(JsonKind kind, std::string_view text) {
    if (skipped_depth_ == 0 && !skip_value_) copy_.scalar(kind, text);
    if (skipped_depth_ == 0) skip_value_ = false;
    return true;
  }
  bool on_begin(JsonKind kind) {
    if (skipped_depth_ > 0 || skip_value_) {
      ++skipped_depth_;
      skip_value_ = false;
    } else {
      copy_.begin(kind);
    }
    return true;
  }
  bool on_end(JsonKind kind) {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
    } else {
      copy_.end(kind);
    }
    return true;
  }
  [[nodiscard]] std::string_view text() const { return copy_.text(); }

 private:
  JsonCopy copy_;
  bool skip_value_ = false;  // the value of the key that was just read
  int skipped_depth_ = 0;    // how deep within such a value
};

// Empty where nothing is left, or where it cannot be read.
std::string without_secret_members(std::string_view json) {
  WithoutSecrets handler;
  rapidjson::MemoryStream stream(json.data(), json.size());
  rapidjson::Reader reader;
  if (reader.Parse<kJsonFlags>(stream, handler).IsError() || handler.text() == "{}") return {};
  return std::string(handler.text());
}

// A door's url has no userinfo and no query. One that does holds what is nobody's business here,
// and is no door: what may be shown of it is kept.
std::string without_url_secrets(std::string url) {
  if (url.find_first_of("@?#") == std::string::npos) return url;
  const auto at = url.rfind('@');
  if (at != std::string::npos) url.erase(0, at + 1);
  return shown_url(url);
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
  if (record.url) record.url = without_url_secrets(std::move(*record.url));
  if (record.door) {
    std::erase_if(record.door->settings,
                  [](const auto& setting) { return core::names_a_secret(setting.first); });
  }
  std::erase_if(record.metadata,
                [](const auto& label) { return core::names_a_secret(label.first); });
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
