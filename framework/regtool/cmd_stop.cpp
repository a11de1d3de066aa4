#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::string_view kStopSchema = "rollcall.stop/1";

bool has_ended(const StopReport& report) {
  if (report.tree) return report.tree->members.front().state == StopMember::State::kEnded;
  return report.outcome == StopOutcome::kEnded || report.outcome == StopOutcome::kAlreadyGone;
}

// " (exit code 3)", or nothing.
std::string exit_text(const ExitStatus& exit) {
  if (exit.kind == ExitStatus::Kind::kCode) return fmt::format(" (exit code {})", exit.value);
  if (exit.kind == ExitStatus::Kind::kSignal) return fmt::format(" (by signal {})", exit.value);
  return {};
}

std::string sentence(const StopReport& report, const std::string& sent) {
  const std::string why = report.reason.empty() ? "" : ": " + report.reason;
  switch (report.outcome) {
    case StopOutcome::kEnded:
      return fmt::format("{}: ended{}{}", report.session_id, sent.empty() ? "" : " after " + sent,
                         exit_text(report.exit));
    case StopOutcome::kAlreadyGone:
      return fmt::format("{}: gone already{}", report.session_id, why);
    case StopOutcome::kStillThere:
      return fmt::format("{}: still there{}", report.session_id, why);
    case StopOutcome::kSent:
      return fmt::format("{}: sent {}", report.session_id, sent);
    case StopOutcome::kRefused:
      break;
  }
  return fmt::format("{}: refused{}", report.session_id, why);
}

int exit_code_of(StopOutcome outcome) {
  switch (outcome) {
    case StopOutcome::kEnded:
    case StopOutcome::kAlreadyGone:
    case StopOutcome::kSent:
      return kExitYes;
    case StopOutcome::kStillThere:
      return kExitNo;
    case StopOutcome::kRefused:
      break;
  }
  return kExitRefused;
}

// `exit` and `exit_reason`: null both where it has not ended.
void put_exit(JsonWriter& json, const ExitStatus& exit, bool ended) {
  json.key("exit");
  if (!ended || exit.kind == ExitStatus::Kind::kUnknown) {
    json.null();
  } else {
    const bool code = exit.kind == ExitStatus::Kind::kCode;
    json.begin_object().integer(code ? "code" : "signal", exit.value).end_object();
  }
  json.reason("exit_reason",
              ended && exit.kind == ExitStatus::Kind::kUnknown ? exit.why : std::string());
}

std::string_view word_of(StopMember::State state) {
  constexpr std::string_view kWords[] = {"still_there", "seen", "lost"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string_view word_of(Containment containment) {
  return containment == Containment::kBestEffort ? "best_effort" : "kernel";
}

void put_door(JsonWriter& json, const std::optional<StopDoor>& door) {
  json.key("door");
  if (!door) {
    json.null();
    return;
  }
  json.begin_object().boolean("accepted", door->accepted).reason("reason", door->why).end_object();
}

void put_signals(JsonWriter& json, const std::vector<Signal>& signals) {
  json.key("signals").begin_array();
  for (const Signal signal : signals) json.text(to_text(signal));
  json.end_array();
}

void put_tree(JsonWriter& json, const std::optional<StopTree>& tree) {
  json.key("tree");
  if (!tree) {
    json.null();
    return;
  }
  json.begin_object().text("containment", word_of(tree->containment));
  json.key("contained_by");
  if (tree->containment == Containment::kBestEffort) {
    json.null();
  } else {
    json.text(tree->containment == Containment::kCgroup ? "cgroup" : "subreaper");
  }
  json.key("members").begin_array();
  for (const StopMember& member : tree->members) {
    json.begin_object().integer("pid", member.pid).integer("ppid", member.parent_pid);
    json.text("start", member.start_token).text("command", member.name);
    put_signals(json, member.signals);
    json.text("ended", word_of(member.state)).boolean("suspended", member.suspended);
    json.boolean("orphan", member.orphan).reason("reason", member.reason);
    put_exit(json, member.exit, member.state == StopMember::State::kEnded);
    json.end_object();
  }
  json.end_array().end_object();
}

// One line for the tree as a whole, and one for each process of which something is to be said.
void tell_tree(Output& out, const StopTree& tree) {
  const auto count = [&](StopMember::State state) {
    return std::count_if(tree.members.begin(), tree.members.end(),
                         [&](const StopMember& member) { return member.state == state; });
  };
  const std::string_view how =
      tree.containment == Containment::kCgroup   ? "the kernel says that its cgroup is empty"
      : tree.containment == Containment::kReaper ? "nothing else descended from it at the end"
                                                 : "best effort: what had left the tree before is "
                                                   "not known";
  out.line(fmt::format("  tree: {} ended, {} still there, {} lost ({})",
                       count(StopMember::State::kEnded), count(StopMember::State::kStillThere),
                       count(StopMember::State::kLost), how));
  for (const StopMember& member : tree.members) {
    if (member.state == StopMember::State::kEnded) continue;
    out.line(fmt::format("  {} {} {}{}{}", member.pid, text::for_terminal(member.name),
                         member.state == StopMember::State::kLost ? "lost" : "still there",
                         member.suspended ? ", suspended" : "",
                         member.reason.empty() ? "" : ": " + text::for_terminal(member.reason)));
  }
}

int tell(Output& out, const StopReport& report, std::string_view schema) {
  std::string sent = report.door && report.door->accepted ? "it was asked at its door" : "";
  for (const Signal signal : report.signals) {
    sent.append(sent.empty() ? "" : " and ").append(to_text(signal));
  }
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", schema).text("session_id", report.session_id);
    json.text("outcome", to_text(report.outcome));
    put_signals(json, report.signals);
    json.reason("reason", report.reason);
    json.integer("elapsed_ms", report.elapsed_ns / kNsPerMs);
    put_exit(json, report.exit, has_ended(report));
    if (schema == kStopSchema) {
      put_door(json, report.door);
      put_tree(json, report.tree);
    }
    json.end_object();
    out.document(json);
  } else {
    out.line(sentence(report, sent));
    if (report.tree) tell_tree(out, *report.tree);
  }
  return exit_code_of(report.outcome);
}

// regtool alone says nothing of who asks: whoever started it does.
std::string caller_name(Context& context) {
  auto probe = context.probe();
  if (!probe) return "regtool";
  const auto parent = (*probe)->read(platform::current_pid(), ReadWhat::kParent, {});
  if (!parent) return "regtool";
  const auto pid = std::strtoll(parent->c_str(), nullptr, 10);
  const auto name = (*probe)->read(pid, ReadWhat::kName, {});
  return fmt::format("regtool, started by pid {}{}", pid, name ? " (" + *name + ")" : "");
}

// What an act left unsaid elsewhere.
void warn_of_journal(Output& out, const StopReport& report) {
  if (report.journal_problem.empty()) return;
  out.warning("the journal does not say what came of it: " + report.journal_problem);
}

// Who is asked to end cancels the act, and tells what came of it, the journal included.
class Interrupt {
 public:
  [[nodiscard]] const Call& call() const { return call_; }

 private:
  Call call_;
  platform::EndRequest request_{[cancel = call_.cancel] { cancel.cancel(); }};
};

struct Target {
  Registry* registry;
  std::string id;
};

Outcome<Target> target_of(Context& context, const SessionName& name, bool accept_time_guard) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  if (accept_time_guard) context.accept_time_guard();
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  auto id = context.resolve(name, true);
  if (!id) return tl::unexpected(id.error());
  return Target{*registry, std::move(*id)};
}

}  // namespace

Outcome<int> run_stop(Context& context, const StopCommand& command) {
  Interrupt interrupt;
  const auto target = target_of(context, command.session, command.accept_time_guard);
  if (!target) return tl::unexpected(target.error());
  StopOptions options;
  options.force = command.force;
  options.tree = command.tree;
  options.ask_door = !command.no_door;
  options.reason = command.reason;
  options.caller_name = caller_name(context);
  options.second_after_ms = command.after_ms.value_or(context.config().stop_after_ms);
  options.total_ms = command.total_ms.value_or(context.config().stop_total_ms);
  const Progress progress(context.out(), "waiting for the end");
  const auto report = target->registry->stop(target->id, options, interrupt.call());
  if (!report) return tl::unexpected(context.session_failure(report.error(), target->id));
  warn_of_journal(context.out(), *report);
  return tell(context.out(), *report, kStopSchema);
}

Outcome<int> run_kill(Context& context, const KillCommand& command) {
  Interrupt interrupt;
  const auto target = target_of(context, command.session, command.accept_time_guard);
  if (!target) return tl::unexpected(target.error());
  StopOptions options;
  options.total_ms = command.total_ms.value_or(context.config().stop_total_ms);
  options.reason = command.reason;
  options.caller_name = caller_name(context);
  const Progress progress(context.out(), "waiting for the end");
  const auto report = target->registry->kill(target->id, command.signal, options, interrupt.call());
  if (!report) return tl::unexpected(context.session_failure(report.error(), target->id));
  warn_of_journal(context.out(), *report);
  return tell(context.out(), *report, "rollcall.kill/1");
}

Outcome<int> run_wait(Context& context, const WaitCommand& command) {
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const auto id = context.resolve(command.session, false);
  if (!id) return tl::unexpected(id.error());
  Call call;
  const std::int64_t begun = context.clock()->monotonic_ns();
  if (command.timeout_ns) call.deadline_ns = begun + *command.timeout_ns;
  Result<WaitReport> report = [&] {
    const Progress progress(context.out(), "waiting for the end");
    return (*registry)->wait(*id, call);
  }();
  if (!report) return tl::unexpected(context.session_failure(report.error(), *id));
  constexpr std::string_view kWords[] = {"unknown", "ended", "still_there"};
  constexpr int kCodes[] = {kExitUnreachable, kExitYes, kExitNo};
  const auto index = static_cast<std::size_t>(report->result);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.wait/1").text("session_id", *id);
    json.text("result", kWords[index]).reason("reason", report->reason);
    json.integer("elapsed_ms", (context.clock()->monotonic_ns() - begun) / kNsPerMs);
    put_exit(json, report->exit, report->result == AwaitResult::kEnded);
    json.end_object();
    out.document(json);
  } else {
    constexpr std::string_view kSentences[] = {"cannot be told", "ended", "still there"};
    std::string text(kSentences[index]);
    // A reason that says so itself is the whole sentence.
    if (report->reason.find(text) != std::string::npos) {
      text = report->reason;
    } else if (!report->reason.empty()) {
      text += ": " + report->reason;
    }
    out.line(fmt::format("{}: {}{}", *id, text, exit_text(report->exit)));
  }
  return kCodes[index];
}

}  // namespace rollcall::regtool
