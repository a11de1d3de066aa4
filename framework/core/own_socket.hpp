// A local socket whose path somebody else may have chosen.
#pragma once

#include <string>

#include "rollcall/result.hpp"

namespace rollcall::core {

// Whether nobody but the effective user and the superuser can have put the socket `path` there, or
// can put another in its place: the path is absolute; its last name is a socket of the effective
// user's, not a link; every directory above belongs to that user or the superuser, and others may
// write to it only where it is sticky. A link among the directories is followed where it is that
// user's or the superuser's. What was found stays true until one of the two changes it.
// Errors:  kNotFound, kRefused (with the rule and the object), kIo, kUnsupported (Windows).
// Threads: any.
[[nodiscard]] Status check_own_socket(const std::string& path);

}  // namespace rollcall::core
