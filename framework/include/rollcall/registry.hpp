// The registry: reads records, proves them, acts on proof only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/door_prober.hpp"
#include "rollcall/file_store.hpp"
#include "rollcall/process_control.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/record.hpp"
#include "rollcall/registration.hpp"
#include "rollcall/result.hpp"
#include "rollcall/time_guard.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

class Journal;

// One session as it was found.
struct SessionView {
  Record record;
  StoredRecord stored;  // as read; the version that a removal is compared with
  Observation read;
  Classification process;
  std::optional<DoorReading> door;  // nullopt: not asked
  Finding finding;
  std::int64_t read_unix_ns = 0;
  std::string probe_plugin;
  [[nodiscard]] std::optional<std::int64_t> uptime_s(std::int64_t now_unix_ns) const;
};

struct UnreadableEntry {
  std::string file;  // "<name>.json"
  std::string reason;
  bool is_record_problem = false;  // false: it could not be read; true: it is no record
  RecordError problem;
  StoredRecord stored;
};

struct PrunedEntry {
  std::string session_id;
  Reason code = Reason::kNone;
  std::string reason;
  std::optional<SessionView> view;
};

struct Sweep {
  Here here;
  std::vector<SessionView> sessions;  // newest first; gone ones included only if not pruned
  std::vector<UnreadableEntry> unreadable;
  std::vector<PrunedEntry> pruned;
  std::vector<std::string> warnings;     // e.g. a gone record that could not be removed, and why
  std::vector<std::string> quarantined;  // names moved, or with dry_run to be moved, by prune
};

struct SweepOptions {
  bool ask_doors = true;
  bool prune = false;
  bool want_age = true;
};

struct PruneOptions {
  bool dry_run = false;
};

struct RegisterOptions {
  bool replace = false;  // take over an id whose record is Alive or Unverified
  bool guarded = true;   // false: the record is left to prune or forget
};

struct StopOptions {
  bool force = false;  // one SIGKILL in place of both SIGTERM
  std::int64_t second_after_ms = 1000;
  std::int64_t total_ms = 3000;
  // With all that descends from the session's process. kUnsupported where the platform's backend
  // cannot hold a tree.
  bool tree = false;
  // First at its door, where that offers it, with the record's token; by signals where it does not
  // accept, or is still there after `second_after_ms`. Never with `force` or `tree`.
  bool ask_door = true;
  // Who asks, and why, for the door and the journal; UTF-8. An empty name: the calling process's.
  std::string caller_name;
  std::string reason;
};

// kSent: of signals other than KILL, whose end nobody waits for.
enum class StopOutcome : std::uint8_t { kEnded, kAlreadyGone, kStillThere, kRefused, kSent };
[[nodiscard]] ROLLCALL_API std::string_view to_text(StopOutcome outcome);  // "ended", ...

// What became of a session's tree, and how surely that is all of it.
struct StopTree {
  Containment containment = Containment::kBestEffort;
  std::vector<StopMember> members;  // the session's own process first
};

// What a door said that was asked to end its session.
struct StopDoor {
  bool accepted = false;
  std::string why;  // where it did not
};

struct StopReport {
  std::string session_id;
  // With a tree, kEnded says that all of it was seen to end.
  StopOutcome outcome = StopOutcome::kRefused;
  std::vector<Signal> signals;  // those that were sent to the session's process, in order
  std::string reason;           // empty when ended without remark
  std::int64_t elapsed_ns = 0;
  ExitStatus exit;               // of the session's process, where it has ended
  std::optional<StopTree> tree;  // where one was asked for and something was signalled
  std::optional<StopDoor> door;  // where it was asked
  std::string journal_problem;   // why the journal does not know what came of it; empty: it does,
                                 // or there is none
};

struct WaitReport {
  std::string session_id;
  AwaitResult result = AwaitResult::kUnknown;
  std::string reason;
  ExitStatus exit;  // with kEnded
};

// One line of an explanation: what was recorded, what was read, by whom, and what follows.
struct ExplainLine {
  std::string layer;  // "1 pid held", "2 same process", "3 door"
  std::string recorded;
  std::string read;
  std::string by;  // plugin id and time
  std::string follows;
};
[[nodiscard]] ROLLCALL_API std::vector<ExplainLine> explain(const SessionView& view,
                                                            const Here& here);

// Threads: any; each call stands for itself.
class ROLLCALL_API Registry {
 public:
  struct Options {
    std::shared_ptr<RecordStore> store;       // required
    std::shared_ptr<FileStore> files;         // the same store when it is the built-in one, or null
    std::shared_ptr<ProcessProbe> probe;      // required: the platform's own
    std::shared_ptr<ProcessControl> control;  // null: no act
    // The prober for a kind of door; an error is shown as `no-plugin`.
    std::function<Result<std::shared_ptr<DoorProber>>(std::string_view kind)> doors;
    std::shared_ptr<const Clock> clock;  // required
    std::vector<std::string> allow_hosts;
    DoorLimits limits;
    bool is_foreign_store = false;  // nothing is pruned
    // Of a store whose records may lack a start token: the rule that judges those.
    std::optional<TimeGuard> time_guard;
    // Whether a signal may be sent on that rule's word. A removal never is.
    bool accept_time_guard = false;
    // Whether the records are on a file system of this machine alone, where `files` is null.
    HomeKind home = HomeKind::kShared;
    // Keeps who asked for a stop or a signal; null: nobody does.
    std::shared_ptr<Journal> journal;
    std::string store_name = "rollcall";  // of `store`, for the journal
    // A third party's probe. Where it does not call a process alive too, the verdict is lowered to
    // Unverified; it never raises one, and never licenses a removal or a signal.
    std::shared_ptr<ProcessProbe> second_opinion;
  };

  [[nodiscard]] static Result<std::unique_ptr<Registry>> open(Options options);
  ~Registry();

  // This machine, read now.
  [[nodiscard]] Result<Here> here(const Call& call);
  [[nodiscard]] Result<Sweep> sweep(const SweepOptions& options, const Call& call);
  // One session by its full id. kNotFound: no record. kCorrupt: a file that is no record.
  [[nodiscard]] Result<SessionView> verify(std::string_view session_id, bool ask_door,
                                           const Call& call);
  // Records a session. `record.process` empty (pid 0): the calling process. Refused (kExists)
  // where the id's record is Alive or Unverified; a Gone one is replaced.
  [[nodiscard]] Result<Registration> register_session(Record record, const RegisterOptions& options,
                                                      const Call& call);
  // The identity of any process, read now, as a writer would record it. kUnreadable, kNotFound.
  [[nodiscard]] Result<ProcessIdentity> identify(std::int64_t pid, const Call& call);
  // Removes a record by hand. kRefused where it is Alive or cannot be told, without `force`.
  [[nodiscard]] Status forget(std::string_view session_id, bool force, const Call& call);
  [[nodiscard]] Result<Sweep> prune(const PruneOptions& options, const Call& call);
  [[nodiscard]] Result<StopReport> stop(std::string_view session_id, const StopOptions& options,
                                        const Call& call);
  // One signal; for kKill the exit is awaited for `await_ms`. kUnsupported: this platform has none
  // of that name.
  [[nodiscard]] Result<StopReport> kill(std::string_view session_id, Signal signal,
                                        std::int64_t await_ms, const Call& call);
  // The same, told of who asks: `tree`, `force`, `ask_door` and the intervals of the options but
  // `total_ms`, for which the end is awaited after kKill, have no say.
  [[nodiscard]] Result<StopReport> kill(std::string_view session_id, Signal signal,
                                        const StopOptions& options, const Call& call);
  [[nodiscard]] Result<WaitReport> wait(std::string_view session_id, const Call& call);
  // Bytes of a session's process as the system gives them (see process_details.hpp). Its identity
  // is read before and after, so that they are its own and not a successor's. kNotFound: no such
  // record, or its process is gone; kRefused: it cannot be told whether it is that process; kDenied
  // and kUnreadable: the system does not give them. Empty bytes are an answer: it has none.
  [[nodiscard]] Result<std::string> read_process(std::string_view session_id, ReadWhat what,
                                                 const Call& call);
  // The same of several, read one after the other between the two readings of its identity.
  [[nodiscard]] Result<std::vector<std::string>> read_process(std::string_view session_id,
                                                              std::span<const ReadWhat> what,
                                                              const Call& call);

  class Impl;  // not for hosts
  [[nodiscard]] const Impl& inside() const { return *impl_; }

 private:
  explicit Registry(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
