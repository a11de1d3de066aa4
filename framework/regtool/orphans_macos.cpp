#include "regtool/orphans_posix.hpp"

namespace rollcall::regtool {

bool keep_orphans() { return false; }
void reap_orphans(pid_t) {}
std::optional<std::int64_t> hold_asked(const siginfo_t&) { return std::nullopt; }

}  // namespace rollcall::regtool
