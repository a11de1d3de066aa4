// A record as JSON, of any size.
#pragma once

#include <string>

#include "rollcall/record.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// serialize_record() without its bound on size. Errors: kInvalid.
[[nodiscard]] Result<std::string> record_text(const Record& record);

}  // namespace rollcall::registry
