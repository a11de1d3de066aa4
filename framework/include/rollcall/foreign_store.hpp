// Records that other programs keep of their sessions, read as if they were Rollcall's own, and
// never written. docs/stores.md says what is read of each, and what is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/export.hpp"
#include "rollcall/pairs.hpp"
#include "rollcall/record_store.hpp"
#include "rollcall/result.hpp"
#include "rollcall/time_guard.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

enum class ForeignKind : std::uint8_t {
  kThreeLayer,  // Rollcall's record with `capsule_name` and `capsule_version`
  kReceipts,    // supercode.live-runtime.v1, <hex>.json
  kPairs,       // the sides of pairs that have a sentinel and have not exited
  kRows,        // one small object a file: pid, session id, start, folder
  kJupyter,     // jpserver-<pid>.json and nbserver-<pid>.json
};

// The keys of a row.
struct RowKeys {
  std::string pid = "pid";
  std::string session = "sessionId";
  std::string started = "startedAt";  // milliseconds since 1970, or RFC 3339 in UTC
  std::string cwd = "cwd";
};

struct ForeignStoreOptions {
  ForeignKind kind = ForeignKind::kThreeLayer;
  std::string name;                           // the store's id()
  std::string dir;                            // absolute
  std::optional<std::uint64_t> expect_owner;  // the uid that must own it; default: our own
  RowKeys row_keys{};
  pairs::RecordKeys pair_keys{};
};

// Records come translated to rollcall.record/1; what could not be is there with its problem. A
// missing directory is empty. Every change is kRefused. Where a session is named by two files, each
// is kept under "<session>.<file>". Errors: kInvalid (the directory is not absolute).
[[nodiscard]] ROLLCALL_API Result<std::shared_ptr<RecordStore>> open_foreign_store(
    ForeignStoreOptions options);

// What the processes of such a store are launched as, where its records hold no start token.
[[nodiscard]] ROLLCALL_API TimeGuard default_guard(ForeignKind kind);

// Whether a directory is on a file system of this machine alone; kShared where it cannot be told.
[[nodiscard]] ROLLCALL_API HomeKind home_kind_of(const std::string& dir);

}  // namespace rollcall
