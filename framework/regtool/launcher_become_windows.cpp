#include "regtool/launcher.hpp"

namespace rollcall::regtool::launcher {

// A process of Windows keeps its program.
bool can_become_command() { return false; }

tl::unexpected<Failure> become_command(const Plan& plan) {
  return tl::unexpected<Failure>(Failure{kExitRunFailed, "capability_unavailable",
                                         "no process of Windows can become another program",
                                         plan.program});
}

}  // namespace rollcall::regtool::launcher
