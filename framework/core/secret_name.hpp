// Which keys name a secret: the one rule for what is neither shown nor kept.
#pragma once

#include <string_view>

namespace rollcall::core {

// Whether a key (of a label, a setting, an unknown member) looks like a secret's: it holds, in any
// case, "token", "secret", "passw", "credential", "authorization" or the like. Pure; any thread.
[[nodiscard]] bool names_a_secret(std::string_view key);

}  // namespace rollcall::core
