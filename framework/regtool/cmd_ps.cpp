#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/rfc3339.hpp"
#include "core/shown_url.hpp"
#include "doors/gate.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/ps_view.hpp"

namespace rollcall::regtool {
namespace {

SessionRow row_of(const Record& record) {
  SessionRow row;
  row.session_id = record.session_id;
  row.name = record.name;
  row.version = record.version;
  row.pid = record.process.pid;
  if (record.url) row.url = shown_url(*record.url);
  row.door = format_door(record);
  if (record.has_door()) row.door_kind = std::string(door_kind(record));
  row.workdir = record.workdir;
  row.detached = record.outlives_launcher;
  for (const auto& [key, value] : record.metadata) {
    if (key.compare(0, kLabelPrefix.size(), kLabelPrefix) == 0) {
      row.labels[key.substr(kLabelPrefix.size())] = std::string(shown_value(key, value));
    }
  }
  return row;
}

SessionRow row_of(const SessionView& view, std::int64_t now_unix_ns) {
  SessionRow row = row_of(view.record);
  row.status = std::string(to_text(view.finding.verdict));
  if (view.finding.reason != Reason::kNone) {
    row.reason_code = std::string(to_text(view.finding.reason));
    row.reason_text = view.finding.text;
  }
  if (view.process.state == ProcessState::kAlive) row.uptime_s = view.uptime_s(now_unix_ns);
  return row;
}

SessionRow gone_row(SessionRow row, Reason code, const std::string& text) {
  row.status = std::string(to_text(Verdict::kGone));
  row.reason_code = std::string(to_text(code));
  row.reason_text = text;
  row.uptime_s.reset();
  return row;
}

// What was pruned, now and in the last days, as rows.
Outcome<void> add_gone_rows(Context& context, const Sweep& sweep, std::vector<SessionRow>& rows) {
  std::set<std::string> known;
  for (const SessionRow& row : rows) known.insert(row.session_id);
  for (const PrunedEntry& entry : sweep.pruned) {
    if (!known.insert(entry.session_id).second) continue;
    SessionRow row;
    if (entry.view) row = row_of(entry.view->record);
    row.session_id = entry.session_id;
    rows.push_back(gone_row(std::move(row), entry.code, entry.reason));
  }
  const auto files = context.files();
  if (!files) return tl::unexpected(files.error());
  const auto gone = (*files)->list_gone({});
  if (!gone) return failure_of(gone.error(), context.home());
  for (const GoneRecord& entry : *gone) {
    if (!known.insert(entry.session_id).second) continue;
    rows.push_back(gone_row(row_of(entry.record), entry.evidence.reason, entry.evidence.text));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SessionRow& a, const SessionRow& b) {
    return a.session_id > b.session_id;
  });
  return {};
}

void write_row(JsonWriter& json, const SessionRow& row) {
  json.begin_object()
      .text("session_id", row.session_id)
      .text("name", row.name)
      .text("version", row.version)
      .text("status", row.status);
  if (row.reason_code.empty()) {
    json.null("reason");
  } else {
    json.key("reason").begin_object();
    json.text("code", row.reason_code).text("text", row.reason_text).end_object();
  }
  json.integer("pid", row.pid)
      .text_or_null("url", row.url)
      .text("workdir", row.workdir)
      .boolean("detached", row.detached);
  if (row.uptime_s) {
    json.integer("uptime_s", *row.uptime_s);
  } else {
    json.null("uptime_s");
  }
  json.text_or_null("door", row.door_kind.empty() ? std::nullopt : std::optional(row.door_kind));
  json.key("labels").begin_object();
  for (const auto& [key, value] : row.labels) json.text(key, value);
  json.end_object().end_object();
}

void write_json(Output& out, const std::vector<SessionRow>& rows, const Sweep& sweep) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.ps/1").key("sessions").begin_array();
  for (const SessionRow& row : rows) write_row(json, row);
  json.end_array().key("pruned").begin_array();
  for (const PrunedEntry& entry : sweep.pruned) {
    json.begin_object().text("session_id", entry.session_id).text("reason", entry.reason);
    json.text("code", to_text(entry.code)).end_object();
  }
  json.end_array().key("unreadable").begin_array();
  for (const UnreadableEntry& entry : sweep.unreadable) {
    json.begin_object().text("file", entry.file).text("reason", entry.reason).end_object();
  }
  json.end_array().end_object();
  out.document(json);
}

void write_text(Output& out, const std::vector<SessionRow>& rows, const PsOptions& options) {
  if (options.ids_only) {
    for (const SessionRow& row : rows) out.line(row.session_id);
    return;
  }
  if (is_template(options.format)) {
    for (const SessionRow& row : rows) {
      out.raw(fill_template(options.format, row, out.style().charset));
    }
    return;
  }
  if (rows.empty() && options.format.empty()) {
    out.line(options.filters.empty() ? "no running sessions" : "no session matches");
    return;
  }
  std::string_view columns = options.wide ? kPsWideColumns : kPsColumns;
  if (!options.format.empty()) columns = options.format;
  const TableText table = table_of(rows, columns);
  out.table(table.header, table.rows, !options.wide);
}

void tell(const Output& out, const Sweep& sweep) {
  for (const PrunedEntry& entry : sweep.pruned) {
    out.notice(fmt::format("pruned: {}: {}", entry.session_id, entry.reason));
  }
  for (const UnreadableEntry& entry : sweep.unreadable) {
    out.warning(fmt::format("{} is left as it is: {}", entry.file, entry.reason));
  }
  for (const std::string& warning : sweep.warnings) out.warning(warning);
}

Outcome<int> list_gone(Context& context) {
  const auto files = context.files();
  if (!files) return tl::unexpected(files.error());
  const auto gone = (*files)->list_gone({});
  if (!gone) return failure_of(gone.error(), context.home());
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.gone/1").key("gone").begin_array();
    for (const GoneRecord& entry : *gone) {
      json.begin_object().text("session_id", entry.session_id).text("name", entry.record.name);
      json.text("version", entry.record.version).integer("pid", entry.record.process.pid);
      json.text("workdir", entry.record.workdir);
      write_reason(json, entry.evidence.reason, entry.evidence.text);
      json.text("pruned_at", core::format_rfc3339_utc(entry.evidence.pruned_unix_ns));
      json.text("plugin", entry.evidence.plugin).end_object();
    }
    json.end_array().end_object();
    out.document(json);
    return kExitYes;
  }
  if (gone->empty()) {
    out.line("nothing was pruned lately");
    return kExitYes;
  }
  std::vector<std::vector<Cell>> rows;
  for (const GoneRecord& entry : *gone) {
    rows.push_back({{entry.session_id},
                    {format_name(entry.record.name, entry.record.version)},
                    {core::format_rfc3339_utc(entry.evidence.pruned_unix_ns)},
                    {entry.evidence.text}});
  }
  out.table({"SESSION", "NAME", "PRUNED", "REASON"}, rows, false);
  return kExitYes;
}

}  // namespace

void write_reason(JsonWriter& json, Reason code, const std::string& text) {
  if (code == Reason::kNone) {
    json.null("reason");
    return;
  }
  json.key("reason").begin_object();
  json.text("code", to_text(code)).text("text", text).end_object();
}

Outcome<int> run_ps(Context& context, const PsOptions& options) {
  if (options.gone) return list_gone(context);
  const auto registry = context.registry(options.timeout_ns);
  if (!registry) return tl::unexpected(registry.error());
  SweepOptions reading;
  reading.ask_doors = !options.no_probe && !context.is_foreign();
  reading.prune = !options.no_prune && !context.is_foreign();
  const std::int64_t begun_ns = context.clock()->monotonic_ns();
  Result<Sweep> sweep = [&] {
    const Progress progress(context.out(), "asking the sessions");
    return (*registry)->sweep(reading, {});
  }();
  if (!sweep) return failure_of(sweep.error(), context.home());
  context.log_sweep(*sweep, begun_ns);
  const std::int64_t now = context.clock()->unix_ns();
  std::vector<SessionRow> rows;
  rows.reserve(sweep->sessions.size());
  for (const SessionView& view : sweep->sessions) rows.push_back(row_of(view, now));
  if (options.all) {
    if (auto added = add_gone_rows(context, *sweep, rows); !added) {
      return tl::unexpected(added.error());
    }
  }
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const SessionRow& row) { return !passes(row, options.filters); }),
             rows.end());
  if (!options.sort.empty()) sort_rows(rows, options.sort);
  Output& out = context.out();
  if (out.json()) {
    write_json(out, rows, *sweep);
  } else {
    write_text(out, rows, options);
  }
  tell(out, *sweep);
  return kExitYes;
}

}  // namespace rollcall::regtool
