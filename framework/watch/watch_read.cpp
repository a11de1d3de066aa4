// How sessions are learnt of: what is armed, what is read, and what follows from a reading.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "registry/registry_impl.hpp"
#include "watch/differences.hpp"
#include "watch/watch_impl.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::size_t kFewChanges = 64;  // read one by one; more are read together

// "/a/b" as {"/a", "b"}; a root has no parent.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t last = path.find_last_of("/\\");
  if (last == std::string::npos || last + 1 == path.size()) return {};
  return {last == 0 ? "/" : path.substr(0, last), path.substr(last + 1)};
}

bool is_same_identity(const SessionView& a, const SessionView& b) {
  return a.record.process == b.record.process;
}

}  // namespace

// Its folder, as it stands now; where there is none, its parent, in which it will appear.
void Watch::Impl::arm_store(StoreState& state, const Call& call) {
  state.polled_why.clear();
  state.swept_why.clear();
  state.is_watched = false;
  if (!state.place) {
    state.swept_why = "it is no folder of this machine";
    return;
  }
  if (!has_watcher_) {
    state.polled_why = options_.no_watcher;
    return;
  }
  if (state.id == 0) {
    state.id = ++last_id_;
    state.parent_id = ++last_id_;
  }
  const auto arm = [&](std::uint64_t id, const std::string& dir) {
    const auto armed = options_.watcher->add_directory(id, dir, call);
    if (armed && armed->result == WatchResult::kGone) return WatchResult::kGone;
    if (armed && armed->result == WatchResult::kWatched) return WatchResult::kWatched;
    state.polled_why = armed ? armed->reason : armed.error().message;
    return WatchResult::kUnsupported;
  };
  const auto [parent, leaf] = split_path(state.place->dir);
  WatchResult result = arm(state.id, state.place->dir);
  const bool parent_helps = result == WatchResult::kGone && !parent.empty() &&
                            arm(state.parent_id, parent) == WatchResult::kWatched;
  // Made while its parent was armed: then it is there at the second look.
  if (parent_helps) result = arm(state.id, state.place->dir);
  state.waits_for = parent_helps && result == WatchResult::kGone ? leaf : std::string();
  if (parent_helps && state.waits_for.empty()) (void)options_.watcher->remove(state.parent_id);
  state.is_watched = result == WatchResult::kWatched || !state.waits_for.empty();
  if (!state.is_watched && state.polled_why.empty()) {
    state.swept_why = fmt::format("{} is not there", state.place->dir);
  }
}

// What others write there is told at once; without this, at the next sweep.
void Watch::Impl::arm_journal(const Call& call) {
  if (!options_.journal || !has_watcher_ || is_journal_watched_) return;
  if (journal_id_ == 0) journal_id_ = ++last_id_;
  const auto armed = options_.watcher->add_directory(journal_id_, options_.journal_dir, call);
  is_journal_watched_ = armed && armed->result == WatchResult::kWatched;
  if (is_journal_watched_) journal_changed_ = true;  // what was written before that
}

void Watch::Impl::lose_watcher(const std::string& why) {
  has_watcher_ = false;
  options_.no_watcher = why.empty() ? "nothing is told by the kernel" : why;
  for (StoreState& state : stores_) {
    state.is_watched = false;
    if (state.place) state.polled_why = options_.no_watcher;
    for (auto& [id, known] : state.sessions) {
      if (!known.is_watched) continue;
      known.is_watched = false;
      known.is_polled = true;
      polled_why_ = options_.no_watcher;
    }
  }
  by_id_.clear();
}

Here Watch::Impl::here_of(StoreState& state, const Call& call) const {
  if (!state.here) {
    auto here = state.store.registry->inside().here(call);
    if (!here) return Here{};  // which proves nothing gone
    state.here = std::move(*here);
  }
  return *state.here;
}

Status Watch::Impl::scan(std::size_t store, Doors doors, const Call& call) {
  StoreState& state = stores_[store];
  SweepOptions options;
  options.ask_doors = false;
  options.want_age = false;
  state.changed.clear();
  state.is_changed = false;
  auto sweep = state.store.registry->sweep(options, call);
  if (!sweep) {
    if (state.problem.empty() && sweep.error().code != ErrorCode::kCancelled) {
      notice(WatchNoticeKind::kStore, state.store.name,
             "it cannot be read at present: " + sweep.error().message);
    }
    state.problem = sweep.error().message;
    return tl::unexpected(sweep.error());
  }
  state.problem.clear();
  state.here = sweep->here;
  if (doors == Doors::kNow) {
    std::vector<SessionView*> asked;
    for (SessionView& view : sweep->sessions) {
      if (may_ask(view)) asked.push_back(&view);
    }
    state.store.registry->inside().finish(asked, true, sweep->here, call);
  }
  std::set<std::string, std::less<>> seen;
  // What is there and cannot be read at the moment is not gone.
  for (const UnreadableEntry& entry : sweep->unreadable) seen.insert(entry.stored.name);
  for (SessionView& view : sweep->sessions) {
    seen.insert(view.record.session_id);
    learn(store, std::move(view), doors == Doors::kAll, call);
  }
  for (auto& [id, known] : state.sessions) {
    if (seen.find(id) == seen.end()) vanished(store, id, known, call);
  }
  return {};
}

void Watch::Impl::read_changed(std::size_t store, const Call& call) {
  StoreState& state = stores_[store];
  if (state.is_changed || state.changed.size() > std::max(kFewChanges, state.sessions.size() / 4)) {
    (void)scan(store, Doors::kAsWanted, call);
    return;
  }
  const Registry::Impl& registry = state.store.registry->inside();
  for (const std::string& name : std::exchange(state.changed, {})) {
    if (!name.ends_with(kSuffix)) continue;
    const std::string id = name.substr(0, name.size() - kSuffix.size());
    if (!check_session_id(id)) continue;
    auto view = registry.read(id, call);
    if (!view) {
      const auto known = state.sessions.find(id);
      const bool is_away = view.error().code == ErrorCode::kNotFound;
      if (is_away && known != state.sessions.end()) vanished(store, id, known->second, call);
      continue;
    }
    const Here here = here_of(state, call);
    SessionView* const one[] = {&*view};
    if (!registry.observe(one, 0, here, call)) continue;
    registry.finish(one, false, here, call);
    learn(store, std::move(*view), false, call);
  }
}

bool Watch::Impl::may_ask(const SessionView& view) const {
  return options_.ask_doors && view.record.has_door() &&
         view.process.state == ProcessState::kAlive && !view.read.suspended.value_or(false);
}

// A reading of one session: with its door, where that was asked already.
void Watch::Impl::learn(std::size_t store, SessionView view, bool ask_door, const Call& call) {
  StoreState& state = stores_[store];
  const std::string id = view.record.session_id;
  Known& known = state.sessions[id];
  const bool is_new = !known.has_record || !known.view;
  const bool is_changed = known.view && known.view->stored.bytes != view.stored.bytes;
  const Event now = watch::state_of(view, state.store.name);
  const bool is_successor =
      (known.view && !is_same_identity(*known.view, view)) ||
      (known.said && watch::is_there(*known.said) && !watch::is_same_process(*known.said, now));
  if (is_successor) {
    auto before = without_record(state, known, call);
    if (before && before->status == Verdict::kGone) {
      steps_.push_back({store, id, std::move(*before)});
    }
    unpin(known);
  }
  const bool can_ask = may_ask(view);
  if (view.door) {
    known.answer = view.finding;
  } else if (is_new || is_changed || !can_ask) {
    known.answer.reset();
  }
  const bool wants = can_ask && !view.door && (ask_door || !known.answer);
  if (can_ask && !view.door && known.answer) view.finding = *known.answer;
  known.view = std::move(view);
  known.has_record = true;
  const bool is_pending = can_ask && !known.answer;
  steps_.push_back({store, id, watch::state_of(*known.view, state.store.name), is_pending,
                    has_begun_ && is_new});
  pin(store, id, known, call);
  if (wants && !known.is_asked) {
    known.is_asked = true;
    wanted_[store].push_back(*known.view);
  }
}

std::optional<Event> Watch::Impl::without_record(StoreState& state, Known& known,
                                                 const Call& call) const {
  const Here here = here_of(state, call);
  SessionView view;
  if (known.view) {
    view = *known.view;
  } else if (known.said) {
    // All that the journal keeps of a process; the boot was never recorded there.
    view.record.session_id = known.said->session_id;
    view.record.process.pid = known.said->pid;
    view.record.process.start_token = known.said->start_token;
  } else {
    return std::nullopt;
  }
  SessionView* const one[] = {&view};
  const bool was_read = state.store.registry->inside().observe(one, 0, here, call).has_value();
  const Event last = known.view ? watch::state_of(view, state.store.name) : *known.said;
  if (!was_read) {
    return watch::removed_state(last, ProcessState::kUnverified, Reason::kUnreadable,
                                "it could not be read");
  }
  return watch::removed_state(last, view.process.state, view.process.reason,
                              reason_text(view.process, view.record.process, view.read, here));
}

void Watch::Impl::vanished(std::size_t store, const std::string& id, Known& known,
                           const Call& call) {
  const bool was_there = known.said && watch::is_there(*known.said);
  if (!known.has_record && !was_there) return;
  auto now = without_record(stores_[store], known, call);
  known.has_record = false;
  known.answer.reset();
  // Its end is still awaited where it lives; a kernel event then tells it.
  if (now && now->process != ProcessState::kAlive) unpin(known);
  if (now) steps_.push_back({store, id, std::move(*now)});
}

void Watch::Impl::unpin(Known& known) {
  if (known.is_watched) {
    by_id_.erase(known.id);
    if (has_watcher_) (void)options_.watcher->remove(known.id);
  }
  known.is_watched = false;
  known.is_polled = false;
}

void Watch::Impl::pin(std::size_t store, const std::string& id, Known& known, const Call& call) {
  if (known.is_watched) return;
  known.is_polled = false;
  if (known.view->process.state != ProcessState::kAlive) return;
  if (!has_watcher_ || at_limit_) {
    known.is_polled = true;
    if (!has_watcher_) polled_why_ = options_.no_watcher;
    return;
  }
  const Registry::Impl& registry = stores_[store].store.registry->inside();
  const Here here = here_of(stores_[store], call);
  const Record& record = known.view->record;
  const bool guarded = registry.is_guarded(record.process);
  const Judge judge{wants_for(record.process) | (guarded ? kWantAge : 0U),
                    [&](const Observation& read) {
                      return guarded ? registry.guarded_verdict(record, read, here, call).state
                                     : classify(record.process, read, here).state;
                    }};
  known.id = ++last_id_;
  const auto outcome = options_.watcher->add_process(known.id, record.process.pid, judge, call);
  if (outcome && outcome->result == WatchResult::kWatched) {
    known.is_watched = true;
    by_id_[known.id] = {store, id};
  } else if (outcome && outcome->result == WatchResult::kGone) {
    observe(store, {id}, call);
  } else if (!outcome || outcome->result != WatchResult::kUnverified) {
    known.is_polled = true;
    at_limit_ = at_limit_ || (outcome && outcome->result == WatchResult::kLimit);
    polled_why_ = outcome ? outcome->reason : outcome.error().message;
  }
}

Event Watch::Impl::state_now(const StoreState& state, const Known& known) const {
  Event now = watch::state_of(*known.view, state.store.name);
  if (known.has_record) return now;
  return watch::removed_state(now, known.view->process.state, known.view->finding.reason,
                              known.view->finding.text);
}

// Reads these processes anew, and only them. What is still there is no news.
void Watch::Impl::observe(std::size_t store, const std::vector<std::string>& ids,
                          const Call& call) {
  StoreState& state = stores_[store];
  const Registry::Impl& registry = state.store.registry->inside();
  std::vector<SessionView> views;
  for (const std::string& id : ids) views.push_back(*state.sessions.find(id)->second.view);
  std::vector<SessionView*> pointers;
  for (SessionView& view : views) {
    view.door.reset();
    pointers.push_back(&view);
  }
  const Here here = here_of(state, call);
  if (!registry.observe(pointers, 0, here, call)) return;  // the sweep tries again
  registry.finish(pointers, false, here, call);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (views[i].process.state != ProcessState::kGone) continue;
    Known& known = state.sessions.find(ids[i])->second;
    unpin(known);
    known.answer.reset();
    known.view = std::move(views[i]);
    steps_.push_back({store, ids[i], state_now(state, known)});
  }
}

// The kernel says that they ended; the reading proves it.
void Watch::Impl::ended(const std::vector<std::uint64_t>& ids, const Call& call) {
  std::map<std::size_t, std::vector<std::string>> sessions;
  for (const std::uint64_t id : ids) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) continue;
    const auto [store, session] = found->second;
    by_id_.erase(found);
    const auto known = stores_[store].sessions.find(session);
    if (known == stores_[store].sessions.end() || known->second.id != id) continue;
    known->second.is_watched = false;
    sessions[store].push_back(session);
  }
  for (const auto& [store, names] : sessions) observe(store, names, call);
}

void Watch::Impl::observe_polled(const Call& call) {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    std::vector<std::string> polled;
    for (const auto& [id, known] : stores_[i].sessions) {
      if (known.is_polled && known.view) polled.push_back(id);
    }
    if (!polled.empty()) observe(i, polled, call);
  }
}

void Watch::Impl::ask_wanted() {
  for (auto& [store, views] : std::exchange(wanted_, {})) {
    watch::DoorAsker::Job job;
    job.store = store;
    job.registry = stores_[store].store.registry;
    job.here = stores_[store].here.value_or(Here{});
    job.views = std::move(views);
    doors_.ask(std::move(job));
  }
}

void Watch::Impl::take_answers() {
  {
    const std::lock_guard lock(mutex_);
    has_answers_ = false;
  }
  for (auto& job : doors_.answers()) {
    for (SessionView& view : job.views) {
      auto& sessions = stores_[job.store].sessions;
      const auto found = sessions.find(view.record.session_id);
      if (found == sessions.end()) continue;
      Known& known = found->second;
      known.is_asked = false;
      // Of a record that is another by now, or a process that is not there to answer any more.
      if (!known.has_record || !known.view || !may_ask(*known.view) ||
          known.view->stored.bytes != view.stored.bytes) {
        continue;
      }
      known.answer = view.finding;
      known.view->door = std::move(view.door);
      known.view->finding = *known.answer;
      steps_.push_back(
          {job.store, found->first, watch::state_of(*known.view, stores_[job.store].store.name)});
    }
  }
}

void Watch::Impl::tell_polling() {
  std::size_t polled = 0;
  for (const StoreState& state : stores_) {
    for (const auto& [id, known] : state.sessions) polled += known.is_polled ? 1 : 0;
  }
  if (polled == 0) polled_why_.clear();
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  const std::int64_t poll_ms = options_.poll_ns / 1'000'000;
  const std::int64_t sweep_ms = options_.sweep_ns / 1'000'000;
  if (!has_watcher_) {
    add(fmt::format("all is read every {} ms: {}", poll_ms, options_.no_watcher));
  } else if (polled > 0) {
    add(fmt::format("processes are read every {} ms: {}", poll_ms, polled_why_));
  }
  for (const StoreState& state : stores_) {
    if (!has_watcher_ && state.place) continue;
    if (!state.polled_why.empty()) {
      add(fmt::format("the store {} is read every {} ms: {}", state.store.name, poll_ms,
                      state.polled_why));
    } else if (!state.swept_why.empty()) {
      add(fmt::format("the store {} is read every {} ms: {}", state.store.name, sweep_ms,
                      state.swept_why));
    }
  }
  if (text == told_polling_) return;
  told_polling_ = text;
  if (text.empty()) {
    notice(WatchNoticeKind::kWatching, {}, "the kernel tells everything again; nothing is polled");
  } else {
    notice(WatchNoticeKind::kPolling, {}, text);
  }
}

}  // namespace rollcall
