// What a directory must be to serve as a home.
#pragma once

#include <string>

#include "core/private_files.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// What makes a directory that is there no home: an entry that no home holds, in one that has none
// of a home's folders. Empty where it is a home, or may become one. Errors: kIo.
[[nodiscard]] Result<std::string> foreign_entry(const core::PrivateDir& home);

// Whether a directory that was there already may be used as a home, and so be made private: it
// holds a home's folders, or nothing that is not a home's. Its permissions are others' business
// otherwise. Errors: kDenied, kIo.
[[nodiscard]] Status check_is_home(const core::PrivateDir& home);

}  // namespace rollcall::registry
