// Watching sessions: what appears, changes, answers, falls silent, ends. Driven by the kernel; a
// slow sweep confirms, and asks the doors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/journal.hpp"
#include "rollcall/registry.hpp"
#include "rollcall/result.hpp"
#include "rollcall/watcher.hpp"

namespace rollcall {

enum class WatchNoticeKind : std::uint8_t {
  kSynced,    // what came before this is the present; from here on, news
  kLost,      // entries behind the asked cursor are gone: the present follows, then kSynced. Later:
              // the journal lost entries before they were read; nothing follows
  kOverflow,  // the kernel dropped changes: everything was read anew, and no news is missing
  kPolling,   // something is looked at again and again instead: `text` says what and why
  kWatching,  // nothing is polled any more
  kStore,     // a store cannot be read at present: what is known of it stands
  kJournal,   // the journal cannot be written at present: events come without a cursor
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(WatchNoticeKind kind);  // "synced", ...

struct WatchNotice {
  WatchNoticeKind kind = WatchNoticeKind::kSynced;
  std::string store;  // which one; empty: all
  std::string text;
};

// An event, or a notice in its place.
struct WatchItem {
  std::optional<WatchNotice> notice;
  Event event;
  std::string kind;              // as written: also of a newer writer
  std::optional<Cursor> cursor;  // to go on behind this; nullopt: it is not in the journal
};

// Events come in the order of the journal, each once, whoever saw it first: where several watch,
// one of them writes it down and all tell it. What happened while nobody watched is found by
// comparing the journal's last word on each session with the present.
//
// kGone comes on a reading that proves it, never on a kernel event or a removed record alone. A
// record that is removed while its process runs, or cannot be told, is kRemoved; if that process
// ends later, kGone follows. kChanged is what a reader would see; a new token alone is none.
// Doors are asked when a session appears, when its record changes or it is continued, and at each
// sweep, never in the way of other news: until then its status is kAlive.
// Threads: one, but for wake().
class ROLLCALL_API Watch {
 public:
  struct Store {
    std::string name;                      // "rollcall", ...
    Registry* registry = nullptr;          // outlives the watch
    std::shared_ptr<RecordStore> records;  // the registry's
  };
  struct Options {
    std::vector<Store> stores;           // at least one
    std::shared_ptr<const Clock> clock;  // required
    std::shared_ptr<Watcher> watcher;    // null: all is polled
    std::string no_watcher;              // with null: why, for the notice
    std::shared_ptr<Journal> journal;    // null: none is kept, and events have no cursor
    std::string journal_dir;             // with a journal: its folder
    std::optional<Cursor> after;         // nullopt: begins with the present
    bool ask_doors = true;
    std::int64_t sweep_ns = 30'000'000'000;  // between two sweeps, at least 10 ms
    std::int64_t poll_ns = 2'000'000'000;    // between two looks at what is polled
  };

  // Arms first, then reads: what happens in between is not missed. Reads the present, doors
  // included. Nothing is removed from any store. Errors: kInvalid; kCancelled; of a watch on one
  // store alone, why that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Watch>> open(Options options, const Call& call);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // What happened since, at least one item, in order; waits until call.deadline_ns. Empty: the
  // deadline came, or wake() was called. Errors: kCancelled, kIo.
  [[nodiscard]] Result<std::vector<WatchItem>> next(const Call& call);
  // Ends the next() that is under way, or the next one. Any thread; not after destruction began.
  void wake();

 private:
  class Impl;
  explicit Watch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
