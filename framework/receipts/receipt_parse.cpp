// Reading a receipt. The format and every rule are in docs/receipts.md.
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/hex.hpp"
#include "core/secret.hpp"
#include "core/text.hpp"
#include "receipts/members.hpp"
#include "receipts/receipt_rules.hpp"
#include "registry/json_text.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall {
namespace {

using receipts::Members;

tl::unexpected<RecordError> refuse(RecordProblem problem, std::string text) {
  return tl::unexpected<RecordError>(RecordError{problem, std::move(text)});
}

// The members of an object that stands under a key. Errors: kInvalid, naming the key.
Result<Members> take_object(Members& members, std::string_view key) {
  const auto raw = members.take(key);
  if (!raw) return fail(ErrorCode::kInvalid, fmt::format("`{}` is missing", key));
  auto inner = Members::split(*raw);
  if (!inner) {
    return fail(ErrorCode::kInvalid, fmt::format("`{}` is no object with each key once", key));
  }
  return inner;
}

Status read_text(Members& members, std::string_view key, std::string& into) {
  auto text = members.take_text(key);
  if (!text) return tl::unexpected(text.error());
  into = std::move(*text);
  return {};
}

Status read_source(Members& members, ReceiptSource& source) {
  auto inner = take_object(members, "source");
  if (!inner) return tl::unexpected(inner.error());
  if (auto read = read_text(*inner, "harness", source.harness); !read) return read;
  if (auto read = read_text(*inner, "session_id", source.session_id); !read) return read;
  if (auto read = read_text(*inner, "workspace", source.workspace); !read) return read;
  // Only while both say the same: who edits `workspace` by hand means what he wrote.
  if (const auto hex = inner->take_if_text("workspace_bytes_hex")) {
    auto bytes = core::from_hex(*hex);
    if (bytes && text::to_utf8(*bytes) == source.workspace) source.workspace = std::move(*bytes);
  }
  return {};
}

// Every part but the pid may be missing. An empty part is a reading that its writer failed to make,
// not a value: then the process is named by its pid alone (see docs/record-format.md).
Status read_identity(Members& members, ProcessIdentity& process) {
  const auto pid = members.take_whole("pid", 1, kMaxPid);
  if (!pid) return tl::unexpected(pid.error());
  process.pid = *pid;
  if (auto read = read_text(members, "process_start", process.start_token); !read) return read;
  const std::pair<std::string_view, std::optional<std::string>*> parts[] = {
      {"boot_id", &process.boot_id},
      {"exact_id", &process.exact_id},
      {"host_id", &process.host_id},
      {"pid_namespace", &process.pid_namespace},
      {"time_namespace", &process.time_namespace}};
  bool is_void = process.start_token.empty();
  for (const auto& [key, slot] : parts) {
    auto text = members.take_optional_text(key);
    if (!text) return tl::unexpected(text.error());
    if (*text && (*text)->empty()) {
      is_void = true;
    } else {
      *slot = std::move(*text);
    }
  }
  if (process.exact_id && !registry::plain_decimal(*process.exact_id)) {
    return fail(ErrorCode::kInvalid, "`exact_id` is not a decimal number in a string");
  }
  if (is_void) {
    process.start_token.clear();
    process.boot_id.reset();
    process.exact_id.reset();
  }
  if (process.pid == 1 && process.start_token.empty()) {
    return fail(ErrorCode::kInvalid, "it names pid 1 without a start token");
  }
  return {};
}

std::optional<std::vector<std::string>> texts_of(std::string_view json) {
  const auto elements = registry::split_array(json);
  if (!elements) return std::nullopt;
  std::vector<std::string> texts;
  for (const std::string& element : *elements) {
    auto text = registry::string_value(element);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::optional<ReceiptSupervisor> supervisor_of(std::string_view json) {
  auto members = Members::split(json);
  if (!members) return std::nullopt;
  auto kind = members->take_if_text("kind");
  if (!kind || kind->empty()) return std::nullopt;
  ReceiptSupervisor supervisor;
  supervisor.kind = std::move(*kind);
  supervisor.session_name = members->take_if_text("session_name");
  supervisor.unknown_json = members->rest();
  return supervisor;
}

// It informs and never decides: what is not of its documented shape is kept as it is.
Status read_metadata(Members& members, ReceiptMetadata& metadata) {
  if (!members.has("metadata")) return {};
  auto inner = take_object(members, "metadata");
  if (!inner) return tl::unexpected(inner.error());
  metadata.profile = inner->take_if_text("profile");
  metadata.persistence_location = inner->take_if_text("persistence_location");
  const auto peek = [&](std::string_view key, auto read) {
    const auto raw = inner->peek(key);
    auto value = raw ? read(*raw) : std::nullopt;
    if (value) static_cast<void>(inner->take(key));
    return value;
  };
  if (auto texts = peek("endpoint_capabilities", texts_of)) {
    metadata.endpoint_capabilities = std::move(*texts);
  }
  metadata.supervisor = peek("supervisor", supervisor_of);
  metadata.unknown_json = inner->rest();
  return {};
}

Status read_receipt(Members& members, Receipt& receipt) {
  if (auto read = read_text(members, "receipt_id", receipt.receipt_id); !read) return read;
  if (auto read = read_text(members, "runtime_session_id", receipt.runtime_session_id); !read) {
    return read;
  }
  if (auto read = read_source(members, receipt.source); !read) return read;
  if (auto read = read_text(members, "base_url", receipt.base_url); !read) return read;
  if (auto read = read_text(members, "token", receipt.token); !read) return read;
  if (auto read = read_identity(members, receipt.process); !read) return read;
  const auto created =
      members.take_whole("created_at_ms", 0, std::numeric_limits<std::int64_t>::max());
  if (!created) return tl::unexpected(created.error());
  receipt.created_at_ms = *created;
  return read_metadata(members, receipt.metadata);
}

}  // namespace

tl::expected<Receipt, RecordError> parse_receipt(std::string_view bytes,
                                                 std::string_view expected_id) {
  const auto json = registry::admit_json(bytes, kMaxRecordBytes);
  if (!json) return tl::unexpected(json.error());
  auto members = Members::split(*json);
  if (!members) return refuse(RecordProblem::kInvalid, members.error().message);
  const auto schema = members->take_text("schema");
  if (!schema) return refuse(RecordProblem::kInvalid, schema.error().message);
  switch (registry::judge_schema(*schema, kReceiptSchema)) {
    case registry::SchemaRule::kNewer:
      return refuse(RecordProblem::kNewerSchema,
                    fmt::format("it is of a newer schema than {}", kReceiptSchema));
    case registry::SchemaRule::kForeign:
      return refuse(RecordProblem::kInvalid, "`schema` is another format's");
    case registry::SchemaRule::kOurs:
      break;
  }
  Receipt receipt;
  auto good = read_receipt(*members, receipt);
  if (good) good = receipts::check_receipt(receipt);
  const bool is_named_so = receipt.receipt_id == expected_id;
  if (good && is_named_so) good = receipts::check_receipt_id(expected_id);
  if (good && is_named_so) return receipt;
  core::wipe(receipt.token);
  if (!good) return refuse(RecordProblem::kInvalid, std::move(good.error().message));
  return refuse(RecordProblem::kNameMismatch, "`receipt_id` is not the name of its file");
}

}  // namespace rollcall
