#include "stores/json_object.hpp"

#include <fmt/format.h>

#include "core/secret.hpp"
#include "rollcall/identity.hpp"

namespace rollcall::stores {
namespace {

tl::unexpected<Error> wrong(std::string_view key, std::string_view wanted) {
  return fail(ErrorCode::kCorrupt, fmt::format("`{}` is missing or is not {}", key, wanted));
}

}  // namespace

Result<JsonObject> JsonObject::parse(std::string_view bytes) {
  const auto json = registry::admit_json(bytes, kMaxRecordBytes);
  if (!json) return fail(ErrorCode::kCorrupt, json.error().text);
  auto members = registry::split_object(*json);
  if (!members) return fail(ErrorCode::kCorrupt, members.error().message);
  JsonObject object;
  object.members_ = std::move(*members);
  return object;
}

JsonObject::~JsonObject() {
  for (auto& [key, value] : members_) core::wipe(value);
}

const std::string* JsonObject::raw(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<std::string> JsonObject::text(std::string_view key) const {
  auto value = optional_text(key);
  if (!value) return wrong(key, "a text");
  return std::move(*value);
}

Result<std::int64_t> JsonObject::whole(std::string_view key) const {
  const std::string* json = raw(key);
  const auto value = json == nullptr ? std::nullopt : registry::plain_decimal(*json);
  if (!value || *value > static_cast<std::uint64_t>(INT64_MAX)) {
    return wrong(key, "a whole number");
  }
  return static_cast<std::int64_t>(*value);
}

Result<JsonObject> JsonObject::object(std::string_view key) const {
  const std::string* json = raw(key);
  auto members = json == nullptr ? fail(ErrorCode::kCorrupt, "") : registry::split_object(*json);
  if (!members) return wrong(key, "an object");
  JsonObject object;
  object.members_ = std::move(*members);
  return object;
}

Result<std::int64_t> JsonObject::pid(std::string_view key) const {
  auto value = whole(key);
  if (!value || !is_possible_pid(*value)) {
    return wrong(key, "a whole number from 1 to 2147483647");
  }
  return value;
}

std::optional<std::string> JsonObject::optional_text(std::string_view key) const {
  const std::string* json = raw(key);
  if (json == nullptr) return std::nullopt;
  auto value = registry::string_value(*json);
  if (!value || registry::holds_lone_surrogate(*value)) return std::nullopt;
  return std::move(*value);
}

bool JsonObject::is_true(std::string_view key) const {
  const std::string* json = raw(key);
  return json != nullptr && *json == "true";
}

}  // namespace rollcall::stores
