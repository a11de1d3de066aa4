#include "receipts/members.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/secret.hpp"

namespace rollcall::receipts {

Result<Members> Members::split(std::string_view json) {
  auto members = registry::split_object(json);
  if (!members) return tl::unexpected(members.error());
  return Members(std::move(*members));
}

Members::~Members() {
  for (auto& member : members_) core::wipe(member.second);
}

const registry::RawMember* Members::find(std::string_view key) const {
  const auto found = std::ranges::find(members_, key, &registry::RawMember::first);
  return found == members_.end() ? nullptr : &*found;
}

std::optional<std::string> Members::peek(std::string_view key) const {
  const auto* member = find(key);
  return member == nullptr ? std::nullopt : std::optional(member->second);
}

std::optional<std::string> Members::take(std::string_view key) {
  const auto found = std::ranges::find(members_, key, &registry::RawMember::first);
  if (found == members_.end()) return std::nullopt;
  std::string value = found->second;
  core::wipe(found->second);
  members_.erase(found);
  return value;
}

Result<std::string> Members::take_text(std::string_view key) {
  auto value = take_optional_text(key);
  if (!value) return tl::unexpected(value.error());
  if (!*value) return fail(ErrorCode::kInvalid, fmt::format("`{}` is missing", key));
  return std::move(**value);
}

Result<std::optional<std::string>> Members::take_optional_text(std::string_view key) {
  auto raw = take(key);
  if (!raw) return std::optional<std::string>();
  auto text = registry::string_value(*raw);
  core::wipe(*raw);
  if (!text) return fail(ErrorCode::kInvalid, fmt::format("`{}` is not a string", key));
  return std::optional<std::string>(std::move(*text));
}

std::optional<std::string> Members::take_if_text(std::string_view key) {
  const auto* member = find(key);
  if (member == nullptr) return std::nullopt;
  auto text = registry::string_value(member->second);
  if (!text) return std::nullopt;
  static_cast<void>(take(key));
  return std::move(*text);
}

Result<std::int64_t> Members::take_whole(std::string_view key, std::int64_t lowest,
                                         std::int64_t highest) {
  const auto raw = take(key);
  if (!raw) return fail(ErrorCode::kInvalid, fmt::format("`{}` is missing", key));
  const auto value = registry::plain_decimal(*raw);
  if (!value || *value < static_cast<std::uint64_t>(lowest) ||
      *value > static_cast<std::uint64_t>(highest)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("`{}` is not a whole number from {} to {}", key, lowest, highest));
  }
  return static_cast<std::int64_t>(*value);
}

std::string Members::rest() const {
  std::string json;
  for (const auto& [key, value] : members_) {
    json += json.empty() ? '{' : ',';
    json += registry::json_string(key) + ":" + value;
  }
  if (!json.empty()) json += '}';
  return json;
}

}  // namespace rollcall::receipts
