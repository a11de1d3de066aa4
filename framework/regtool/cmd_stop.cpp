#include <fmt/format.h>

#include <utility>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::string sentence(const StopReport& report, const std::string& sent) {
  const std::string why = report.reason.empty() ? "" : ": " + report.reason;
  switch (report.outcome) {
    case StopOutcome::kEnded:
      return fmt::format("{}: ended after {}", report.session_id, sent);
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

int tell(Output& out, const StopReport& report, std::string_view schema) {
  std::string sent;
  for (const Signal signal : report.signals) {
    sent.append(sent.empty() ? "" : " and ").append(to_text(signal));
  }
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", schema).text("session_id", report.session_id);
    json.text("outcome", to_text(report.outcome)).key("signals").begin_array();
    for (const Signal signal : report.signals) json.text(to_text(signal));
    json.end_array().reason("reason", report.reason);
    json.integer("elapsed_ms", report.elapsed_ns / kNsPerMs).end_object();
    out.document(json);
  } else {
    out.line(sentence(report, sent));
  }
  return exit_code_of(report.outcome);
}

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
  const auto target = target_of(context, command.session, command.accept_time_guard);
  if (!target) return tl::unexpected(target.error());
  StopOptions options;
  options.force = command.force;
  options.second_after_ms = command.after_ms.value_or(context.config().stop_after_ms);
  options.total_ms = command.total_ms.value_or(context.config().stop_total_ms);
  const Progress progress(context.out(), "waiting for the end");
  const auto report = target->registry->stop(target->id, options, {});
  if (!report) return tl::unexpected(context.session_failure(report.error(), target->id));
  return tell(context.out(), *report, "rollcall.stop/1");
}

Outcome<int> run_kill(Context& context, const KillCommand& command) {
  const auto target = target_of(context, command.session, command.accept_time_guard);
  if (!target) return tl::unexpected(target.error());
  const std::int64_t await_ms = command.total_ms.value_or(context.config().stop_total_ms);
  const Progress progress(context.out(), "waiting for the end");
  const auto report = target->registry->kill(target->id, command.signal, await_ms, {});
  if (!report) return tl::unexpected(context.session_failure(report.error(), target->id));
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
    json.integer("elapsed_ms", (context.clock()->monotonic_ns() - begun) / kNsPerMs).end_object();
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
    out.line(fmt::format("{}: {}", *id, text));
  }
  return kCodes[index];
}

}  // namespace rollcall::regtool
