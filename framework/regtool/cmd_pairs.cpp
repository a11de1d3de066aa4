// `pairs ls`, `pairs show`, `pairs rebind`.
#include <fmt/format.h>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/stores.hpp"
#include "rollcall/pairs.hpp"

namespace rollcall::regtool {
namespace {

using pairs::Liveness;
using pairs::PairView;
using pairs::SideView;

Outcome<std::unique_ptr<pairs::PairHome>> open_home(Context& context,
                                                    const std::optional<std::string>& dir) {
  auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  const auto plan = context.plan({.name = "pairs", .dir = dir});
  if (!plan) return tl::unexpected(plan.error());
  pairs::PairHome::Options options;
  options.dir = plan->options.dir;
  options.probe = std::move(*probe);
  options.clock = context.clock();
  options.expect_owner = plan->options.expect_owner;
  options.keys = plan->options.pair_keys;
  auto home = pairs::PairHome::open(std::move(options));
  if (!home) return failure_of(home.error(), plan->options.dir);
  return std::move(*home);
}

void write_side(JsonWriter& json, std::string_view name, const SideView& side,
                bool has_generation) {
  json.key(name).begin_object().text("state", to_text(side.state));
  json.reason("reason", side.reason);
  if (side.process) {
    json.integer("pid", side.process->pid);
  } else {
    json.null("pid");
  }
  if (has_generation && side.generation) {
    json.integer("generation", static_cast<std::int64_t>(*side.generation));
  } else if (has_generation) {
    json.null("generation");
  }
  json.end_object();
}

void write_pair(JsonWriter& json, const PairView& pair) {
  json.text("pair_id", pair.id);
  write_side(json, "terminal", pair.terminal, true);
  write_side(json, "controller", pair.controller, false);
}

std::string pid_text(const SideView& side) {
  return side.process ? std::to_string(side.process->pid) : "-";
}

Cell state_cell(const SideView& side) {
  Cell cell{std::string(to_text(side.state))};
  if (side.state == Liveness::kAlive) cell.colour = Colour::kGood;
  return cell;
}

std::vector<Cell> side_row(std::string_view name, const SideView& side) {
  return {{std::string(name)},
          state_cell(side),
          {side.generation ? std::to_string(*side.generation) : "-"},
          {pid_text(side)},
          {side.reason}};
}

}  // namespace

Outcome<int> run_pairs_ls(Context& context, const PairsLsCommand& command) {
  const auto home = open_home(context, command.dir);
  if (!home) return tl::unexpected(home.error());
  const auto list = (*home)->list({});
  if (!list) return failure_of(list.error());
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.pairs/1").key("pairs").begin_array();
    for (const PairView& pair : list->pairs) {
      json.begin_object();
      write_pair(json, pair);
      json.end_object();
    }
    json.end_array().key("unreadable").begin_array();
    for (const auto& broken : list->broken) {
      json.begin_object().text("file", broken.file).text("reason", broken.reason).end_object();
    }
    json.end_array().end_object();
    out.document(json);
    return kExitYes;
  }
  if (list->pairs.empty()) {
    out.line("no pairs");
    return kExitYes;
  }
  std::vector<std::vector<Cell>> rows;
  for (const PairView& pair : list->pairs) {
    rows.push_back({{pair.id},
                    state_cell(pair.terminal),
                    {pid_text(pair.terminal)},
                    state_cell(pair.controller),
                    {pid_text(pair.controller)}});
  }
  out.table({"PAIR", "TERMINAL", "PID", "CONTROLLER", "PID"}, rows);
  for (const auto& broken : list->broken) out.warning(broken.reason);
  return kExitYes;
}

Outcome<int> run_pairs_show(Context& context, const PairsShowCommand& command) {
  const auto home = open_home(context, command.dir);
  if (!home) return tl::unexpected(home.error());
  const auto pair = (*home)->show(command.id, {});
  if (!pair && pair.error().code == ErrorCode::kNotFound) {
    return tl::unexpected<Failure>(
        Failure{kExitNo, "pair_not_found", pair.error().message, command.id});
  }
  if (!pair) return failure_of(pair.error(), command.id);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.pair/1");
    write_pair(json, *pair);
    json.end_object();
    out.document(json);
  } else {
    out.table({"SIDE", "STATE", "GENERATION", "PID", "REASON"},
              {side_row("terminal", pair->terminal), side_row("controller", pair->controller)},
              false);
  }
  return kExitYes;
}

Outcome<int> run_pairs_rebind(Context& context, const PairsRebindCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  const auto home = open_home(context, command.dir);
  if (!home) return tl::unexpected(home.error());
  const auto report = (*home)->rebind(command.id, command.parent, {});
  if (!report) return failure_of(report.error(), command.id);
  const bool rebound = report->outcome == pairs::RebindOutcome::kRebound;
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.pair-rebind/1").text("pair_id", command.id);
    json.text("outcome", to_text(report->outcome));
    if (report->controller) {
      json.integer("pid", report->controller->pid);
    } else {
      json.null("pid");
    }
    json.end_object();
    out.document(json);
  } else if (rebound) {
    out.line(fmt::format("{}: bound to pid {}", command.id, report->controller->pid));
  } else if (report->controller) {
    out.line(
        fmt::format("{}: its controller, pid {}, is alive", command.id, report->controller->pid));
  } else {
    out.line(fmt::format("{}: there is no record of this pair", command.id));
  }
  return rebound ? kExitYes : kExitNo;
}

}  // namespace rollcall::regtool
