#include <fmt/format.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "regtool/doctor_posix.hpp"

namespace rollcall::regtool {
namespace {

DoctorLine boot_line() {
  char id[64] = {};
  std::size_t size = sizeof id;
  if (sysctlbyname("kern.bootsessionuuid", id, &size, nullptr, 0) == 0) {
    return {"boot", Health::kGood, "kern.bootsessionuuid tells one boot from another"};
  }
  return {"boot", Health::kLimited,
          fmt::format("kern.bootsessionuuid: {}; a boot is told by kern.boottime, which moves with "
                      "the clock: a difference proves nothing",
                      errno_text(errno))};
}

DoctorLine processes_line() {
  if (geteuid() == 0) return {"processes", Health::kGood, "all can be read"};
  return {"processes", Health::kLimited, "other users' processes and their doors cannot be told"};
}

DoctorLine signals_line() {
  return {"signals", Health::kLimited,
          "macOS pins no process: a signal follows the last reading at once, not in one step"};
}

}  // namespace

std::vector<DoctorLine> platform_checks(const std::string& home, std::uint64_t owner) {
  return {kernel_line(),
          boot_line(),
          processes_line(),
          signals_line(),
          descriptors_line(),
          directory_line(home, "home", owner, true),
          directory_line(home + "/running", "records", owner, false)};
}

}  // namespace rollcall::regtool
