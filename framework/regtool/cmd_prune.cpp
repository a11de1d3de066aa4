#include <fmt/format.h>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall::regtool {
namespace {

void write_receipts(JsonWriter& json, const ReceiptList& receipts) {
  json.key("receipts").begin_object().key("pruned").begin_array();
  for (const ReceiptView& view : receipts.pruned) {
    json.begin_object().text("endpoint", view.endpoint).text("reason", view.reason);
    json.text("code", to_text(view.reason_code)).end_object();
  }
  json.end_array().key("quarantined").begin_array();
  for (const std::string& file : receipts.quarantined) json.text(file);
  json.end_array().key("broken").begin_array();
  for (const BrokenReceipt& broken : receipts.broken) {
    json.begin_object().text("file", broken.file).text("reason", broken.reason).end_object();
  }
  json.end_array().end_object();
}

void write_json(Output& out, const Sweep& sweep, const ReceiptList& receipts, bool dry_run) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.prune/1").boolean("dry_run", dry_run);
  json.key("pruned").begin_array();
  for (const PrunedEntry& entry : sweep.pruned) {
    json.begin_object().text("session_id", entry.session_id).text("reason", entry.reason);
    json.text("code", to_text(entry.code)).end_object();
  }
  json.end_array().key("quarantined").begin_array();
  for (const std::string& file : sweep.quarantined) json.text(file);
  json.end_array().key("unreadable").begin_array();
  for (const UnreadableEntry& entry : sweep.unreadable) {
    json.begin_object().text("file", entry.file).text("reason", entry.reason).end_object();
  }
  json.end_array().key("warnings").begin_array();
  for (const std::string& warning : sweep.warnings) json.text(warning);
  for (const std::string& warning : receipts.warnings) json.text(warning);
  json.end_array();
  write_receipts(json, receipts);
  json.end_object();
  out.document(json);
}

void write_text(Output& out, const Sweep& sweep, const ReceiptList& receipts, bool dry_run) {
  const auto say_pruned = [&](const std::string& what, const std::string& reason) {
    out.line(fmt::format("{}: {}: {}", dry_run ? "would prune" : "pruned", what, reason));
  };
  const auto say_quarantined = [&](const std::string& file) {
    out.line(fmt::format("{}: {}", dry_run ? "would quarantine" : "quarantined", file));
  };
  for (const PrunedEntry& entry : sweep.pruned) say_pruned(entry.session_id, entry.reason);
  for (const ReceiptView& view : receipts.pruned) say_pruned(view.endpoint, view.reason);
  for (const std::string& file : sweep.quarantined) say_quarantined(file);
  for (const std::string& file : receipts.quarantined) say_quarantined(file);
  if (sweep.pruned.empty() && sweep.quarantined.empty() && receipts.pruned.empty() &&
      receipts.quarantined.empty()) {
    const bool warned = !sweep.warnings.empty() || !receipts.warnings.empty();
    out.line(warned ? "nothing was pruned: the warnings say why" : "nothing to prune");
  }
}

Outcome<int> undo(Context& context, const SessionName& name) {
  const auto files = context.files();
  if (!files) return tl::unexpected(files.error());
  const auto gone = (*files)->list_gone({});
  if (!gone) return failure_of(gone.error(), context.home());
  NameCandidates candidates;
  candidates.place = context.home() + "/gone";
  for (const GoneRecord& entry : *gone) candidates.sessions.push_back({entry.session_id, false});
  if (name.row > 0) return tl::unexpected(refuse_row_name(name, {}));
  const auto id = resolve_session_name(name, candidates);
  if (!id) return tl::unexpected(id.error());
  if (auto undone = (*files)->undo_gone(*id, {}); !undone) {
    return tl::unexpected(to_session_failure(undone.error(), *id));
  }
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.undo/1").text("session_id", *id);
    json.boolean("restored", true).end_object();
    out.document(json);
  } else {
    out.line(fmt::format("{}: put back, without its token", *id));
  }
  return kExitYes;
}

}  // namespace

Outcome<int> run_prune(Context& context, const PruneCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  if (command.undo) return undo(context, *command.undo);
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const std::int64_t begun_ns = context.clock()->monotonic_ns();
  const auto sweep = (*registry)->prune({.dry_run = command.dry_run}, {});
  if (!sweep) return failure_of(sweep.error(), context.home());
  context.log_sweep(*sweep, begun_ns);
  const auto receipts = clean_up_receipts(context, command.dry_run);
  if (!receipts) return tl::unexpected(receipts.error());
  Output& out = context.out();
  if (out.json()) {
    write_json(out, *sweep, *receipts, command.dry_run);
  } else {
    write_text(out, *sweep, *receipts, command.dry_run);
  }
  for (const BrokenReceipt& broken : receipts->broken) {
    out.warning(fmt::format("{} is no receipt that can be used: {}", broken.file, broken.reason));
  }
  for (const std::string& warning : receipts->warnings) out.warning(warning);
  for (const UnreadableEntry& entry : sweep->unreadable) {
    out.warning(fmt::format("{} is no record that can be used: {}", entry.file, entry.reason));
  }
  for (const std::string& warning : sweep->warnings) out.warning(warning);
  return kExitYes;
}

}  // namespace rollcall::regtool
