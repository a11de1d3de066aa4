// A JSON object of another program's, by key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/json_text.hpp"
#include "rollcall/result.hpp"

namespace rollcall::stores {

// Its texts are wiped when it goes: some of them are tokens. Threads: any, by its const functions.
class JsonObject {
 public:
  // Strict: one object, UTF-8, each key once, bounded. Errors: kCorrupt.
  [[nodiscard]] static Result<JsonObject> parse(std::string_view bytes);

  JsonObject(JsonObject&&) noexcept = default;
  JsonObject& operator=(JsonObject&&) noexcept = default;
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject();

  [[nodiscard]] const std::vector<registry::RawMember>& members() const { return members_; }
  // Errors of the next four: kCorrupt, naming the key; a value never.
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> whole(std::string_view key) const;
  [[nodiscard]] Result<JsonObject> object(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> pid(std::string_view key) const;
  // nullopt: not there, or no text.
  [[nodiscard]] std::optional<std::string> optional_text(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return raw(key) != nullptr; }
  [[nodiscard]] bool is_true(std::string_view key) const;

 private:
  JsonObject() = default;
  [[nodiscard]] const std::string* raw(std::string_view key) const;

  std::vector<registry::RawMember> members_;
};

}  // namespace rollcall::stores
