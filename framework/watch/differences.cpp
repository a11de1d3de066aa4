#include "watch/differences.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/shown_url.hpp"
#include "registry/gone_record.hpp"
#include "registry/record_text.hpp"

namespace rollcall::watch {
namespace {

// FNV-1a of what the record says to a reader. Of no secret: those are left out before.
std::string fingerprint(const Record& record) {
  const Record shown = registry::without_tokens(record);
  const auto text = registry::record_text(shown);
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  // What cannot be written as a record is told by what is shown of it.
  const std::string plain = shown.name + '\n' + shown.version + '\n' + shown.workdir + '\n' +
                            shown.url.value_or("") + '\n' + shown.process.start_token;
  for (const char byte : text ? *text : plain) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x0000'0100'0000'01B3;
  }
  return fmt::format("{:016x}", hash);
}

EventKind kind_of(Verdict status) {
  switch (status) {
    case Verdict::kLive:
      return EventKind::kLive;
    case Verdict::kAlive:
      return EventKind::kAlive;
    case Verdict::kUnreachable:
      return EventKind::kUnreachable;
    case Verdict::kGone:
      break;
  }
  return EventKind::kGone;
}

Event as(EventKind kind, const Event& now) {
  Event event = now;
  event.kind = kind;
  return event;
}

// A door that was not asked, by who never asks one, says nothing against what a door said.
bool is_no_news(const Event& said, const Event& now, bool asks_doors) {
  if (said.status == now.status && said.reason == now.reason) return true;
  if (asks_doors || now.status != Verdict::kAlive) return false;
  return said.process == ProcessState::kAlive && said.reason != Reason::kSuspended;
}

}  // namespace

Event state_of(const SessionView& view, std::string_view store) {
  Event state;
  state.store = store;
  state.session_id = view.record.session_id;
  state.name = view.record.name;
  state.pid = view.record.process.pid;
  state.start_token = view.record.process.start_token;
  state.status = view.finding.verdict;
  state.reason = view.finding.reason;
  state.text = view.finding.text;
  state.process = view.process.state;
  if (view.record.url) state.url = shown_url(*view.record.url);
  state.record = fingerprint(view.record);
  return state;
}

Event removed_state(const Event& last, ProcessState process, Reason reason, std::string text) {
  Event state = last;
  state.unix_ns = 0;
  state.stop.reset();
  state.process = process;
  if (process == ProcessState::kGone) {
    state.kind = EventKind::kGone;
    state.status = Verdict::kGone;
    state.reason = reason;
    state.text = std::move(text);
    return state;
  }
  state.kind = EventKind::kRemoved;
  state.status = process == ProcessState::kAlive ? Verdict::kAlive : Verdict::kUnreachable;
  state.reason = process == ProcessState::kAlive ? Reason::kNone : reason;
  state.text = process == ProcessState::kAlive
                   ? "its record was removed; its process still runs"
                   : "its record was removed; of its process nothing is known: " + text;
  return state;
}

bool is_same_process(const Event& a, const Event& b) {
  return a.pid == b.pid && a.start_token == b.start_token;
}

bool is_there(const Event& event) {
  return event.kind != EventKind::kGone && event.kind != EventKind::kRemoved;
}

std::optional<Event> difference(const std::optional<Event>& said, const Event& now,
                                bool asks_doors) {
  const bool was_there = said && is_there(*said);
  if (now.status == Verdict::kGone) {
    // One that nobody spoke of, and one that is known to be dead, are no news; one whose record
    // went first is.
    const bool awaited = said && said->kind == EventKind::kRemoved && is_same_process(*said, now);
    if (!was_there && !awaited) return std::nullopt;
    return as(EventKind::kGone, now);
  }
  if (now.kind == EventKind::kRemoved) {
    if (!was_there) return std::nullopt;
    return now;
  }
  if (!was_there) return as(EventKind::kAppeared, now);
  if (said->record != now.record || !is_same_process(*said, now)) {
    return as(EventKind::kChanged, now);
  }
  if (is_no_news(*said, now, asks_doors)) return std::nullopt;
  return as(kind_of(now.status), now);
}

}  // namespace rollcall::watch
