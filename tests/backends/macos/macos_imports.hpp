// What stands for libSystem when the backend's dylib runs on Linux.
#pragma once

#include <string_view>

namespace rollcall::testing {

// The fake kernel's calls, and glibc's own functions where both systems' are alike. Null for every
// other name: an import that is not listed here fails the loading.
void* import_for_macos(std::string_view name);

}  // namespace rollcall::testing
