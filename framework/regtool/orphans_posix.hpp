// What a command leaves behind when it forks twice: kept as children of the wrapper, reaped, and
// held on to while somebody stops the whole tree. For *_posix.cpp files only.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace rollcall::regtool {

// From now on the orphans among our descendants become children of ours, and not of init. False:
// this system cannot, and reap_orphans() finds none. Source: prctl(2), PR_SET_CHILD_SUBREAPER.
[[nodiscard]] bool keep_orphans();

// Reaps the children that have ended, but not `command` (-1: all). Whether there are others still.
bool reap_orphans(pid_t command);

// The milliseconds for which this signal asks us to stay (rollcall/tree_hold.hpp), or
// plugin::kHoldForOrphans; 0: we may go. nullopt: it is no such word.
[[nodiscard]] std::optional<std::int64_t> hold_asked(const siginfo_t& info);

// Whether the whole tree is sent this signal, our command too: it is not to be passed on.
[[nodiscard]] bool is_for_the_tree(const siginfo_t& info);

}  // namespace rollcall::regtool
