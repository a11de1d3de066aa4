// Text at the border to Windows: its calls take UTF-16, everything in here is UTF-8. For
// *_windows.cpp files only. Pure but for error_text(); any thread.
#pragma once

#include <string>
#include <string_view>

#include "rollcall/result.hpp"

namespace rollcall::core {

// UTF-16 of strict UTF-8. A zero byte passes: who ends a text with one asks about it first.
// Errors: kInvalid (not UTF-8).
[[nodiscard]] Result<std::wstring> widen(std::string_view utf8);

// UTF-8 of strict UTF-16. Names of files, environments and command lines may hold any 16-bit
// units. Errors: kInvalid (half of a surrogate pair).
[[nodiscard]] Result<std::string> narrow(std::wstring_view utf16);

// As narrow(), with U+FFFD for each unit that is half of a pair: for showing, never for using.
[[nodiscard]] std::string narrow_lossy(std::wstring_view utf16);

// The system's own sentence about one of its error codes (GetLastError), with the number: "Access
// is denied (error 5)".
[[nodiscard]] std::string error_text(unsigned long code);

}  // namespace rollcall::core
