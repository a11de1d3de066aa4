#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <system_error>
#include <thread>
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

SessionRow row_of(const SessionView& view, const std::string& store, std::int64_t now_unix_ns) {
  SessionRow row = row_of(view.record);
  row.store = store;
  row.guarded_by_time = is_by_time(view.process);
  row.status = std::string(to_text(view.finding.verdict));
  if (view.finding.reason != Reason::kNone) {
    row.reason_code = std::string(to_text(view.finding.reason));
    row.reason_text = view.finding.text;
  } else if (row.guarded_by_time) {
    row.reason_text = view.finding.text;
  }
  if (view.process.state == ProcessState::kAlive) row.uptime_s = view.uptime_s(now_unix_ns);
  return row;
}

SessionRow gone_row(SessionRow row, Reason code, const std::string& text) {
  row.store = std::string(kOwnStore);
  row.status = std::string(to_text(Verdict::kGone));
  row.reason_code = std::string(to_text(code));
  row.reason_text = text;
  row.uptime_s.reset();
  return row;
}

// What was pruned, now and in the last days, among the rows of our own store.
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
      .text("store", row.store)
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
  json.boolean("guarded_by_time", row.guarded_by_time);
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

// One store that was read, or could not be.
struct StoreReading {
  Context::OpenStore store;  // without a registry where it could not be opened
  Result<Sweep> sweep = fail(ErrorCode::kInternal, "not read");
  std::int64_t begun_ns = 0;
};

void write_json(Output& out, const std::vector<SessionRow>& rows,
                const std::vector<StoreReading>& readings) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.ps/1").key("sessions").begin_array();
  for (const SessionRow& row : rows) write_row(json, row);
  json.end_array().key("pruned").begin_array();
  for (const StoreReading& reading : readings) {
    if (!reading.sweep) continue;
    for (const PrunedEntry& entry : reading.sweep->pruned) {
      json.begin_object().text("session_id", entry.session_id).text("reason", entry.reason);
      json.text("code", to_text(entry.code)).end_object();
    }
  }
  json.end_array().key("unreadable").begin_array();
  for (const StoreReading& reading : readings) {
    if (!reading.sweep) continue;
    for (const UnreadableEntry& entry : reading.sweep->unreadable) {
      json.begin_object().text("file", entry.file).text("reason", entry.reason);
      json.text("store", reading.store.choice.name).end_object();
    }
  }
  json.end_array().key("stores").begin_array();
  for (const StoreReading& reading : readings) {
    json.begin_object().text("store", reading.store.choice.name).text("place", reading.store.place);
    json.reason("problem", reading.sweep ? "" : reading.sweep.error().message).end_object();
  }
  json.end_array().end_object();
  out.document(json);
}

void write_text(Output& out, const std::vector<SessionRow>& rows, const PsOptions& options,
                bool with_store) {
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
  std::string columns(with_store ? kStoreColumn : "");
  columns += options.wide ? kPsWideColumns : kPsColumns;
  if (!options.format.empty()) columns = options.format;
  const TableText table = table_of(rows, columns);
  out.table(table.header, table.rows, !options.wide);
}

void tell(const Output& out, const Sweep& sweep, const StoreChoice& store) {
  const std::string of = store.is_own() ? "" : fmt::format(" of the store {}", store.name);
  for (const PrunedEntry& entry : sweep.pruned) {
    out.notice(fmt::format("pruned: {}: {}", entry.session_id, entry.reason));
  }
  for (const UnreadableEntry& entry : sweep.unreadable) {
    out.warning(fmt::format("{}{} is left as it is: {}", entry.file, of, entry.reason));
  }
  for (const std::string& warning : sweep.warnings) out.warning(warning);
}

Outcome<int> list_gone(Context& context, const PsOptions& options) {
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
  if (options.ids_only) {
    for (const GoneRecord& entry : *gone) out.line(entry.session_id);
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

namespace {

// Opens every store that was chosen. Reads none. A plugin's that cannot be opened among others does
// not hide those.
Outcome<std::vector<StoreReading>> open_stores(Context& context, const PsOptions& options) {
  const auto choices = context.stores();
  if (!choices) return tl::unexpected(choices.error());
  std::vector<StoreReading> readings;
  for (const StoreChoice& choice : *choices) {
    auto store = context.open_store(choice, {.door_timeout_ns = options.timeout_ns});
    if (!store && (!choice.is_plugin() || choices->size() == 1)) {
      return tl::unexpected(store.error());
    }
    StoreReading& reading = readings.emplace_back();
    if (store) {
      reading.store = std::move(*store);
    } else {
      reading.store.choice = choice;
      reading.store.place = choice.name;
      reading.sweep = fail(ErrorCode::kUnsupported, store.error().text);
    }
  }
  return readings;
}

// Reads the stores side by side, so that doors which hang cost one deadline for all.
void sweep_stores(Context& context, const PsOptions& options, std::vector<StoreReading>& readings) {
  SweepOptions reading;
  reading.ask_doors = !options.no_probe && !context.is_foreign();
  reading.prune = !options.no_prune && !context.is_foreign();
  const auto sweep = [&](StoreReading& one) {
    if (!one.store.registry) return;
    one.begun_ns = context.clock()->monotonic_ns();
    one.sweep = one.store.registry->sweep(reading, {});
  };
  const Progress progress(context.out(), "asking the sessions");
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    try {
      threads.emplace_back(sweep, std::ref(readings[i]));
    } catch (const std::system_error&) {  // no thread to be had: one after the other
      sweep(readings[i]);
    }
  }
  if (!readings.empty()) sweep(readings.front());
  for (std::thread& thread : threads) thread.join();
}

// The rows of all stores, in their order.
Outcome<std::vector<SessionRow>> rows_of(Context& context, const PsOptions& options,
                                         const std::vector<StoreReading>& readings) {
  const std::int64_t now = context.clock()->unix_ns();
  std::vector<SessionRow> all;
  for (const StoreReading& reading : readings) {
    if (!reading.sweep) continue;
    std::vector<SessionRow> rows;
    rows.reserve(reading.sweep->sessions.size());
    for (const SessionView& view : reading.sweep->sessions) {
      rows.push_back(row_of(view, reading.store.choice.name, now));
    }
    if (options.all && reading.store.choice.is_own()) {
      if (auto added = add_gone_rows(context, *reading.sweep, rows); !added) {
        return tl::unexpected(added.error());
      }
    }
    all.insert(all.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const SessionRow& row) { return !passes(row, options.filters); }),
            all.end());
  if (!options.sort.empty()) sort_rows(all, options.sort);
  return all;
}

}  // namespace

Outcome<int> run_ps(Context& context, const PsOptions& options) {
  if (options.gone) return list_gone(context, options);
  auto readings = open_stores(context, options);
  if (!readings) return tl::unexpected(readings.error());
  sweep_stores(context, options, *readings);
  bool all_read = true;
  for (const StoreReading& reading : *readings) {
    if (reading.sweep) {
      context.log_sweep(*reading.sweep, reading.begun_ns);
    } else if (readings->size() == 1) {
      return failure_of(reading.sweep.error(), reading.store.place);
    } else {
      all_read = false;
    }
  }
  const auto rows = rows_of(context, options, *readings);
  if (!rows) return tl::unexpected(rows.error());
  Output& out = context.out();
  if (out.json()) {
    write_json(out, *rows, *readings);
  } else {
    write_text(out, *rows, options, context.options().chose_stores);
  }
  for (const StoreReading& reading : *readings) {
    if (reading.sweep) {
      tell(out, *reading.sweep, reading.store.choice);
    } else {
      out.error(fmt::format("the store {} could not be read: {}", reading.store.choice.name,
                            reading.sweep.error().message));
    }
  }
  return all_read ? kExitYes : kExitIo;
}

}  // namespace rollcall::regtool
