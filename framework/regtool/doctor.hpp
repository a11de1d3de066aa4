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

// The platform's checks: of Linux pidfd, pidfs, /proc, hidepid, descriptors; of Windows its
// version, the stop event, jobs; everywhere the home's directories, which `owner` must own. Creates
// nothing. Threads: any.
[[nodiscard]] std::vector<DoctorLine> platform_checks(const std::string& home, std::uint64_t owner);

// The sentence that a write would fail with.
[[nodiscard]] DoctorLine refused_line(const std::string& topic, const std::string& path,
                                      const std::string& why);
// What makes a directory that is there no home, by the file store's own rule: empty where it is
// one, may become one, or cannot be read.
[[nodiscard]] std::string foreign_entry(const std::string& home, std::uint64_t owner);

// What the value of a mount's option hidepid ("0", "invisible", ...) means to who asks. Pure.
// Linux only.
[[nodiscard]] DoctorLine judge_hidepid(const std::string& value, bool is_superuser);

}  // namespace rollcall::regtool
