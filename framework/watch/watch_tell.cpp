// What is told: every word on a session goes through the journal, so that all who watch tell the
// same, each thing once.
#include <utility>

#include <fmt/format.h>

#include "watch/differences.hpp"
#include "watch/watch_impl.hpp"

namespace rollcall {

void Watch::Impl::notice(WatchNoticeKind kind, std::string store, std::string text) {
  WatchItem item;
  item.notice = WatchNotice{kind, std::move(store), std::move(text)};
  if (options_.journal && journal_problem_.empty()) item.cursor = heard_;
  items_.push_back(std::move(item));
}

std::size_t Watch::Impl::store_of(std::string_view name) const {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    if (stores_[i].store.name == name) return i;
  }
  return stores_.size();
}

// An entry that somebody wrote. It is the last word on its session, whoever's.
void Watch::Impl::hear(const JournalEntry& entry, bool tell) {
  heard_ = entry.cursor;
  const std::size_t store = store_of(entry.event.store);
  if (store == stores_.size()) return;
  const bool is_state =
      entry.event.kind != EventKind::kOther && entry.event.kind != EventKind::kStopRequested &&
      entry.event.kind != EventKind::kStopBegun && !entry.event.session_id.empty();
  auto& sessions = stores_[store].sessions;
  if (is_state) {
    Known& known = sessions[entry.event.session_id];
    known.said = entry.event;
    const bool is_over = !known.has_record && !known.is_watched && !known.is_polled;
    if (is_over && !watch::is_there(entry.event)) sessions.erase(entry.event.session_id);
  }
  if (!tell) return;
  WatchItem item;
  item.event = entry.event;
  item.kind = entry.kind;
  item.cursor = entry.cursor;
  items_.push_back(std::move(item));
}

// All of it: what was said of each session last, and, behind `after`, what is to be told.
Status Watch::Impl::read_journal(const Call& call) {
  is_quiet_ = !options_.after;
  if (!options_.journal) {
    if (!options_.after) return {};
    is_quiet_ = true;
    notice(WatchNoticeKind::kLost, {}, "there is no journal here to go on from");
    return {};
  }
  // Made now, so that it and the home can be watched.
  const auto made = options_.journal->append(std::span<const Event>(), call);
  if (!made) tell_journal_problem(made.error().message);
  if (options_.after) {
    const auto known = options_.journal->read(*options_.after, 1, call);
    if (known && known->lost) {
      is_quiet_ = true;
      notice(
          WatchNoticeKind::kLost, {},
          fmt::format("the journal does not go back to {}: entries are missing", *options_.after));
    }
  }
  constexpr std::size_t kPage = 1024;
  for (bool more = true; more;) {
    const auto page = options_.journal->read(heard_, kPage, call);
    if (!page) {
      if (page.error().code == ErrorCode::kCancelled) return tl::unexpected(page.error());
      tell_journal_problem(page.error().message);
      return {};
    }
    for (const JournalEntry& entry : page->entries) {
      hear(entry, !is_quiet_ && entry.cursor > *options_.after);
    }
    heard_ = page->next;
    more = page->more;
  }
  return {};
}

// Entries behind `since` were removed before they were read. Said once: what is read behind it
// again is still not there.
void Watch::Impl::tell_lost(Cursor since) {
  if (lost_at_ == since) return;
  lost_at_ = since;
  notice(WatchNoticeKind::kLost, {}, "a part of the journal was removed before it was read");
}

void Watch::Impl::hear_others(const Call& call) {
  journal_changed_ = false;
  if (!options_.journal) return;
  constexpr std::size_t kPage = 1024;
  for (bool more = true; more;) {
    const auto page = options_.journal->read(heard_, kPage, call);
    if (!page) return;  // what can be written can be read: flush() tells what is wrong
    if (page->lost && !is_quiet_) tell_lost(heard_);
    for (const JournalEntry& entry : page->entries) hear(entry, !is_quiet_);
    heard_ = page->next;
    more = page->more;
  }
}

// The events of the steps that were taken, seen from what was said last.
std::vector<Event> Watch::Impl::take_news() {
  std::vector<Event> news;
  for (Step& step : std::exchange(steps_, {})) {
    auto& sessions = stores_[step.store].sessions;
    const auto found = sessions.find(step.session);
    if (found == sessions.end()) continue;
    Known& known = found->second;
    const bool is_pending = step.is_provisional && known.said && watch::is_there(*known.said) &&
                            watch::is_same_process(*known.said, step.now) &&
                            known.said->record == step.now.record;
    auto event =
        is_pending ? std::nullopt : watch::difference(known.said, step.now, options_.ask_doors);
    // It came and went before it was read.
    if (!event && step.is_newcomer && !known.said && step.now.status == Verdict::kGone) {
      event = step.now;
      event->kind = EventKind::kGone;
    }
    if (event) {
      if (event->unix_ns == 0) event->unix_ns = options_.clock->unix_ns();
      known.said = event;
      news.push_back(std::move(*event));
    }
    const bool is_over = !known.has_record && !known.is_watched && !known.is_polled &&
                         (!known.said || !watch::is_there(*known.said));
    if (is_over) sessions.erase(found);
  }
  return news;
}

void Watch::Impl::tell_journal_problem(const std::string& problem) {
  if (journal_problem_.empty()) {
    journal_problem_ = problem;
    notice(WatchNoticeKind::kJournal, {},
           "events have no cursor: the journal cannot be used: " + problem);
  }
}

void Watch::Impl::flush(const Call& call) {
  if (steps_.empty()) return;
  std::vector<Event> news;
  std::size_t written = 0;
  if (options_.journal) {
    Call bounded;
    bounded.cancel = call.cancel;
    const Cursor since = heard_;
    const auto done = options_.journal->exchange(
        heard_, [&](const JournalEntry& entry) { hear(entry, !is_quiet_); },
        [&] { return news = take_news(); }, bounded);
    if (done) {
      if (done->lost && has_begun_) tell_lost(since);
      for (const JournalEntry& entry : done->appended) {
        WatchItem item{std::nullopt, entry.event, entry.kind, entry.cursor};
        if (!is_quiet_) items_.push_back(std::move(item));
      }
      written = done->appended.size();
      heard_ = done->next;
      if (done->failure) {
        journal_problem_.clear();
      } else {
        tell_journal_problem(done->failure.error().message);
      }
    } else {
      tell_journal_problem(done.error().message);
    }
  }
  // What no journal took is told all the same.
  if (!steps_.empty()) news = take_news();
  for (std::size_t i = written; i < news.size(); ++i) {
    if (is_quiet_) continue;
    WatchItem item;
    item.kind = to_text(news[i].kind);
    item.event = std::move(news[i]);
    items_.push_back(std::move(item));
  }
}

void Watch::Impl::tell_present() {
  for (const StoreState& state : stores_) {
    for (const auto& [id, known] : state.sessions) {
      if (!known.said || !watch::is_there(*known.said) || !known.has_record || !known.view) {
        continue;
      }
      WatchItem item;
      item.event = watch::state_of(*known.view, state.store.name);
      item.event.kind = EventKind::kPresent;
      item.event.unix_ns = options_.clock->unix_ns();
      item.kind = to_text(EventKind::kPresent);
      items_.push_back(std::move(item));
    }
  }
}

}  // namespace rollcall
