// What a process was started with and where it stands: the readings that inform and never decide.
#pragma once

#include <cstdint>
#include <string_view>

#include "memory.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// Memory of one reading, and the bytes that were asked for, which lie in it.
struct Detail {
  List<char> memory;
  std::string_view bytes;
};

// Reads one ROLLCALL_READ_* of a process, as the system gives it.
// Errors: E_DENIED (another user's; an environment that the system withholds), E_NOT_FOUND (gone, a
// zombie), E_CORRUPT (cut or malformed), E_INVALID (an unknown `what`), E_NO_MEMORY, E_IO.
[[nodiscard]] Status read_detail(const System& system, std::int64_t pid, std::uint32_t what,
                                 Detail& out);

}  // namespace rollcall::macos_backend
