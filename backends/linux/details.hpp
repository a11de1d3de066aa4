// What a process was started with and where it stands: the readings that inform and never decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "procfs.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// Field 4 of its stat; nullopt: it has gone or could not be read.
[[nodiscard]] std::optional<std::int64_t> parent_of(const Procfs& procfs, std::int64_t pid);

// Reads one ROLLCALL_READ_* of a process, at most 8 MiB, as the system gives it.
// Errors: E_DENIED (hidden by hidepid too), E_NOT_FOUND (gone, a zombie), E_UNSUPPORTED (a kernel
// thread has none), E_TOO_LARGE, E_INVALID (an unknown `what`), E_IO.
[[nodiscard]] plugin::Status read_detail(const System& system, const Procfs& procfs,
                                         std::int64_t pid, std::uint32_t what, std::string& out);

}  // namespace rollcall::linux_backend
