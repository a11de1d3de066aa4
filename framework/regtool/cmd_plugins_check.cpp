#include <fmt/format.h>

#include "plugin/check.hpp"
#include "regtool/commands.hpp"

namespace rollcall::regtool {
namespace {

// One line of JSON on the descriptor that the parent reads; whatever the plugin printed came
// before it.
int check_here(Context& context, const PluginsCheckCommand& command) {
  CheckOptions options;
  options.accept_untrusted = context.options().trust_plugins;
  options.write_store = command.write_store;
  // What is about to be tried is out before it is tried: it may be the last thing that is heard.
  options.progress = [&context](std::string_view rule) {
    context.out().raw(check_progress_line(rule));
    (void)context.out().flush();
  };
  const CheckReport report = check_plugin(command.file, options);
  context.out().raw("\n" + to_json(report) + "\n");
  return report.passed() ? kExitYes : kExitNo;
}

void write_check_text(Output& out, const CheckReport& report) {
  std::vector<std::vector<Cell>> rows;
  for (const CheckStep& step : report.steps) {
    Colour colour = Colour::kNone;
    if (step.outcome == CheckOutcome::kPassed) colour = Colour::kGood;
    if (step.outcome == CheckOutcome::kFailed) colour = Colour::kBad;
    rows.push_back({{std::string(to_text(step.outcome)), colour}, {step.rule}, {step.text}});
  }
  if (!rows.empty()) out.table({"RESULT", "RULE", "SEEN"}, rows, false);
  if (!report.ending.empty()) out.line(report.ending);
  const std::string who = report.id.empty() ? report.file : report.id + " " + report.version;
  out.line(fmt::format("{}: {}", who, report.passed() ? "passed" : "did not pass"));
}

}  // namespace

Outcome<int> run_plugins_check(Context& context, const PluginsCheckCommand& command) {
  if (command.file.empty()) return usage_failure("the plugin's file is missing");
  if (command.in_this_process) return check_here(context, command);
  const auto program = platform::own_executable();
  if (!program) return failure_of(program.error());
  std::vector<std::string> arguments;
  if (context.options().trust_plugins) arguments.emplace_back("--trust-plugins");
  arguments.insert(arguments.end(), {"--home", context.home(), "plugins", "check-here"});
  if (command.write_store) arguments.emplace_back("--write-store");
  arguments.insert(arguments.end(), {"--", command.file});
  Result<CheckReport> report = [&] {
    const Progress progress(context.out(), "trying the plugin out");
    return check_in_child(*program, arguments, command.file);
  }();
  if (!report) return failure_of(report.error(), command.file);
  Output& out = context.out();
  if (out.json()) {
    out.raw(to_json(*report) + "\n");
  } else {
    write_check_text(out, *report);
  }
  return report->passed() ? kExitYes : kExitNo;
}

}  // namespace rollcall::regtool
