#include "rollcall/watch.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "watch/watch_impl.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kShortestSweepNs = 10'000'000;

std::int64_t later(std::int64_t from, std::int64_t by) {
  return from > std::numeric_limits<std::int64_t>::max() - by
             ? std::numeric_limits<std::int64_t>::max()
             : from + by;
}

tl::unexpected<Error> cancelled() { return fail(ErrorCode::kCancelled, "cancelled"); }

}  // namespace

std::string_view to_text(WatchNoticeKind kind) {
  switch (kind) {
    case WatchNoticeKind::kSynced:
      return "synced";
    case WatchNoticeKind::kLost:
      return "lost";
    case WatchNoticeKind::kOverflow:
      return "overflow";
    case WatchNoticeKind::kPolling:
      return "polling";
    case WatchNoticeKind::kWatching:
      return "watching";
    case WatchNoticeKind::kStore:
      return "store";
    case WatchNoticeKind::kJournal:
      return "journal";
  }
  return "unknown";
}

Watch::Impl::Impl(Options options)
    : options_(std::move(options)),
      has_watcher_(options_.watcher != nullptr),
      doors_([this] { doors_answered(); }) {
  for (Store& store : options_.stores) {
    StoreState& state = stores_.emplace_back();
    state.store = store;
    state.place = store.records->place();
  }
}

void Watch::Impl::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  woken_.notify_all();
  if (options_.watcher) options_.watcher->wake();
}

void Watch::Impl::doors_answered() {
  {
    const std::lock_guard lock(mutex_);
    has_answers_ = true;
  }
  woken_.notify_all();
  if (options_.watcher) options_.watcher->wake();
}

bool Watch::Impl::was_woken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(is_woken_, false);
}

Status Watch::Impl::begin(const Call& call) {
  if (auto read = read_journal(call); !read) return read;
  if (!has_watcher_) lose_watcher(options_.no_watcher);
  // Arm first, then read: a change in between is read, or told afterwards, or both.
  for (StoreState& state : stores_) arm_store(state, call);
  const Doors doors = options_.ask_doors ? Doors::kNow : Doors::kAsWanted;
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    if (auto read = scan(i, doors, call); !read && stores_.size() == 1) return read;
    if (call.cancel.cancelled()) return cancelled();
  }
  flush(call);
  arm_journal(call);
  hear_others(call);
  if (is_quiet_) tell_present();
  is_quiet_ = false;
  has_begun_ = true;
  notice(WatchNoticeKind::kSynced, {}, "what came before this is the present");
  tell_polling();
  const std::int64_t now = options_.clock->monotonic_ns();
  next_sweep_ns_ = later(now, options_.sweep_ns);
  next_poll_ns_ = later(now, options_.poll_ns);
  return {};
}

bool Watch::Impl::is_polling() const {
  return !polled_why_.empty() ||
         std::any_of(stores_.begin(), stores_.end(),
                     [](const StoreState& state) { return !state.polled_why.empty(); });
}

std::int64_t Watch::Impl::next_look_ns() const {
  return is_polling() ? std::min(next_sweep_ns_, next_poll_ns_) : next_sweep_ns_;
}

Result<std::vector<WatchItem>> Watch::Impl::next(const Call& call) {
  // The caller's deadline bounds the waiting: what is begun is done.
  Call work;
  work.cancel = call.cancel;
  while (items_.empty()) {
    if (call.cancel.cancelled()) return cancelled();
    const std::int64_t now = options_.clock->monotonic_ns();
    if (now >= next_look_ns()) {
      look_again(work, now >= next_sweep_ns_);
      continue;
    }
    if (now >= call.deadline_ns) return std::vector<WatchItem>{};
    const std::int64_t until = std::min(next_look_ns(), call.deadline_ns);
    if (auto waited = wait_and_take(until, work); !waited) return tl::unexpected(waited.error());
    if (was_woken() && items_.empty()) return std::vector<WatchItem>{};
  }
  std::vector<WatchItem> all(std::make_move_iterator(items_.begin()),
                             std::make_move_iterator(items_.end()));
  items_.clear();
  return all;
}

Status Watch::Impl::wait_and_take(std::int64_t deadline_ns, const Call& call) {
  if (!has_watcher_) {
    std::unique_lock lock(mutex_);
    const auto left = std::chrono::nanoseconds(
        std::max<std::int64_t>(deadline_ns - options_.clock->monotonic_ns(), 0));
    (void)woken_.wait_for(lock, left, [this] { return is_woken_ || has_answers_; });
    lock.unlock();
    take({}, call);
    return {};
  }
  Call bounded;
  bounded.deadline_ns = deadline_ns;
  const auto events = options_.watcher->wait(bounded);
  if (!events) {
    lose_watcher("waiting for the kernel failed: " + events.error().message);
    tell_polling();
    return {};
  }
  take(*events, call);
  return {};
}

// What ended is told first: everything else can wait for that.
void Watch::Impl::take(const std::vector<KernelEvent>& events, const Call& call) {
  std::vector<std::uint64_t> gone;
  for (const KernelEvent& event : events) {
    if (event.kind == KernelEventKind::kEnded) gone.push_back(event.id);
  }
  if (!gone.empty()) {
    ended(gone, call);
    flush(call);
  }
  bool overflow = false;
  for (const KernelEvent& event : events) {
    if (event.kind == KernelEventKind::kOverflow) overflow = true;
    if (event.kind != KernelEventKind::kChanged && event.kind != KernelEventKind::kLost) continue;
    if (event.id == journal_id_) {
      journal_changed_ = true;
      if (event.kind == KernelEventKind::kLost) is_journal_watched_ = false;
      continue;
    }
    const auto state = std::find_if(stores_.begin(), stores_.end(), [&](const StoreState& one) {
      return one.id == event.id || one.parent_id == event.id;
    });
    if (state != stores_.end()) {
      take_directory(static_cast<std::size_t>(state - stores_.begin()), event, call);
    }
  }
  if (overflow) is_journal_watched_ = false;
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    // That a folder went may be among what was dropped.
    if (overflow) arm_store(stores_[i], call);
    stores_[i].is_changed = stores_[i].is_changed || overflow;
    read_changed(i, call);
  }
  ask_wanted();
  take_answers();
  flush(call);
  // Behind what the new reading found: it is all told by then.
  if (overflow) {
    journal_changed_ = true;
    notice(WatchNoticeKind::kOverflow, {}, "the kernel dropped changes; all was read anew");
  }
  arm_journal(call);
  if (journal_changed_) hear_others(call);
  tell_polling();
}

void Watch::Impl::take_directory(std::size_t store, const KernelEvent& event, const Call& call) {
  StoreState& state = stores_[store];
  const bool is_lost = event.kind == KernelEventKind::kLost;
  if (event.id == state.parent_id && !is_lost && !event.name.empty() &&
      event.name != state.waits_for) {
    return;
  }
  if (is_lost || event.id == state.parent_id) {
    arm_store(state, call);
    state.is_changed = true;
  } else if (state.place && state.place->names_are_ids && !event.name.empty()) {
    state.changed.insert(event.name);
  } else {
    state.is_changed = true;
  }
}

// A sweep reads everything; between two, only what nothing else tells.
void Watch::Impl::look_again(const Call& call, bool sweep) {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    StoreState& state = stores_[i];
    if (sweep) {
      arm_store(state, call);
      at_limit_ = false;
    }
    if (sweep || !state.polled_why.empty()) {
      (void)scan(i, sweep ? Doors::kAll : Doors::kAsWanted, call);
    }
  }
  if (!sweep) observe_polled(call);
  ask_wanted();
  take_answers();
  flush(call);
  if (sweep) {
    arm_journal(call);
    hear_others(call);
  }
  tell_polling();
  const std::int64_t now = options_.clock->monotonic_ns();
  if (sweep) next_sweep_ns_ = later(now, options_.sweep_ns);
  next_poll_ns_ = later(now, options_.poll_ns);
}

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Watch::~Watch() = default;

Result<std::unique_ptr<Watch>> Watch::open(Options options, const Call& call) {
  const auto is_bad = [](const Store& store) { return !store.registry || !store.records; };
  if (options.stores.empty() || !options.clock ||
      std::any_of(options.stores.begin(), options.stores.end(), is_bad)) {
    return fail(ErrorCode::kInvalid, "a watch needs a clock and at least one store");
  }
  options.sweep_ns = std::max(options.sweep_ns, kShortestSweepNs);
  options.poll_ns = std::max(options.poll_ns, kShortestSweepNs);
  auto impl = std::make_unique<Impl>(std::move(options));
  if (auto begun = impl->begin(call); !begun) return tl::unexpected(begun.error());
  return std::unique_ptr<Watch>(new Watch(std::move(impl)));
}

Result<std::vector<WatchItem>> Watch::next(const Call& call) { return impl_->next(call); }
void Watch::wake() { impl_->wake(); }

}  // namespace rollcall
