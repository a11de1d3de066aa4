// Pairs: a terminal side with generations and a controller side, each known by files that others
// wrote. Nothing is remembered: what a side is, is derived from the files at every call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall::pairs {

enum class Liveness : std::uint8_t {
  kUnknown,   // could not tell
  kNone,      // the pair has no such side
  kStarting,  // it was begun less than 30 s ago and has not written who it is
  kAlive,
  kDead,
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(Liveness state);  // "unknown", ...

enum class FileState : std::uint8_t { kAbsent, kPresent, kUnreadable };

struct FileFact {
  FileState state = FileState::kAbsent;
  std::int64_t modified_unix_ns = 0;  // with kPresent
  std::string problem;                // with kUnreadable: which file, and why
};

// A sentinel file, and what its process is.
struct SentinelFact {
  FileFact file;
  Liveness verdict = Liveness::kUnknown;  // with kPresent: kAlive, kDead or kUnknown
  std::string reason;                     // unless alive
  std::optional<ProcessIdentity> identity;
};

struct GenerationFacts {
  std::uint64_t number = 0;
  SentinelFact tui_pid;
  FileFact exited;
  FileFact wrapper_sh;
  FileFact wrapper_ps1;
};

// One reading of everything that the files of a pair say.
struct PairFacts {
  FileFact record;                           // kUnreadable also where it makes no sense
  bool has_tab = false;                      // with record kPresent, as the next two
  bool has_controller = false;               //
  std::uint64_t generation = 0;              // the wanted one, with has_tab
  std::vector<GenerationFacts> generations;  // those that have a file; in any order
  SentinelFact controller_pid;
  FileFact controller_exited;
  FileFact resume_lock;
};

struct SideView {
  Liveness state = Liveness::kUnknown;
  std::string reason;                       // why, unless alive or none
  std::optional<std::uint64_t> generation;  // of a terminal: the one that decided
  std::optional<ProcessIdentity> process;   // what its sentinel names
  bool is_contradicted = false;  // unknown because something is there that could not be told, and
                                 // not for want of anything
};

// How long a side may take to write who it is, and how far in the future a file's time may lie to
// count as a clock's jitter.
inline constexpr std::int64_t kStartingNs = 30'000'000'000;

// The rules, in the order of docs/pairs.md. Pure; any thread.
[[nodiscard]] ROLLCALL_API SideView decide_terminal(const PairFacts& facts,
                                                    std::int64_t now_unix_ns);
[[nodiscard]] ROLLCALL_API SideView decide_controller(const PairFacts& facts,
                                                      std::int64_t now_unix_ns);

// What a sentinel's process is, from one reading of it. `boot_seconds`: this boot's time in whole
// seconds, where the platform's writers may have used that form; only those are compared by it:
// equal is alive, a difference proves nothing. Pure; any thread.
struct SentinelVerdict {
  Liveness state = Liveness::kUnknown;
  std::string reason;
};
[[nodiscard]] ROLLCALL_API SentinelVerdict judge_sentinel(const ProcessIdentity& recorded,
                                                          const Observation& read, const Here& here,
                                                          std::optional<std::int64_t> boot_seconds);
// Whether both the boot id and the start token are whole seconds since 1970, as some writers on
// macOS have them; no platform's own are. Pure; any thread.
[[nodiscard]] ROLLCALL_API bool has_seconds_form(const ProcessIdentity& recorded);

struct PairView {
  std::string id;
  SideView terminal;
  SideView controller;
};

struct BrokenPair {
  std::string file;
  std::string reason;
};

struct PairList {
  std::vector<PairView> pairs;     // by id, ascending
  std::vector<BrokenPair> broken;  // records that could not be read or make no sense
};

enum class RebindOutcome : std::uint8_t { kNoRecord, kControllerAlive, kRebound };
[[nodiscard]] ROLLCALL_API std::string_view to_text(RebindOutcome outcome);  // "no_record", ...

struct RebindReport {
  RebindOutcome outcome = RebindOutcome::kNoRecord;
  std::optional<ProcessIdentity>
      controller;  // who is bound now; with kRebound and kControllerAlive
};

// The keys of a pair's record. Writers differ in what they call them.
struct RecordKeys {
  std::string pair_id = "pair_id";
  std::string tab = "tab";
  std::string generation = "generation";
  std::string controller = "controller";
};

// A directory of pairs. Threads: any; each call reads anew.
class ROLLCALL_API PairHome {
 public:
  struct Options {
    std::string dir;                            // absolute
    std::shared_ptr<ProcessProbe> probe;        // required
    std::shared_ptr<const Clock> clock;         // required
    std::optional<std::uint64_t> expect_owner;  // the uid that must own it; default: our own
    RecordKeys keys{};
    std::int64_t lock_timeout_ms = 2000;
    // This boot's time in whole seconds, read anew; null: the platform's. nullopt: it has none.
    std::function<std::optional<std::int64_t>()> boot_seconds;
    // For tests: called between the steps of a change, with the name of the step that comes next.
    std::function<void(std::string_view step)> before_step;
  };

  // Opens and makes nothing. Errors: kInvalid.
  [[nodiscard]] static Result<std::unique_ptr<PairHome>> open(Options options);
  ~PairHome();

  // Every pair that has a record. A missing directory is empty. Errors: kDenied, kIo.
  [[nodiscard]] Result<PairList> list(const Call& call) const;
  // Errors: kInvalid (the id), kNotFound (no record), kDenied, kIo.
  [[nodiscard]] Result<PairView> show(std::string_view id, const Call& call) const;

  // Binds a controller that was started anew to its pair: `parent_pid`, or else the parent of the
  // calling process, becomes the controller, unless one is alive. Under a lock, so that one of two
  // wins. Errors: kInvalid (the id); kRefused (a controller that cannot be told; a parent that is
  // pid 1, gone or ourselves); kUnreadable (the record, the boot id, the parent's start);
  // kTimeout (the lock); kDenied, kIo. Nothing was written then, but for kIo after "remove".
  [[nodiscard]] Result<RebindReport> rebind(std::string_view id,
                                            std::optional<std::int64_t> parent_pid,
                                            const Call& call) const;

 private:
  class Impl;
  explicit PairHome(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::pairs
