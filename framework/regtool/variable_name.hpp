// What names one environment variable.
#pragma once

#include <string>

namespace rollcall::regtool {

// Whether both name the same variable. POSIX: they are equal. Windows: letters' case aside, as the
// system itself looks them up ("Path"). UTF-8 or any bytes; pure; any thread.
[[nodiscard]] bool is_same_variable(const std::string& a, const std::string& b);

}  // namespace rollcall::regtool
