// How a verdict came about: layer by layer, what was recorded, what was read, and what follows.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/rfc3339.hpp"
#include "core/shown_url.hpp"
#include "core/text.hpp"
#include "doors/gate.hpp"
#include "rollcall/registry.hpp"

namespace rollcall {
namespace {

std::string or_dash(std::string_view text) { return text.empty() ? "-" : text::for_terminal(text); }

std::string part(const std::optional<std::string>& text) {
  return or_dash(text ? std::string_view(*text) : std::string_view());
}

std::string presence_text(const Observation& read) {
  switch (read.presence) {
    case Presence::kUnreadable:
      return fmt::format("unreadable: {}", or_dash(read.reason.view()));
    case Presence::kPresent:
      return read.suspended.value_or(false) ? "held, suspended (stopped)" : "held";
    case Presence::kExited:
      return "exited (not yet reaped by its parent)";
    case Presence::kAbsent:
      return read.thread ? "the id of a thread, not of a process" : "absent";
  }
  return "unreadable";
}

std::string rule_text(Rule rule) {
  switch (rule) {
    case Rule::kExactId:
      return "the exact id decides";
    case Rule::kToken:
      return "the start token decides";
    case Rule::kTimeGuard:
      return "guarded by time: its name and start fit the record";
    default:
      return "not compared";
  }
}

ExplainLine view_line(const SessionView& view, const Here& here) {
  const ProcessIdentity& was = view.record.process;
  const bool foreign = view.process.reason == Reason::kForeignView;
  return {"0 same view",
          fmt::format("host {}, pid namespace {}, time namespace {}", part(was.host_id),
                      part(was.pid_namespace), part(was.time_namespace)),
          fmt::format("host {}, pid namespace {}, time namespace {}, home {}", part(here.host_id),
                      part(here.pid_namespace), part(here.time_namespace),
                      here.home == HomeKind::kLocal ? "of this machine" : "may be shared"),
          view.probe_plugin,
          foreign ? reason_text(view.process, was, view.read, here) : "it can be told here"};
}

ExplainLine held_line(const SessionView& view, const std::string& by) {
  const bool held = view.read.presence == Presence::kPresent;
  const bool told = view.read.presence != Presence::kUnreadable;
  return {"1 pid held", fmt::format("pid {}", view.record.process.pid), presence_text(view.read),
          by,
          held   ? "a process holds it"
          : told ? "no process holds it"
                 : "could not tell"};
}

ExplainLine same_line(const SessionView& view, const Here& here, const std::string& by) {
  const ProcessIdentity& was = view.record.process;
  const std::string exact =
      view.read.exact_id ? std::to_string(*view.read.exact_id) : std::string("-");
  std::string follows =
      view.process.state == ProcessState::kAlive
          ? fmt::format("the very process that was recorded ({})", rule_text(view.process.rule))
          : fmt::format("{}: {}", to_text(view.process.state),
                        reason_text(view.process, was, view.read, here));
  if (!was.boot_id && !was.start_token.empty())
    follows += "; no boot id was recorded, so the start token decides alone";
  return {"2 same process",
          fmt::format("boot {}, exact id {}, start {}", part(was.boot_id), part(was.exact_id),
                      or_dash(was.start_token)),
          fmt::format("boot {}, exact id {}, start {}", part(here.boot_id), exact,
                      or_dash(view.read.start_token.view())),
          by, std::move(follows)};
}

std::string door_read(const DoorReading& door) {
  std::string text = door.answered && door.named ? fmt::format("names {}", or_dash(door.session))
                     : door.answered ? std::string("is held, and names nobody by design")
                                     : fmt::format("{}", to_text(door.reason));
  if (door.http_status != 0) text += fmt::format(", HTTP {}", door.http_status);
  text += fmt::format(", listener: {}", to_text(door.ownership));
  if (door.ownership == Ownership::kUidOnly) {
    text += " (only the user id of the listener could be compared)";
  }
  if (!door.detail.empty()) text += fmt::format(", {}", text::for_terminal(door.detail));
  return text + fmt::format(", in {} ms", door.elapsed_ns / 1'000'000);
}

ExplainLine door_line(const SessionView& view) {
  if (!view.record.has_door()) return {"3 door", "none", "-", "-", "layers 1 and 2 decide alone"};
  const std::string url = view.record.url ? shown_url(*view.record.url) : std::string();
  const std::string recorded = fmt::format("{} {}", or_dash(door_kind(view.record)), or_dash(url));
  if (!view.door) {
    const bool alive = view.process.state == ProcessState::kAlive;
    const bool suspended = view.read.suspended.value_or(false);
    return {"3 door", recorded, "not asked", "-",
            !alive      ? "only the door of an alive process is asked"
            : suspended ? "a suspended process answers nobody"
                        : "alive, as far as was asked"};
  }
  const Reason reason = judge_door(view.record.session_id, *view.door);
  return {"3 door", recorded, door_read(*view.door),
          view.door->plugin.empty() ? "-" : view.door->plugin,
          reason == Reason::kNone ? "it answers for this session" : view.finding.text};
}

}  // namespace

std::vector<ExplainLine> explain(const SessionView& view, const Here& here) {
  const std::string by =
      fmt::format("{} at {}", view.probe_plugin, core::format_rfc3339_utc(view.read_unix_ns));
  std::vector<ExplainLine> lines;
  lines.push_back(view_line(view, here));
  lines.push_back(held_line(view, by));
  lines.push_back(same_line(view, here, by));
  lines.push_back(door_line(view));
  lines.push_back({"verdict", "-", "-", "-",
                   view.finding.text.empty()
                       ? std::string(to_text(view.finding.verdict))
                       : fmt::format("{}: {}", to_text(view.finding.verdict), view.finding.text)});
  return lines;
}

}  // namespace rollcall
