#include "regtool/orphans_posix.hpp"

namespace rollcall::regtool {

bool keep_orphans() { return false; }
bool reap_orphans(pid_t) { return false; }
std::optional<std::int64_t> hold_asked(const siginfo_t&) { return std::nullopt; }
bool is_for_the_tree(const siginfo_t&) { return false; }

}  // namespace rollcall::regtool
