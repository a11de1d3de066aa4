#include "regtool/event_view.hpp"

#include <fmt/format.h>

#include "core/rfc3339.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/stores.hpp"

namespace rollcall::regtool {
namespace {

std::string text_of(const std::vector<Signal>& signals) {
  std::string sent;
  for (const Signal signal : signals) {
    sent.append(sent.empty() ? "" : " and ").append(to_text(signal));
  }
  return sent.empty() ? "no signal" : sent;
}

// "SIGTERM: ended", "3 of 4 processes of its tree signalled: ended"; where nothing was sent yet,
// "to send SIGTERM and SIGTERM to its tree".
std::string act_of(const StopRequest& stop) {
  if (!stop.outcome) {
    return fmt::format("to send {}{}", text_of(stop.planned), stop.tree ? " to its tree" : "");
  }
  const std::string sent =
      stop.members > 0 ? fmt::format("{} of {} processes of its tree signalled{}", stop.signalled,
                                     stop.members, stop.forced ? " by force" : "")
                       : text_of(stop.signals);
  return fmt::format("{}: {}", sent, to_text(*stop.outcome));
}

void write_signals(JsonWriter& json, std::string_view key, const std::vector<Signal>& signals) {
  json.key(key).begin_array();
  for (const Signal signal : signals) json.text(to_text(signal));
  json.end_array();
}

void write_stop(JsonWriter& json, const StopRequest& stop) {
  json.key("stop").begin_object();
  json.integer("caller_pid", stop.caller_pid).text("caller_name", stop.caller_name);
  json.reason("reason", stop.reason);
  write_signals(json, "signals", stop.signals);
  if (stop.outcome) {
    json.text("outcome", to_text(*stop.outcome));
  } else {
    json.null("outcome");
  }
  write_signals(json, "planned", stop.planned);
  json.boolean("tree", stop.tree).boolean("forced", stop.forced);
  json.integer("signalled", stop.signalled).integer("members", stop.members).end_object();
}

}  // namespace

void write_event(JsonWriter& json, const Event& event, std::string_view kind,
                 std::optional<Cursor> cursor) {
  json.text_or_null("cursor", cursor ? std::optional(std::to_string(*cursor)) : std::nullopt);
  json.text("time", core::format_rfc3339_utc(event.unix_ns)).text("event", kind);
  json.text("store", event.store).text("session_id", event.session_id).text("name", event.name);
  json.integer("pid", event.pid).text("start_token", event.start_token);
  json.text("status", to_text(event.status));
  write_reason(json, event.reason, event.text);
  json.reason("detail", event.reason == Reason::kNone ? event.text : std::string());
  json.text("process", to_text(event.process)).text_or_null("url", event.url);
  json.text("record", event.record);
  if (event.stop) {
    write_stop(json, *event.stop);
  } else {
    json.null("stop");
  }
}

std::string event_line(const Event& event, std::string_view kind) {
  const std::string store = event.store == kOwnStore ? "" : event.store + ": ";
  std::string line = fmt::format("{}  {:<14}  {}{}", core::format_rfc3339_utc(event.unix_ns), kind,
                                 store, event.session_id);
  if (!event.name.empty()) line += fmt::format("  {}", event.name);
  if (event.pid > 0) line += fmt::format("  pid {}", event.pid);
  if (event.stop) {
    line += fmt::format(": asked by {} (pid {}): {}", event.stop->caller_name,
                        event.stop->caller_pid, act_of(*event.stop));
    if (!event.stop->reason.empty()) line += fmt::format(": {}", event.stop->reason);
    return line;
  }
  const bool says_itself = to_text(event.status) == kind || event.kind == EventKind::kRemoved;
  if (!says_itself) line += fmt::format(": {}", to_text(event.status));
  if (!event.text.empty()) line += fmt::format(": {}", event.text);
  return line;
}

}  // namespace rollcall::regtool
