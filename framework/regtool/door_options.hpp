// The doors that `register` records: what each kind of Rollcall's own needs, and takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regtool/failure.hpp"
#include "regtool/format.hpp"

namespace rollcall::regtool {

// "a2a", "http", "tcp", "unix": the kinds whose plugins come with Rollcall.
[[nodiscard]] bool is_own_door_kind(std::string_view kind);

// Whether a door of this kind could ever answer: docs/doors.md, "Kinds". Of a kind that is not our
// own, only its settings' names are looked at. Pure. Failures: usage.
[[nodiscard]] Outcome<void> check_door(std::string_view kind, bool has_url,
                                       const std::vector<KeyValue>& settings);

}  // namespace rollcall::regtool
