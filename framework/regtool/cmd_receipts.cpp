#include <fmt/format.h>

#include <utility>

#include "core/private_files.hpp"
#include "core/rfc3339.hpp"
#include "core/secret.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

struct ProblemExit {
  ReceiptProblem problem;
  int exit_code;
  std::string_view code;
};

constexpr ProblemExit kProblems[] = {
    {ReceiptProblem::kInvalidEndpoint, kExitUsage, "invalid_endpoint"},
    {ReceiptProblem::kNotLive, kExitNo, "not_live"},
    {ReceiptProblem::kIdentityMismatch, kExitRefused, "identity_mismatch"},
    {ReceiptProblem::kInvalidReceipt, kExitIo, "invalid_receipt"},
    {ReceiptProblem::kAmbiguous, kExitUsage, "ambiguous"},
    {ReceiptProblem::kUnverified, kExitUnreachable, "unverified"},
};

tl::unexpected<Failure> receipt_failure(const ReceiptError& error, const std::string& object) {
  Failure failure = to_failure(error.error, object);
  for (const ProblemExit& row : kProblems) {
    if (row.problem != error.problem) continue;
    failure.exit_code = row.exit_code;
    failure.code = row.code;
  }
  return tl::unexpected(std::move(failure));
}

Outcome<std::unique_ptr<Receipts>> open_receipts(Context& context, bool prune) {
  const auto files = context.receipt_files();
  if (!files) return tl::unexpected(files.error());
  auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  auto receipts = Receipts::open(
      {.files = *files, .probe = std::move(*probe), .clock = context.clock(), .prune = prune});
  if (!receipts) return failure_of(receipts.error(), context.home());
  return std::move(*receipts);
}

Outcome<ReceiptSource> source_of(const SourceOptions& options) {
  ReceiptSource source{options.harness, options.session_id, {}};
  if (options.workspace) {
    source.workspace = platform::absolute_path(*options.workspace);
  } else {
    auto here = platform::current_directory();
    if (!here) return failure_of(here.error());
    source.workspace = std::move(*here);
  }
  return source;
}

void write_source(JsonWriter& json, const ReceiptSource& source) {
  json.key("source").begin_object().text("harness", source.harness);
  json.text("session_id", source.session_id).text("workspace", source.workspace).end_object();
}

// Members that are not documented may hold anything, and are not shown.
void write_metadata(JsonWriter& json, const ReceiptMetadata& metadata) {
  json.key("metadata").begin_object().text_or_null("profile", metadata.profile);
  json.text_or_null("persistence_location", metadata.persistence_location);
  json.key("endpoint_capabilities").begin_array();
  for (const std::string& capability : metadata.endpoint_capabilities) json.text(capability);
  json.end_array();
  if (metadata.supervisor) {
    json.key("supervisor").begin_object().text("kind", metadata.supervisor->kind);
    json.text_or_null("session_name", metadata.supervisor->session_name).end_object();
  } else {
    json.null("supervisor");
  }
  json.end_object();
}

void write_view(JsonWriter& json, const ReceiptView& view) {
  json.begin_object().text("endpoint", view.endpoint);
  json.text("runtime_session_id", view.runtime_session_id);
  write_source(json, view.source);
  json.integer("pid", view.pid).integer("created_at_ms", view.created_at_ms);
  write_metadata(json, view.metadata);
  json.text("state", to_text(view.state));
  write_reason(json, view.reason_code, view.reason);
  json.end_object();
}

void write_list(Output& out, const ReceiptList& list) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.receipts/1").key("receipts").begin_array();
  for (const ReceiptView& view : list.receipts) write_view(json, view);
  json.end_array().key("pruned").begin_array();
  for (const ReceiptView& view : list.pruned) {
    json.begin_object().text("endpoint", view.endpoint).text("reason", view.reason);
    json.text("code", to_text(view.reason_code)).end_object();
  }
  json.end_array().key("broken").begin_array();
  for (const BrokenReceipt& broken : list.broken) {
    json.begin_object().text("file", broken.file).text("reason", broken.reason).end_object();
  }
  json.end_array().end_object();
  out.document(json);
}

std::string created(std::int64_t at_ms) {
  constexpr std::int64_t kLatestMs = 253'402'300'799'000;  // 9999-12-31
  return at_ms <= kLatestMs ? core::format_rfc3339_utc(at_ms * kNsPerMs) : "-";
}

std::vector<Cell> row_of(const ReceiptView& view) {
  const Colour colour = view.state == ProcessState::kAlive  ? Colour::kGood
                        : view.state == ProcessState::kGone ? Colour::kBad
                                                            : Colour::kWarn;
  return {{view.endpoint},
          {view.runtime_session_id},
          {fmt::format("{}:{}", view.source.harness, view.source.session_id)},
          {view.source.workspace},
          {std::string(view.state == ProcessState::kAlive  ? "live"
                       : view.state == ProcessState::kGone ? "gone"
                                                           : "unverified"),
           colour},
          {std::to_string(view.pid)},
          {created(view.created_at_ms)}};
}

void write_table(Output& out, const std::vector<ReceiptView>& views) {
  std::vector<std::vector<Cell>> rows;
  for (const ReceiptView& view : views) rows.push_back(row_of(view));
  out.table({"ENDPOINT", "RUNTIME", "SOURCE", "WORKSPACE", "STATUS", "PID", "CREATED"}, rows,
            false);
}

// What find and discover answer.
Outcome<int> say_one(Context& context, const ReceiptResult<std::optional<ReceiptView>>& found,
                     std::string_view schema, const std::string& object) {
  if (!found) return receipt_failure(found.error(), object);
  if (!*found) {
    return tl::unexpected<Failure>(
        Failure{kExitNo, "not_live", fmt::format("no live receipt of {}", object), object});
  }
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", schema).key("receipt");
    write_view(json, **found);
    json.end_object();
    out.document(json);
  } else {
    out.line((*found)->endpoint);
    if ((*found)->state != ProcessState::kAlive) {
      out.warning("whether its process runs cannot be told: " + (*found)->reason);
    }
  }
  return kExitYes;
}

// A new file of ours alone that holds just the token.
Outcome<void> write_token_file(const std::string& path, std::string_view token) {
  const std::string file = platform::absolute_path(path);
  const std::string name = platform::base_name(file);
  const std::string folder = file.substr(0, file.size() - name.size());
  if (name.empty() || name == "." || name == "..") {
    return usage_failure("--token-file names no file", path);
  }
  const auto dir = core::PrivateDir::open_any(folder, core::PrivateDir::Links::kFollow);
  if (!dir) return failure_of(dir.error(), path);
  if (!*dir) return failure_of(Error{ErrorCode::kIo, "there is no folder " + folder}, path);
  const auto made = (*dir)->create(name, token, {.durable = false});
  if (made) return {};
  if (made.error().code == ErrorCode::kExists) {
    return refusal(path + " is there already; the token goes into a new file only", path);
  }
  return failure_of(made.error(), path);
}

void say_resolved(Output& out, const ResolvedReceipt& resolved,
                  const ReceiptsResolveCommand& command) {
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.receipt-resolve/1");
    json.text("endpoint", resolved.endpoint);
    json.text("runtime_session_id", resolved.runtime_session_id);
    write_source(json, resolved.source);
    json.text("base_url", resolved.base_url).integer("pid", resolved.pid);
    json.text_or_null("token_file", command.token_file);
    if (command.show_token) json.text("token", resolved.token);
    json.end_object();
    out.document(json);
    return;
  }
  out.line("endpoint: " + resolved.endpoint);
  out.line("runtime: " + resolved.runtime_session_id);
  out.line(fmt::format("source: {}:{}", resolved.source.harness, resolved.source.session_id));
  out.line("workspace: " + resolved.source.workspace);
  out.line("base_url: " + resolved.base_url);
  out.line(fmt::format("pid: {}", resolved.pid));
  if (command.show_token) out.line("token: " + resolved.token);
}

}  // namespace

Outcome<ReceiptList> clean_up_receipts(Context& context, bool dry_run) {
  const auto receipts = open_receipts(context, true);
  if (!receipts) return tl::unexpected(receipts.error());
  auto cleaned = (*receipts)->clean_up(dry_run, {});
  if (!cleaned) return receipt_failure(cleaned.error(), context.home());
  return std::move(*cleaned);
}

Outcome<int> run_receipts(Context& context, const ReceiptsListCommand& command) {
  const auto receipts = open_receipts(context, !command.no_prune && !context.is_foreign());
  if (!receipts) return tl::unexpected(receipts.error());
  const auto list = (*receipts)->list({});
  if (!list) return receipt_failure(list.error(), context.home());
  Output& out = context.out();
  for (const ReceiptView& view : list->pruned) {
    out.notice(fmt::format("pruned: {}: {}", view.endpoint, view.reason));
  }
  for (const BrokenReceipt& broken : list->broken) {
    out.warning(fmt::format("{} is no receipt that can be used: {}", broken.file, broken.reason));
  }
  for (const std::string& warning : list->warnings) out.warning(warning);
  if (out.json()) {
    write_list(out, *list);
  } else if (list->receipts.empty()) {
    out.line("no receipts");
  } else {
    write_table(out, list->receipts);
  }
  return kExitYes;
}

Outcome<int> run_receipts(Context& context, const ReceiptsFindCommand& command) {
  const auto receipts = open_receipts(context, !command.no_prune && !context.is_foreign());
  if (!receipts) return tl::unexpected(receipts.error());
  return say_one(context, (*receipts)->find(command.runtime_session_id, {}),
                 "rollcall.receipt-find/1", command.runtime_session_id);
}

Outcome<int> run_receipts(Context& context, const ReceiptsDiscoverCommand& command) {
  const auto source = source_of(command.source);
  if (!source) return tl::unexpected(source.error());
  const auto receipts = open_receipts(context, !command.no_prune && !context.is_foreign());
  if (!receipts) return tl::unexpected(receipts.error());
  return say_one(context, (*receipts)->discover(*source, {}), "rollcall.receipt-discover/1",
                 fmt::format("{}:{}", source->harness, source->session_id));
}

Outcome<int> run_receipts(Context& context, const ReceiptsResolveCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  const auto source = source_of(command.source);
  if (!source) return tl::unexpected(source.error());
  const auto receipts = open_receipts(context, true);
  if (!receipts) return tl::unexpected(receipts.error());
  auto resolved = (*receipts)->resolve(command.endpoint, *source, {});
  if (!resolved) return receipt_failure(resolved.error(), command.endpoint);
  if (command.token_file) {
    if (auto written = write_token_file(*command.token_file, resolved->token); !written) {
      return tl::unexpected(written.error());
    }
  }
  say_resolved(context.out(), *resolved, command);
  core::wipe(resolved->token);
  return kExitYes;
}

Outcome<int> run_receipts(Context& context, const ReceiptsForgetCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  const auto receipts = open_receipts(context, false);
  if (!receipts) return tl::unexpected(receipts.error());
  const auto forgotten = (*receipts)->forget(command.endpoint, {});
  if (!forgotten) return receipt_failure(forgotten.error(), command.endpoint);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.receipt-forget/1");
    json.text("endpoint", command.endpoint).boolean("forgotten", *forgotten).end_object();
    out.document(json);
  } else {
    out.line(*forgotten ? command.endpoint + ": forgotten" : command.endpoint + ": there was none");
  }
  return kExitYes;
}

Outcome<int> run_receipts(Context& context, const ReceiptsRegisterCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  NewReceipt receipt;
  receipt.runtime_session_id = command.runtime_session_id;
  auto source = source_of(command.source);
  if (!source) return tl::unexpected(source.error());
  receipt.source = std::move(*source);
  receipt.base_url = command.base_url;
  auto identity = identify_for_record(context, command.pid, command.expect_start);
  if (!identity) return tl::unexpected(identity.error());
  receipt.process = std::move(*identity);
  if (command.profile || command.persistence_location || command.tmux ||
      !command.capabilities.empty()) {
    ReceiptMetadata metadata;
    metadata.profile = command.profile;
    metadata.persistence_location = command.persistence_location;
    metadata.endpoint_capabilities = command.capabilities;
    if (command.tmux) metadata.supervisor = ReceiptSupervisor{"tmux", command.tmux, {}};
    receipt.metadata = std::move(metadata);
  }
  auto token = read_token_file(command.token_file);
  if (!token) return tl::unexpected(token.error());
  receipt.token = std::move(*token);
  const auto receipts = open_receipts(context, false);
  if (!receipts) return tl::unexpected(receipts.error());
  auto registered = (*receipts)->register_receipt(std::move(receipt), {});
  if (!registered) {
    auto failure = receipt_failure(registered.error(), command.runtime_session_id);
    if (registered.error().problem == ReceiptProblem::kInvalidReceipt) {
      failure.value().exit_code = kExitRefused;
    }
    return failure;
  }
  registered->guard.detach();
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.receipt-register/1");
    json.text("endpoint", registered->endpoint).integer("pid", command.pid).end_object();
    out.document(json);
  } else {
    out.line(registered->endpoint);
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
