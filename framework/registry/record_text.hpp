// A record as JSON, of any size.
#pragma once

#include <string>

#include "rollcall/record.hpp"
#include "rollcall/result.hpp"

namespace rollcall::registry {

// Whether an identity may be written: a possible pid, and no part that is empty or not UTF-8 but an
// empty start token of another pid than 1. Errors: kInvalid, naming the part.
[[nodiscard]] Status check_identity(const ProcessIdentity& process);

// serialize_record() without its bound on size. Errors: kInvalid.
[[nodiscard]] Result<std::string> record_text(const Record& record);

}  // namespace rollcall::registry
