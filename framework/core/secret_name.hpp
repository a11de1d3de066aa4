// What names a secret, and where a text holds one: the one place of the rules for what is neither
// shown nor kept. They hide too much rather than too little.
#pragma once

#include <cstddef>
#include <string_view>

namespace rollcall::core {

// Whether a key (of a label, a setting, a variable, an option, a header, an unknown member) looks
// like a secret's. In any case it holds "token", "secret", "passw", "credential", "authorization"
// or the like; or it ends, but for digits, in "pass" (but "compass", "bypass"), "jwt", "cookie" or
// "auth", or in the word "key" or "pwd" behind another, or in the word "pat". Pure; any thread.
[[nodiscard]] bool names_a_secret(std::string_view key);

// A part of a text. size 0: there is none.
struct TextPart {
  std::size_t at = 0;
  std::size_t size = 0;
};

// Where the first secret in the text lies: what follows a name of a secret's and "=" or ":" (a
// quote and blanks between them aside), or an option of that name and a blank, to the end of the
// text; what follows the first "=" where anything before it names a secret; what follows "bearer "
// to the end; the user information of "scheme://user@host" or
// "user:password@host". Pure; any thread.
[[nodiscard]] TextPart find_secret(std::string_view text);

}  // namespace rollcall::core
