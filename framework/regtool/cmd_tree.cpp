#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/process_tree.hpp"

namespace rollcall::regtool {
namespace {

// The sessions of each pid whose process is alive.
using Marks = std::map<std::int64_t, std::vector<std::string>>;

Outcome<Marks> find_sessions(Context& context) {
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  SweepOptions options;
  options.ask_doors = false;
  options.want_age = false;
  const auto sweep = (*registry)->sweep(options, {});
  if (!sweep) return failure_of(sweep.error(), context.home());
  Marks marks;
  for (const SessionView& view : sweep->sessions) {
    if (view.process.state == ProcessState::kAlive) {
      marks[view.record.process.pid].push_back(view.record.session_id);
    }
  }
  return marks;
}

// The pid of a session whose process is alive.
Outcome<std::int64_t> pid_of(Context& context, const SessionName& name) {
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const auto id = context.resolve(name, false);
  if (!id) return tl::unexpected(id.error());
  const auto view = (*registry)->verify(*id, false, {});
  if (!view) return tl::unexpected(context.session_failure(view.error(), *id));
  if (view->process.state == ProcessState::kGone) {
    return tl::unexpected(Failure{kExitNo, "session_not_found", view->finding.text, *id});
  }
  if (view->process.state != ProcessState::kAlive) {
    return tl::unexpected(Failure{kExitRefused, "refused",
                                  "whose tree it is cannot be told: " + view->finding.text, *id});
  }
  return view->record.process.pid;
}

std::string_view state_of(const Observation& read) {
  if (read.presence == Presence::kPresent) return "present";
  return read.presence == Presence::kExited ? "exited" : "unreadable";
}

void write_json(Output& out, const ProcessTree& tree, const Marks& marks) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.tree/1").key("processes").begin_array();
  for (const TreeNode& node : tree) {
    const ProcessSample& process = node.process;
    json.begin_object().integer("pid", process.pid);
    process.parent ? json.integer("parent", *process.parent) : json.null("parent");
    json.integer("depth", static_cast<std::int64_t>(node.depth));
    json.reason("root", node.root == RootReason::kNone ? "" : to_text(node.root));
    json.reason("name", process.name).text("state", state_of(process.read));
    json.reason("start_token", process.read.start_token.view());
    json.key("sessions").begin_array();
    if (const auto found = marks.find(process.pid); found != marks.end()) {
      for (const std::string& id : found->second) json.text(id);
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  out.document(json);
}

// Past this depth the indentation says it by number.
constexpr std::size_t kDeepest = 30;

std::string line_of(const TreeNode& node) {
  const ProcessSample& process = node.process;
  std::string line(2 * std::min(node.depth, kDeepest), ' ');
  if (node.depth > kDeepest) line += fmt::format("(depth {}) ", node.depth);
  line += process.name.empty() ? "(name unknown)" : process.name;
  if (process.read.presence == Presence::kExited) line += " (exited)";
  switch (node.root) {
    case RootReason::kNone:
    case RootReason::kFirst:
      break;
    case RootReason::kParentUnknown:
      line += " (its parent could not be read)";
      break;
    case RootReason::kParentMissing:
      line += fmt::format(" (its parent {} is not there)", process.parent.value_or(0));
      break;
    case RootReason::kParentYounger:
      line += fmt::format(" (its parent ended; {} is another by now)", process.parent.value_or(0));
      break;
    case RootReason::kCycle:
      line += fmt::format(" (cycle: its parent {} is below it)", process.parent.value_or(0));
      break;
  }
  return line;
}

void write_text(Output& out, const ProcessTree& tree, const Marks& marks) {
  std::vector<std::vector<Cell>> rows;
  rows.reserve(tree.size());
  for (const TreeNode& node : tree) {
    std::string ids;
    if (const auto found = marks.find(node.process.pid); found != marks.end()) {
      for (const std::string& id : found->second) ids += (ids.empty() ? "" : ",") + id;
    }
    rows.push_back({{std::to_string(node.process.pid)}, {ids, Colour::kGood}, {line_of(node)}});
  }
  out.table({"PID", "SESSION", "PROCESS"}, rows, false);
}

}  // namespace

Outcome<int> run_tree(Context& context, const TreeCommand& command) {
  const auto marks = find_sessions(context);
  if (!marks) return tl::unexpected(marks.error());
  std::optional<std::int64_t> top;
  if (command.session) {
    const auto pid = pid_of(context, *command.session);
    if (!pid) return tl::unexpected(pid.error());
    top = *pid;
  }
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  auto samples = sample_processes(**probe, {});
  if (!samples) return failure_of(samples.error());
  ProcessTree tree = link_processes(std::move(*samples));
  if (top) tree = subtree_of(tree, *top);
  if (top && tree.empty()) {
    return tl::unexpected(Failure{kExitNo, "session_not_found",
                                  fmt::format("pid {} ended while the table was read", *top), ""});
  }
  if (context.out().json()) {
    write_json(context.out(), tree, *marks);
  } else {
    write_text(context.out(), tree, *marks);
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
