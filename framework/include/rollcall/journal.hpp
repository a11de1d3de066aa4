// What happened to the sessions of a home, in order: <home>/journal/, JSON lines, 0600, bounded.
// docs/json.md has the form of a line (`rollcall.events/1`).
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
#include "rollcall/process_control.hpp"
#include "rollcall/registry.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

inline constexpr std::string_view kJournalFolder = "journal";

enum class EventKind : std::uint8_t {
  kOther,          // of a newer writer; only read
  kAppeared,       // a record that was not known is there
  kChanged,        // the record of a known session says something else now
  kLive,           // its verdict changed to this
  kAlive,          //
  kUnreachable,    //
  kGone,           // its process is proven not to run any more
  kRemoved,        // its record is gone, and its process is not proven to be
  kStopRequested,  // somebody asked for a signal, and this is what came of it
  kStopBegun,      // somebody asks for one, and nothing is sent yet; kStopRequested follows, unless
                   // the asking process ends before that
  kPresent,        // it is there now: how a watch begins; never in a journal
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(EventKind kind);  // "appeared", ...

// Who asked for a stop, and what came of it.
struct StopRequest {
  std::int64_t caller_pid = 0;
  std::string caller_name;
  std::string reason;                                          // what the caller gave; may be empty
  std::vector<Signal> signals;                                 // those that were sent, in order
  std::optional<StopOutcome> outcome = StopOutcome::kRefused;  // nullopt: with kStopBegun
  std::vector<Signal> planned = {};  // those that were asked for: the later ones where needed
  bool tree = false;                 // with all that descends from the session's process
  bool forced = false;               // StopOptions::force
  std::int64_t signalled = 0;        // how many processes a signal was sent to
  std::int64_t members = 0;          // of how many that are known of the tree; 0: without a tree
  friend bool operator==(const StopRequest&, const StopRequest&) = default;
};

// One event. Texts are bytes: in the journal each is cut to 512, what is not UTF-8 is \xNN. Never
// put a token into one.
struct Event {
  EventKind kind = EventKind::kOther;
  std::int64_t unix_ns = 0;  // when; 0: append() fills it in
  std::string store = "rollcall";
  std::string session_id;
  std::string name;  // of the record
  std::int64_t pid = 0;
  std::string start_token;
  Verdict status = Verdict::kUnreachable;  // what the session was, right after it
  Reason reason = Reason::kNone;           // of the status: why it is not live
  std::string text;                        // the same for people; may be empty
  ProcessState process = ProcessState::kUnverified;
  std::optional<std::string> url;   // as shown_url() gives it
  std::string record;               // opaque: the same while the record says the same
  std::optional<StopRequest> stop;  // with kStopRequested and kStopBegun
  friend bool operator==(const Event&, const Event&) = default;
};

// A place in the journal: behind an entry, or 0, before all of them. They grow, also when the
// journal was removed and is begun anew.
using Cursor = std::uint64_t;
// Decimal digits, no more. nullopt: it is no cursor.
[[nodiscard]] ROLLCALL_API std::optional<Cursor> parse_cursor(std::string_view text);

struct JournalEntry {
  Cursor cursor = 0;  // behind this entry: what follows is read by it
  Event event;
  std::string kind;  // as written, also of kOther
};

struct JournalPage {
  std::vector<JournalEntry> entries;
  Cursor next = 0;            // to go on from
  bool more = false;          // there is more behind `next`
  bool lost = false;          // entries behind the asked cursor are gone: it was too old, is of no
                              // entry, or a part of the journal was removed
  std::uint64_t damaged = 0;  // lines that are no entry, left out: what a crash cut short
};

// Writers of several processes and threads may use one journal: each change holds its lock. An
// entry that was appended is in the file when append() returns; it is not flushed to the disk.
// Threads: any.
class ROLLCALL_API Journal {
 public:
  struct Options {
    std::string home;                    // absolute
    std::shared_ptr<const Clock> clock;  // required
    bool read_only = false;              // another user's home
    // The oldest part is removed once there are more of these, each of about this size.
    std::int64_t segment_bytes = 1 << 20;
    std::int64_t segments = 4;
    std::int64_t lock_timeout_ms = 2000;
    std::optional<std::uint64_t> expect_owner;  // the uid that must own it; default: our own
  };
  // Creates nothing. Errors: kInvalid.
  [[nodiscard]] static Result<std::shared_ptr<Journal>> open(Options options);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Adds entries, in order, all or, where the disk is full, the first of them: then it is an error,
  // and `written` (where not null) says how many. Gives the cursor behind the last one. Makes the
  // home and the folder where they are missing. Errors: kRefused (read-only), kDenied (the folder
  // is not safe to use), kTimeout (the lock), kIo.
  [[nodiscard]] Result<Cursor> append(std::span<const Event> events, const Call& call,
                                      std::size_t* written = nullptr);
  [[nodiscard]] Result<Cursor> append(const Event& event, const Call& call) {
    return append(std::span<const Event>(&event, 1), call);
  }
  // Reads what stands behind `since`, hands each entry to `heard`, and appends what `say` then
  // gives, all under one lock: nobody writes in between. Gives the entries that it appended. The
  // folder is made where it is missing, the home is not. Errors: as append(); kNotFound (the home).
  struct Exchange {
    std::vector<JournalEntry> appended;
    Cursor next = 0;    // behind everything
    bool lost = false;  // as JournalPage::lost, of what was heard
    Status failure;     // why not all of it was appended
  };
  [[nodiscard]] Result<Exchange> exchange(Cursor since,
                                          const std::function<void(const JournalEntry&)>& heard,
                                          const std::function<std::vector<Event>()>& say,
                                          const Call& call);

  // The entries behind `after`, at most `limit` of them. A missing journal is empty. Takes no lock.
  // Errors: kDenied, kIo, kUnreadable.
  [[nodiscard]] Result<JournalPage> read(Cursor after, std::size_t limit, const Call& call);
  // Behind everything that is there now; 0: there is nothing.
  [[nodiscard]] Result<Cursor> end();

 private:
  class Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
