// What a process was started with and where it stands: the readings that inform and never decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reading.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::windows_backend {

// Reads one ROLLCALL_READ_* of a process, at most 8 MiB, in UTF-8 (see to_utf8).
// Errors: E_DENIED, E_NOT_FOUND (gone), E_UNSUPPORTED (a process of the kernel's own has no
// parameters), E_TOO_LARGE, E_CORRUPT (the block is cut), E_INVALID (an unknown `what`), E_IO.
[[nodiscard]] plugin::Status read_detail(const System& system, std::int64_t pid, std::uint32_t what,
                                         std::string& out);

// The process parameters of a process that is held open for reading. Errors: as above.
[[nodiscard]] plugin::Status read_parameters(const System& system, Handle process, std::int64_t pid,
                                             PebPlace& place, Parameters& out);

}  // namespace rollcall::windows_backend
