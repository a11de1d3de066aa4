// The inside of Watch: what is known of each session, how it is learnt, and how it is told.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rollcall/watch.hpp"
#include "watch/door_asker.hpp"

namespace rollcall {

class Watch::Impl {
 public:
  explicit Impl(Options options);

  [[nodiscard]] Status begin(const Call& call);
  [[nodiscard]] Result<std::vector<WatchItem>> next(const Call& call);
  void wake();

 private:
  // What is known of one session.
  struct Known {
    std::optional<Event> said;        // the last word on it, by whoever
    std::optional<SessionView> view;  // our own reading; nullopt: only the journal knows it
    bool has_record = false;          // as of our own reading
    bool is_asked = false;            // its door is being asked
    bool is_watched = false;          // the kernel tells its end
    bool is_polled = false;           // nothing else does
    std::uint64_t id = 0;             // the watcher's; 0: none yet
    std::optional<Finding> answer;    // what its door said last; of this very record
  };
  struct StoreState {
    Store store;
    std::optional<StorePlace> place;
    std::uint64_t id = 0;         // the watcher's, of the folder
    std::uint64_t parent_id = 0;  // of the folder that it will appear in
    bool is_watched = false;      // changes of it are told
    std::string waits_for;        // non-empty: its parent is watched, for this entry
    std::string polled_why;       // non-empty: it is polled
    std::string swept_why;        // non-empty: its changes show at the next sweep
    std::string problem;          // non-empty: it cannot be read at present
    std::optional<Here> here;     // of the last sweep
    std::map<std::string, Known, std::less<>> sessions;
    std::set<std::string, std::less<>> changed;  // entries that did
    bool is_changed = false;                     // any of them may have
  };
  // A state that a session came to, still to be compared with what was said of it.
  struct Step {
    std::size_t store = 0;
    std::string session;
    Event now;
    bool is_provisional = false;  // its door is being asked: no news of its status yet
    bool is_newcomer = false;     // its record was not there when the watch began
  };
  // How a scan treats doors: as each session wants, all of them besides, or all of them at once and
  // before it returns.
  enum class Doors : std::uint8_t { kAsWanted, kAll, kNow };

  // watch.cpp: the loop.
  [[nodiscard]] std::int64_t next_look_ns() const;
  [[nodiscard]] bool is_polling() const;
  [[nodiscard]] bool was_woken();
  void doors_answered();
  [[nodiscard]] Status wait_and_take(std::int64_t deadline_ns, const Call& call);
  void take(const std::vector<KernelEvent>& events, const Call& call);
  void take_directory(std::size_t store, const KernelEvent& event, const Call& call);
  void look_again(const Call& call, bool sweep);

  // watch_read.cpp: arming and reading.
  void arm_store(StoreState& state, const Call& call);
  void arm_journal(const Call& call);
  void lose_watcher(const std::string& why);
  [[nodiscard]] Status scan(std::size_t store, Doors doors, const Call& call);
  void read_changed(std::size_t store, const Call& call);
  void learn(std::size_t store, SessionView view, bool ask_door, const Call& call);
  [[nodiscard]] bool may_ask(const SessionView& view) const;
  void vanished(std::size_t store, const std::string& id, Known& known, const Call& call);
  void pin(std::size_t store, const std::string& id, Known& known, const Call& call);
  void unpin(Known& known);
  void ended(const std::vector<std::uint64_t>& ids, const Call& call);
  void observe_polled(const Call& call);
  [[nodiscard]] Here here_of(StoreState& state, const Call& call) const;
  // The state that a session's process leaves it in without its record.
  [[nodiscard]] std::optional<Event> without_record(StoreState& state, Known& known,
                                                    const Call& call) const;
  [[nodiscard]] Event state_now(const StoreState& state, const Known& known) const;
  void observe(std::size_t store, const std::vector<std::string>& ids, const Call& call);
  void ask_wanted();
  void take_answers();
  void tell_polling();

  // watch_tell.cpp: journal and output.
  [[nodiscard]] Status read_journal(const Call& call);
  void hear(const JournalEntry& entry, bool tell);
  void hear_others(const Call& call);
  void tell_lost(Cursor since);
  void flush(const Call& call);
  [[nodiscard]] std::vector<Event> take_news();
  void tell_journal_problem(const std::string& problem);
  void tell_present();
  void notice(WatchNoticeKind kind, std::string store, std::string text);
  [[nodiscard]] std::size_t store_of(std::string_view name) const;

  Options options_;
  std::vector<StoreState> stores_;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::string>> by_id_;  // sessions
  std::uint64_t last_id_ = 0;
  std::vector<Step> steps_;
  std::deque<WatchItem> items_;
  Cursor heard_ = 0;               // what stands before it in the journal is known
  std::optional<Cursor> lost_at_;  // the cursor behind which it was last said that entries are lost
  std::string journal_problem_;    // non-empty: said already
  bool journal_changed_ = false;
  std::uint64_t journal_id_ = 0;
  bool is_journal_watched_ = false;
  bool has_begun_ = false;
  bool is_quiet_ = false;  // what is learnt is not told: the present follows
  bool has_watcher_ = false;
  bool at_limit_ = false;  // the last addition of a process found a limit
  std::map<std::size_t, std::vector<SessionView>> wanted_;  // doors to ask, by store
  std::string polled_why_;    // of processes; non-empty: some are polled, and it was told
  std::string told_polling_;  // as it was told
  std::int64_t next_sweep_ns_ = 0;
  std::int64_t next_poll_ns_ = 0;
  std::mutex mutex_;               // guards the next three
  std::condition_variable woken_;  // without a watcher
  bool is_woken_ = false;
  bool has_answers_ = false;
  watch::DoorAsker doors_;  // last: its thread ends first
};

}  // namespace rollcall
