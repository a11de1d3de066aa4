// The examples that each command's help begins with.
#pragma once

#include <string_view>

namespace rollcall::regtool {

// `command`: "ps", ...; "": the program's own. Empty where there are none. Pure.
[[nodiscard]] std::string_view examples_of(std::string_view command);

}  // namespace rollcall::regtool
