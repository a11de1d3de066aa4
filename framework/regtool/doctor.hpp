// What `doctor` finds out about the machine that the library's own readings do not say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rollcall::regtool {

enum class Health : std::uint8_t { kGood, kLimited, kBad };

struct DoctorLine {
  std::string topic;
  Health health = Health::kGood;
  std::string text;
};

// The platform's checks: of Linux pidfd, pidfs, /proc, hidepid, descriptors, the home's
// directories, which `owner` must own. Creates nothing. Threads: any.
[[nodiscard]] std::vector<DoctorLine> platform_checks(const std::string& home, std::uint64_t owner);

// What the value of a mount's option hidepid ("0", "invisible", ...) means to who asks. Pure.
[[nodiscard]] DoctorLine judge_hidepid(const std::string& value, bool is_superuser);

}  // namespace rollcall::regtool
