#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/document.h>

#include <utility>

#include "core/shown_url.hpp"
#include "doors/gate.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/ps_view.hpp"
#include "rollcall/process_details.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLive:
    case Verdict::kAlive:
      return kExitYes;
    case Verdict::kGone:
      return kExitNo;
    case Verdict::kUnreachable:
      break;
  }
  return kExitUnreachable;
}

std::string_view presence_text(const Observation& read) {
  switch (read.presence) {
    case Presence::kPresent:
      return "present";
    case Presence::kExited:
      return "exited";
    case Presence::kAbsent:
      return "absent";
    case Presence::kUnreadable:
      break;
  }
  return "unreadable";
}

void text_where_known(JsonWriter& json, std::string_view name,
                      const std::optional<std::string>& value) {
  if (value) json.text(name, *value);
}

void write_recorded(JsonWriter& json, const ProcessIdentity& identity) {
  json.key("recorded").begin_object().integer("pid", identity.pid);
  json.text("start_token", identity.start_token);
  text_where_known(json, "boot_id", identity.boot_id);
  text_where_known(json, "exact_id", identity.exact_id);
  text_where_known(json, "host_id", identity.host_id);
  text_where_known(json, "pid_namespace", identity.pid_namespace);
  text_where_known(json, "time_namespace", identity.time_namespace);
  json.end_object();
}

void write_read(JsonWriter& json, const Observation& read, const Here& here) {
  json.key("read").begin_object().integer("pid", read.pid).text("presence", presence_text(read));
  if (!read.start_token.empty()) json.text("start_token", read.start_token.view());
  if (read.exact_id) json.text("exact_id", std::to_string(*read.exact_id));
  text_where_known(json, "boot_id", here.boot_id);
  text_where_known(json, "host_id", here.host_id);
  text_where_known(json, "pid_namespace", here.pid_namespace);
  text_where_known(json, "time_namespace", here.time_namespace);
  if (read.suspended) json.boolean("suspended", *read.suspended);
  if (read.thread) json.boolean("thread", true);
  if (read.age_ns) json.integer("age_s", *read.age_ns / kNsPerSecond);
  if (!read.reason.empty()) json.text("why", read.reason.view());
  json.end_object();
}

void write_door(JsonWriter& json, const SessionView& view) {
  json.key("door");
  if (!view.door) {
    json.null();
    return;
  }
  const Reason outcome = judge_door(view.record.session_id, *view.door);
  json.begin_object().text("kind", door_kind(view.record));
  json.text("outcome", outcome == Reason::kNone ? "ok" : to_text(outcome));
  std::string reason;
  if (outcome != Reason::kNone) {
    reason = view.finding.text.empty() ? view.door->detail : view.finding.text;
  }
  json.reason("reason", reason).integer("elapsed_ms", view.door->elapsed_ns / kNsPerMs);
  json.text("ownership", to_text(view.door->ownership));
  if (!view.door->detail.empty()) json.text("detail", view.door->detail);
  if (view.door->http_status != 0) json.integer("http_status", view.door->http_status);
  json.text("plugin", view.door->plugin).end_object();
}

void write_explanation(JsonWriter& json, const std::vector<ExplainLine>& lines) {
  json.key("explain").begin_array();
  for (const ExplainLine& line : lines) {
    json.begin_object().text("layer", line.layer).text("recorded", line.recorded);
    json.text("read", line.read).text("by", line.by).text("follows", line.follows).end_object();
  }
  json.end_array();
}

void write_verify_json(Output& out, const SessionView& view, const Here& here, bool explained) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.verify/1");
  json.text("session_id", view.record.session_id);
  json.text("verdict", to_text(view.finding.verdict));
  write_reason(json, view.finding.reason, view.finding.text);
  json.key("process").begin_object().text("state", to_text(view.process.state));
  std::string reason;
  if (view.process.state != ProcessState::kAlive) {
    reason = reason_text(view.process, view.record.process, view.read, here);
  }
  json.reason("reason", reason);
  write_recorded(json, view.record.process);
  write_read(json, view.read, here);
  json.text("plugin", view.probe_plugin).end_object();
  write_door(json, view);
  if (explained) write_explanation(json, explain(view, here));
  json.end_object();
  out.document(json);
}

void write_explanation_text(Output& out, const std::vector<ExplainLine>& lines) {
  for (const ExplainLine& line : lines) {
    out.line(line.layer);
    const std::pair<std::string_view, const std::string*> parts[] = {{"recorded", &line.recorded},
                                                                     {"read", &line.read},
                                                                     {"by", &line.by},
                                                                     {"follows", &line.follows}};
    for (const auto& [title, text] : parts) {
      if (!text->empty()) out.line(fmt::format("  {:<9} {}", title, *text));
    }
  }
}

std::string verdict_line(const SessionView& view) {
  std::string line = fmt::format("{}: {}", view.record.session_id, to_text(view.finding.verdict));
  if (!view.finding.text.empty()) line += fmt::format(": {}", view.finding.text);
  return line;
}

struct Verified {
  SessionView view;
  Here here;
};

Outcome<Verified> verify_named(Context& context, const SessionName& name,
                               std::optional<std::int64_t> timeout_ns) {
  const auto registry = context.registry(timeout_ns);
  if (!registry) return tl::unexpected(registry.error());
  const auto id = context.resolve(name, false);
  if (!id) return tl::unexpected(id.error());
  const Progress progress(context.out(), "asking the session");
  auto view = (*registry)->verify(*id, !context.is_foreign(), {});
  if (!view) return tl::unexpected(context.session_failure(view.error(), *id));
  context.log_view(*view);
  auto here = (*registry)->here({});
  if (!here) return failure_of(here.error());
  return Verified{std::move(*view), std::move(*here)};
}

// The names, not the values, of keys that we do not know: nobody vouches that they hold no secret.
std::vector<std::string> other_keys(const Record& record) {
  std::vector<std::string> names;
  if (record.unknown_json.empty()) return names;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(record.unknown_json.data(),
                                                 record.unknown_json.size());
  if (document.HasParseError() || !document.IsObject()) return names;
  for (const auto& member : document.GetObject()) {
    names.emplace_back(member.name.GetString(), member.name.GetStringLength());
  }
  return names;
}

void write_record_json(JsonWriter& json, const Record& record) {
  const ProcessIdentity& process = record.process;
  json.key("record").begin_object().text("session_id", record.session_id);
  json.text_or_null("url", record.url ? std::optional(shown_url(*record.url)) : std::nullopt);
  json.integer("pid", process.pid).text("process_start", process.start_token);
  json.text("name", record.name).text("version", record.version);
  json.text("workdir", record.workdir).boolean("outlives_launcher", record.outlives_launcher);
  json.text("started_at", record.started_at);
  text_where_known(json, "boot_id", process.boot_id);
  text_where_known(json, "exact_id", process.exact_id);
  text_where_known(json, "host_id", process.host_id);
  text_where_known(json, "pid_namespace", process.pid_namespace);
  text_where_known(json, "time_namespace", process.time_namespace);
  if (record.door) {
    json.key("door").begin_object().text("kind", record.door->kind);
    for (const auto& [key, value] : record.door->settings) {
      json.text(key, shown_value(key, value));
    }
    json.end_object();
  }
  json.key("metadata").begin_object();
  for (const auto& [key, value] : record.metadata) json.text(key, shown_value(key, value));
  json.end_object().boolean("has_token", record.door_token.has_value());
  json.key("other_keys").begin_array();
  for (const std::string& name : other_keys(record)) json.text(name);
  json.end_array().end_object();
}

// What the process was started as, without what looks like a secret; nullopt where it does not run,
// or the system does not tell.
std::optional<std::vector<std::string>> command_of(Context& context, const SessionView& view) {
  if (view.process.state != ProcessState::kAlive) return std::nullopt;
  const auto registry = context.registry();
  if (!registry) return std::nullopt;
  const auto bytes = (*registry)->read_process(view.record.session_id, ReadWhat::kCommand, {});
  if (!bytes) {
    context.out().log(2, bytes.error().message);
    return std::nullopt;
  }
  return redacted_command(parse_command(*bytes));
}

void write_command_json(JsonWriter& json, const std::optional<std::vector<std::string>>& command) {
  json.key("command");
  if (!command) {
    json.null();
    return;
  }
  json.begin_array();
  for (const std::string& argument : *command) json.text(argument);
  json.end_array();
}

void write_record_text(Output& out, const Record& record,
                       const std::optional<std::vector<std::string>>& command) {
  std::vector<std::vector<Cell>> rows;
  const auto add = [&rows](std::string title, std::string value) {
    rows.push_back({{std::move(title)}, {std::move(value)}});
  };
  const auto add_known = [&](std::string title, const std::optional<std::string>& value) {
    if (value) add(std::move(title), *value);
  };
  const ProcessIdentity& process = record.process;
  add("name", format_name(record.name, record.version));
  add("pid", std::to_string(process.pid));
  add("process_start", process.start_token);
  add_known("boot_id", process.boot_id);
  add_known("exact_id", process.exact_id);
  add_known("host_id", process.host_id);
  add_known("pid_namespace", process.pid_namespace);
  add_known("time_namespace", process.time_namespace);
  add("door", format_door(record));
  if (record.has_door()) add("door.kind", std::string(door_kind(record)));
  if (record.door) {
    for (const auto& [key, value] : record.door->settings) {
      add("door." + key, std::string(shown_value(key, value)));
    }
  }
  if (command) add("command", fmt::format("{}", fmt::join(*command, " ")));
  add("token", record.door_token ? "recorded (not shown)" : "none");
  add("workdir", record.workdir);
  add("detached", record.outlives_launcher ? "yes" : "no");
  add("started_at", record.started_at);
  for (const auto& [key, value] : record.metadata) {
    add(key, std::string(shown_value(key, value)));
  }
  for (const std::string& name : other_keys(record)) add(name, "(not shown: not a key of ours)");
  out.table({"FIELD", "VALUE"}, rows, false);
}

}  // namespace

Outcome<int> run_verify(Context& context, const VerifyOptions& options) {
  const auto verified = verify_named(context, options.session, options.timeout_ns);
  if (!verified) return tl::unexpected(verified.error());
  const auto& [view, here] = *verified;
  Output& out = context.out();
  if (out.json()) {
    write_verify_json(out, view, here, options.explain);
  } else {
    out.line(verdict_line(view));
    if (options.explain) write_explanation_text(out, explain(view, here));
  }
  return exit_code_of(view.finding.verdict);
}

Outcome<int> run_show(Context& context, const ShowOptions& options) {
  const auto verified = verify_named(context, options.session, options.timeout_ns);
  if (!verified) return tl::unexpected(verified.error());
  const SessionView& view = verified->view;
  const auto command = command_of(context, view);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.show/1");
    json.text("session_id", view.record.session_id);
    json.text("verdict", to_text(view.finding.verdict));
    write_reason(json, view.finding.reason, view.finding.text);
    write_record_json(json, view.record);
    write_command_json(json, command);
    json.end_object();
    out.document(json);
  } else {
    out.line(verdict_line(view));
    write_record_text(out, view.record, command);
  }
  return exit_code_of(view.finding.verdict);
}

}  // namespace rollcall::regtool
