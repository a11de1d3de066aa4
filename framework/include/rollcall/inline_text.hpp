// A short text held in place, so that readings of many processes allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace rollcall {

template <std::size_t Capacity>
class InlineText {
 public:
  InlineText() = default;
  InlineText(std::string_view text) { assign(text); }  // NOLINT(google-explicit-constructor)

  // Keeps the first Capacity bytes. Check fits() first where a cut text would be a wrong one.
  void assign(std::string_view text) {
    size_ = std::min(text.size(), Capacity);
    if (size_ > 0) std::memcpy(bytes_.data(), text.data(), size_);
  }
  [[nodiscard]] static constexpr bool fits(std::string_view text) {
    return text.size() <= Capacity;
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }

 private:
  std::size_t size_ = 0;
  std::array<char, Capacity> bytes_{};
};

}  // namespace rollcall
