// Text that is built in place, and what a slot comes to. No heap, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rollcall/plugin_parts.hpp"

namespace rollcall::macos_backend {

// At most N bytes; what does not fit is cut between two UTF-8 characters.
template <std::size_t N>
class Text {
 public:
  Text& operator<<(std::string_view part) {
    const std::string_view fitting = plugin::cut_utf8(part, N - size_);
    if (!fitting.empty()) std::memcpy(bytes_ + size_, fitting.data(), fitting.size());
    size_ += fitting.size();
    return *this;
  }
  Text& operator<<(std::int64_t number) {
    if (number < 0) *this << "-";
    const auto value = static_cast<std::uint64_t>(number);
    return decimal(number < 0 ? ~value + 1 : value, 1);
  }
  // At least `digits` digits, with leading zeros.
  Text& decimal(std::uint64_t number, std::size_t digits) {
    char text[20];
    std::size_t at = sizeof text;
    do {
      text[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0 || (sizeof text - at < digits && at > 0));
    return *this << std::string_view(text + at, sizeof text - at);
  }

  [[nodiscard]] std::string_view view() const { return {bytes_, size_}; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  char bytes_[N] = {};
  std::size_t size_ = 0;
};

// What a slot comes to; a default-constructed one is success. `message` says what, on which object,
// why.
struct [[nodiscard]] Status {
  std::int32_t code = ROLLCALL_OK;
  std::int64_t os_code = 0;
  Text<256> message;

  [[nodiscard]] bool ok() const { return code == ROLLCALL_OK; }
};

// A failed one, its message made of the parts.
template <class... Parts>
Status failed(std::int32_t code, std::int64_t os_code, const Parts&... parts) {
  Status status;
  status.code = code;
  status.os_code = os_code;
  (void)(status.message << ... << parts);
  return status;
}

}  // namespace rollcall::macos_backend
