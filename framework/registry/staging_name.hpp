// Names of the files that a change leaves for a moment in running/. Never names of records: they
// begin with a dot. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/identity.hpp"

namespace rollcall::registry {

// A file that is being written: ".w~RANDOM~PID~START~BOOT~EXACT~PIDNS~TIMENS~HOST.tmp", its
// writer's identity with bytes other than [A-Za-z0-9.-] as %XX and absent parts empty. Without a
// writer, or where that would be longer than file names may be, ".w~RANDOM.tmp". It is there only
// while its writer holds the lock.
[[nodiscard]] std::string staging_name(std::uint64_t random,
                                       const std::optional<ProcessIdentity>& writer);
// nullopt: no staging file, or one that names no writer.
[[nodiscard]] std::optional<ProcessIdentity> staging_writer(std::string_view name);

// Whether it is the name of a staging file that names no writer.
[[nodiscard]] bool is_anonymous_staging(std::string_view name);

// A file that was taken aside to be compared before it goes: ".a~FILE~RANDOM.tmp". It is there
// only while its maker holds the lock; who finds one while holding the lock has found a leftover.
[[nodiscard]] std::string aside_name(std::uint64_t random, std::string_view file);
// The FILE of such a name; nullopt: it is none.
[[nodiscard]] std::optional<std::string_view> aside_file(std::string_view name);

}  // namespace rollcall::registry
