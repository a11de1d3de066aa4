// What a directory must be to serve as a home.
#pragma once

#include "core/private_files.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// Whether a directory that was there already may be used as a home, and so be made private: it
// holds a home's folders, or nothing that is not a home's. Its permissions are others' business
// otherwise. Errors: kDenied, kIo.
[[nodiscard]] Status check_is_home(const core::PrivateDir& home);

}  // namespace rollcall::registry
