// Sentinel files: pid files that cannot be fooled. One holds <pid>:<boot_id>:<start_token>
// (rollcall/identity.hpp) of a process of this machine, and is no secret.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/call.hpp"
#include "rollcall/export.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

enum class SentinelState : std::uint8_t {
  kUnknown,  // it could not be told; also: a file that is there and cannot be read
  kAlive,    // the very process that was written down runs
  kDead,     // proven gone, and the file is still there
  kNone,     // there is no file
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(SentinelState state);  // "alive", ...

struct SentinelReport {
  SentinelState state = SentinelState::kUnknown;
  Reason code = Reason::kNone;              // of the process; kNone when alive or without one
  std::string reason;                       // empty when alive or none
  std::optional<ProcessIdentity> identity;  // what the file says, where it can be read
};

// Reads and judges. Changes nothing, follows no link (the folders above the file may be links),
// waits for no FIFO. Whatever goes wrong, a probe that cannot be asked included, is kUnknown with
// its reason: it never counts as dead or as absent. `path` is absolute. Threads: as the probe's.
[[nodiscard]] ROLLCALL_API SentinelReport check_sentinel(const std::string& path,
                                                         ProcessProbe& probe, const Call& call);

// What write_sentinel() does where a file is there already.
enum class SentinelReplace : std::uint8_t {
  kIfDead,  // takes the place of none, or of one whose process is proven gone
  kAlways,  // also of one that is alive, cannot be told, or is a link
};

// Writes the process's sentinel: staged beside it, flushed, and put in its place in one step, so
// that a reader sees the old one or the new one, and of two writers with kIfDead one alone wins. A
// link is replaced, never followed; a folder, a FIFO or a device is never replaced. The file is
// readable by everybody, less the umask. Errors: kInvalid and kUnreadable (the identity), kExists
// (kIfDead: with why), kDenied (what stands there is no file), kNotFound (no such folder), kIo.
[[nodiscard]] ROLLCALL_API Status write_sentinel(const std::string& path,
                                                 const ProcessIdentity& identity,
                                                 SentinelReplace replace, ProcessProbe& probe,
                                                 const Call& call);

// Removes the file if it still is this process's. Errors: kNotFound, kConflict (another's), kIo.
[[nodiscard]] ROLLCALL_API Status remove_sentinel(const std::string& path,
                                                  const ProcessIdentity& identity);

}  // namespace rollcall
