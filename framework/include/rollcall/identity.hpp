// Who a process is: more than its pid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/export.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// The identity that a writer recorded of a process. Every part but the pid is opaque: compared for
// equality, never parsed.
struct ProcessIdentity {
  std::int64_t pid = 0;

  // Linux: proc(5), /proc/PID/stat field 22, clock ticks since boot. macOS: seconds.microseconds.
  // Windows: creation FILETIME in decimal. Empty: the writer could not read it.
  std::string start_token;

  // Absent: never recorded (an older writer). Never empty.
  std::optional<std::string> boot_id;

  // Linux 6.9 and later: the inode number of the process's pidfd, decimal. Void without a boot_id.
  std::optional<std::string> exact_id;

  // From where the machine was seen.
  std::optional<std::string> host_id;
  std::optional<std::string> pid_namespace;
  std::optional<std::string> time_namespace;

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// The highest pid that can be one: INT32_MAX.
inline constexpr std::int64_t kMaxPid = 2147483647;

// Whether a process could hold this number at all. 0 and negatives address groups in kill(2).
[[nodiscard]] constexpr bool is_possible_pid(std::int64_t pid) {
  return pid >= 1 && pid <= kMaxPid;
}

// `<pid>:<boot_id>:<start_token>`. Errors: kUnreadable where boot id or start token is missing.
[[nodiscard]] ROLLCALL_API Result<std::string> format_sentinel(const ProcessIdentity& identity);

// The strict reverse; the token may hold colons. A leading BOM and surrounding ASCII blanks are
// dropped. Errors: kInvalid, naming the part.
[[nodiscard]] ROLLCALL_API Result<ProcessIdentity> parse_sentinel(std::string_view text);

}  // namespace rollcall
