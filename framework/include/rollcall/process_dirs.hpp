// Folders that belong to one process each and outlive it: <dir>/<pid>-<start>@<boot_id>, and, as
// others name theirs, <dir>/<pid>-<start>. They are removed on proof only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/export.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// "<pid>-<start>@<boot_id>". Errors: kInvalid, kUnreadable (a part is missing or cannot stand in
// such a name). Pure.
[[nodiscard]] ROLLCALL_API Result<std::string> format_process_dir(const ProcessIdentity& identity);

// The identity that such a name gives; nullopt: it is of another shape. The pid is plain decimal in
// 1..2147483647; the start plain decimal, with six more digits behind a point where the platform
// has them; "0" is a start that its writer did not know, and gives an empty token. Pure.
[[nodiscard]] ROLLCALL_API std::optional<ProcessIdentity> parse_process_dir(std::string_view name);

struct SweptDir {
  std::string name;
  std::int64_t pid = 0;
  Reason code = Reason::kNone;  // of the process; kNone where it is not what decided
  std::string reason;
};

struct DirSweep {
  std::vector<SweptDir> removed;  // with dry_run: what would be removed
  std::vector<SweptDir> kept;     // of that shape, by name: alive, untellable, no folder, ...
};

struct DirSweepOptions {
  bool dry_run = false;
};

// Removes the folders in `path` (absolute) whose process is proven gone, with all in them. Follows
// no link, crosses no mount, leaves names of another shape alone. A start of 0 is proven gone only
// where nobody holds the pid. A missing `path` sweeps nothing. What a killed sweep had taken aside
// (.swept~NAME~RANDOM) is judged again as NAME. Errors: kDenied (`path` is a link), kIo, and the
// probe's; nothing was removed then. Threads: any; two sweeps may run at once.
[[nodiscard]] ROLLCALL_API Result<DirSweep> sweep_process_dirs(const std::string& path,
                                                               const DirSweepOptions& options,
                                                               ProcessProbe& probe,
                                                               const Call& call);

}  // namespace rollcall
