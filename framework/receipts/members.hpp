// The members of one JSON object, taken out one by one; what is left is what we do not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/json_text.hpp"
#include "rollcall/result.hpp"

namespace rollcall::receipts {

// Its texts are wiped when it goes: a receipt's file holds a token. Threads: one.
class Members {
 public:
  // Errors: kInvalid (no object, a key twice, too deep).
  [[nodiscard]] static Result<Members> split(std::string_view json);
  Members(Members&&) noexcept = default;
  Members& operator=(Members&&) noexcept = default;
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members();

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // The value as JSON text, left in; nullopt: there is none.
  [[nodiscard]] std::optional<std::string> peek(std::string_view key) const;
  // The value as JSON text, taken out; nullopt: there is none.
  [[nodiscard]] std::optional<std::string> take(std::string_view key);
  // A string, taken out. Errors: kInvalid, naming the key: missing, or no string.
  [[nodiscard]] Result<std::string> take_text(std::string_view key);
  // The same for a key that may be missing; nullopt then.
  [[nodiscard]] Result<std::optional<std::string>> take_optional_text(std::string_view key);
  // As above, but what is no string stays and is no error.
  [[nodiscard]] std::optional<std::string> take_if_text(std::string_view key);
  // A whole number in plain digits. Errors: kInvalid, naming the key.
  [[nodiscard]] Result<std::int64_t> take_whole(std::string_view key, std::int64_t lowest,
                                                std::int64_t highest);
  // What is left, as a JSON object; empty where nothing is.
  [[nodiscard]] std::string rest() const;

 private:
  explicit Members(std::vector<registry::RawMember> members) : members_(std::move(members)) {}
  [[nodiscard]] const registry::RawMember* find(std::string_view key) const;

  std::vector<registry::RawMember> members_;
};

}  // namespace rollcall::receipts
