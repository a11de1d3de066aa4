#include "registry/registry_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/rfc3339.hpp"
#include "doors/gate.hpp"
#include "liveness/machine.hpp"

namespace rollcall {

Result<Here> Registry::Impl::here(const Call& call) const {
  auto who = options_.probe->whoami(call);
  if (!who) return wrap("cannot read this machine's identity", who.error());
  // Before the first write of every act, and anew after a fork.
  if (options_.files) options_.files->set_writer(who->self);
  return here_of(std::move(*who), options_.files ? options_.files->home_kind() : options_.home);
}

bool Registry::Impl::may_prune() const {
  if (options_.is_foreign_store) return false;
  return !options_.files || !options_.files->read_only();
}

Result<SessionView> Registry::Impl::read(std::string_view session_id, const Call& call) const {
  if (const auto valid = check_session_id(session_id); !valid) {
    return tl::unexpected(valid.error());
  }
  auto stored = options_.store->read(session_id, call);
  if (!stored) return tl::unexpected(stored.error());
  if (!stored->problem.empty()) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("cannot read the record of {}: {}", session_id, stored->problem));
  }
  auto record = parse_record(stored->bytes, session_id);
  if (!record) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}.json is no record: {}", session_id, record.error().text));
  }
  SessionView view;
  view.record = std::move(*record);
  view.stored = std::move(*stored);
  return view;
}

Status Registry::Impl::observe(std::span<SessionView* const> views, std::uint32_t extra_wants,
                               const Here& here, const Call& call) const {
  std::vector<Ask> asks(views.size());
  std::vector<Observation> read(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Record& record = views[i]->record;
    asks[i] = {record.process.pid, wants_for(record.process) | extra_wants};
    if (record.has_door()) asks[i].wants |= kWantState;
    if (is_guarded(record.process)) asks[i].wants |= kWantAge;
  }
  if (auto status = options_.probe->observe(asks, read, call); !status) {
    return wrap("cannot read processes", status.error());
  }
  const std::int64_t now = options_.clock->unix_ns();
  const std::string plugin = options_.probe->id();
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i]->read = read[i];
    views[i]->process = classify(views[i]->record.process, read[i], here);
    views[i]->read_unix_ns = now;
    views[i]->probe_plugin = plugin;
    if (is_guarded(views[i]->record.process)) {
      views[i]->process = guarded_verdict(views[i]->record, read[i], here, call);
    }
  }
  if (options_.second_opinion) lower_by_second_opinion(views, here, call);
  return {};
}

bool Registry::Impl::is_guarded(const ProcessIdentity& recorded) const {
  return options_.time_guard && recorded.start_token.empty();
}

Classification Registry::Impl::guarded_verdict(const Record& record, const Observation& read,
                                               const Here& here, const Call& call) const {
  const TimeGuard& guard = *options_.time_guard;
  GuardReading reading;
  reading.start_unix_ns = read.start_unix_ns;
  if (const auto time = core::parse_rfc3339_utc(record.started_at)) {
    reading.recorded_unix_ns = *time;
  }
  Result<std::string> command = fail(ErrorCode::kUnreadable, "not read");
  if (read.presence == Presence::kPresent && needs_command(guard, reading)) {
    command = options_.probe->read(record.process.pid, ReadWhat::kCommand, call);
    // That it was this process's, and not a successor's on its pid.
    Observation again;
    const Ask ask{record.process.pid, kWantStartToken};
    const auto status = options_.probe->observe({&ask, 1}, {&again, 1}, call);
    const bool same = status && again.presence == Presence::kPresent &&
                      !again.start_token.empty() &&
                      again.start_token.view() == read.start_token.view();
    if (command && same) reading.command = *command;
  }
  return classify_guarded(record.process, read, here, guard, reading);
}

bool Registry::Impl::is_same(const SessionView& view, const Observation& now,
                             const Here& here) const {
  const ProcessIdentity& recorded = view.record.process;
  if (!is_guarded(recorded)) return classify(recorded, now, here).state == ProcessState::kAlive;
  // It was told by its time; that reading's own token tells it from a successor.
  return now.presence == Presence::kPresent && !now.start_token.empty() &&
         now.start_token.view() == view.read.start_token.view();
}

void Registry::Impl::lower_by_second_opinion(std::span<SessionView* const> views, const Here& here,
                                             const Call& call) const {
  std::vector<SessionView*> alive;
  std::vector<Ask> asks;
  for (SessionView* const view : views) {
    if (view->process.state != ProcessState::kAlive) continue;
    alive.push_back(view);
    asks.push_back({view->record.process.pid, wants_for(view->record.process)});
  }
  std::vector<Observation> read(asks.size());
  const auto status = options_.second_opinion->observe(asks, read, call);
  for (std::size_t i = 0; i < alive.size(); ++i) {
    alive[i]->probe_plugin += " and " + options_.second_opinion->id();
    const Classification second = classify(alive[i]->record.process, read[i], here);
    // Of one without a start token no more can be asked than that its pid is held.
    const bool agrees =
        status && (second.state == ProcessState::kAlive ||
                   (is_by_time(alive[i]->process) && second.rule == Rule::kTokenMissing));
    if (agrees) continue;
    alive[i]->process = {ProcessState::kUnverified, Reason::kUnverified, Rule::kSecondOpinion};
  }
}

DoorContext Registry::Impl::door_context() const {
  DoorContext context;
  context.probe = options_.probe.get();
  context.doors = options_.doors;
  context.allow_hosts = &options_.allow_hosts;
  context.limits = options_.limits;
  context.clock = options_.clock.get();
  return context;
}

DoorQuestion Registry::Impl::question_of(const SessionView& view, const Here& here) const {
  const auto same = [this, &view, &here](const Observation& now) {
    return is_same(view, now, here);
  };
  return {&view.record, view.record.process.pid, view.stored.owner_uid, view.read.start_unix_ns,
          same};
}

DoorReading Registry::Impl::ask_to_stop(const SessionView& view, const std::string& reason,
                                        std::int64_t total_ns, const Here& here,
                                        const Call& call) const {
  DoorContext context = door_context();
  context.limits.total_timeout_ns = std::min(context.limits.total_timeout_ns, total_ns);
  context.limits.connect_timeout_ns = std::min(context.limits.connect_timeout_ns, total_ns);
  return rollcall::ask_to_stop(question_of(view, here), reason, context, call);
}

void Registry::Impl::finish(std::span<SessionView* const> views, bool ask, const Here& here,
                            const Call& call) const {
  std::vector<SessionView*> asked;
  std::vector<DoorQuestion> questions;
  for (SessionView* const view : views) {
    const bool wanted = ask && view->record.has_door() &&
                        view->process.state == ProcessState::kAlive &&
                        !view->read.suspended.value_or(false);
    if (!wanted) continue;
    asked.push_back(view);
    questions.push_back(question_of(*view, here));
  }
  if (!questions.empty()) {
    auto readings = ask_doors(questions, door_context(), call);
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->door = std::move(readings[i]);
  }
  for (SessionView* const view : views) {
    const LayerReadings layer3{view->record.has_door(), view->door.has_value(), view->door};
    view->finding = conclude(view->record.session_id, view->process, view->record.process,
                             view->read, here, layer3);
  }
}

Result<bool> Registry::Impl::remove_gone(SessionView& view, const Here& here,
                                         const Call& call) const {
  SessionView* const one[] = {&view};
  if (auto status = observe(one, 0, here, call); !status) return tl::unexpected(status.error());
  if (view.process.state != ProcessState::kGone || is_by_time(view.process)) return false;
  GoneEvidence evidence;
  evidence.reason = view.process.reason;
  evidence.text = reason_text(view.process, view.record.process, view.read, here);
  evidence.pruned_unix_ns = options_.clock->unix_ns();
  evidence.plugin = options_.probe->id();
  const Status removed =
      options_.files ? options_.files->archive_gone(view.stored, view.record, evidence, call)
                     : options_.store->remove_if(view.stored.name, view.stored.version, call);
  if (!removed) return tl::unexpected(removed.error());
  return true;
}

}  // namespace rollcall
