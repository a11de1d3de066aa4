#include "registry/act_journal.hpp"

#include <algorithm>
#include <utility>

#include "core/shown_url.hpp"

namespace rollcall::registry {
namespace {

// A journal that somebody holds for longer does not keep a signal waiting.
constexpr std::int64_t kMomentNs = 250'000'000;

StopRequest request_of(const Registry::Options& options, const StopOptions& asked,
                       const Call& call) {
  StopRequest request;
  if (const auto who = options.probe->whoami(call)) request.caller_pid = who->self.pid;
  request.caller_name = asked.caller_name;
  if (request.caller_name.empty()) {
    request.caller_name =
        options.probe->read(request.caller_pid, ReadWhat::kName, call).value_or("");
  }
  request.reason = asked.reason;
  request.tree = asked.tree;
  request.forced = asked.force;
  return request;
}

void count(const StopReport& report, StopRequest& request) {
  request.signalled = report.signals.empty() ? 0 : 1;
  if (!report.tree) return;
  const auto& members = report.tree->members;
  request.members = static_cast<std::int64_t>(members.size());
  request.signalled = std::count_if(members.begin(), members.end(), [](const StopMember& member) {
    return !member.signals.empty();
  });
}

}  // namespace

ActJournal::ActJournal(const Registry::Impl& impl, const SessionView& view,
                       const StopOptions& asked, std::vector<Signal> planned, const Call& call)
    : impl_(impl) {
  const auto& options = impl.options();
  if (!options.journal) return;
  event_.store = options.store_name;
  event_.session_id = view.record.session_id;
  event_.name = view.record.name;
  event_.pid = view.record.process.pid;
  event_.start_token = view.record.process.start_token;
  if (view.record.url) event_.url = shown_url(*view.record.url);
  event_.stop = request_of(options, asked, call);
  event_.stop->planned = std::move(planned);
}

void ActJournal::begin(const Call& call) const {
  const auto& options = impl_.options();
  if (!options.journal) return;
  Event event = event_;
  event.kind = EventKind::kStopBegun;
  event.reason = Reason::kUnverified;
  event.text = "its process is looked at next";
  event.stop->outcome.reset();
  Call bounded;
  bounded.deadline_ns = std::min(call.deadline_ns, options.clock->monotonic_ns() + kMomentNs);
  (void)options.journal->append(event, bounded);  // settle() tells what is wrong with it
}

void ActJournal::settle(StopReport& report) const {
  const auto& options = impl_.options();
  if (!options.journal) return;
  Event event = event_;
  event.kind = EventKind::kStopRequested;
  event.text = report.reason;
  event.stop->signals = report.signals;
  event.stop->outcome = report.outcome;
  count(report, *event.stop);
  switch (report.outcome) {
    case StopOutcome::kEnded:
    case StopOutcome::kAlreadyGone:
      event.status = Verdict::kGone;
      event.process = ProcessState::kGone;
      event.reason = Reason::kNoProcess;
      break;
    case StopOutcome::kStillThere:
    case StopOutcome::kSent:
      event.status = Verdict::kAlive;
      event.process = ProcessState::kAlive;
      break;
    case StopOutcome::kRefused:
      event.reason = Reason::kUnverified;
      break;
  }
  // The call's deadline was the act's; the word is kept all the same.
  if (const auto kept = options.journal->append(event, {}); !kept) {
    report.journal_problem = kept.error().message;
  }
}

}  // namespace rollcall::registry
