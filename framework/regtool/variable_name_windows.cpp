#include "regtool/variable_name.hpp"

#include <windows.h>

#include "core/text_windows.hpp"

namespace rollcall::regtool {

bool is_same_variable(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto left = core::widen(a);
  const auto right = core::widen(b);
  return left && right &&
         ::CompareStringOrdinal(left->data(), static_cast<int>(left->size()), right->data(),
                                static_cast<int>(right->size()), TRUE) == CSTR_EQUAL;
}

}  // namespace rollcall::regtool
