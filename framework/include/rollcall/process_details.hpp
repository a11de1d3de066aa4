// What a process was started with, out of the bytes that the system gives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/export.hpp"

namespace rollcall {

struct Variable {
  std::string name;   // never empty
  std::string value;  // any bytes but NUL
};

// An environment as getenv(3) would see it: of entries with one name the first counts.
struct Environment {
  std::vector<Variable> variables;  // in the process's order
  std::size_t repeated = 0;         // entries left out, since an earlier one has their name
  std::size_t nameless = 0;         // entries left out, since they have no name ("=x", "x", "")
};

// Out of NUL-separated entries (/proc/PID/environ of proc(5), KERN_PROCARGS2, the Windows
// parameters block as the backend gives it). An entry is split at its first "=" behind the first
// character (Windows has names like "=C:"). Pure.
[[nodiscard]] ROLLCALL_API Environment parse_environment(std::string_view bytes);

// The arguments out of NUL-ended ones. Pure.
[[nodiscard]] ROLLCALL_API std::vector<std::string> parse_command(std::string_view bytes);

// Whether a variable is to be shown redacted: its name is like a secret's, or its value holds a
// secret, by the same rules as an argument. Pure.
[[nodiscard]] ROLLCALL_API bool looks_secret(const Variable& variable);

// Arguments for showing: the value of an option or a header that is named like a secret
// ("--token X", "--api-key=X", "Cookie: X"), an assignment to such a name, what follows "bearer",
// and the user information of "scheme://user@host" or "user:password@host" become "(hidden)". Pure.
[[nodiscard]] ROLLCALL_API std::vector<std::string> redacted_command(
    std::vector<std::string> arguments);

inline constexpr std::string_view kRedacted = "(hidden)";

}  // namespace rollcall
