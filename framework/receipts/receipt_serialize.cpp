// Writing a receipt: what parse_receipt() reads back as the same receipt.
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "receipts/receipt_rules.hpp"
#include "registry/json_text.hpp"
#include "registry/record_text.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall {
namespace {

using registry::json_string;

// Puts one object together, member by member.
class ObjectText {
 public:
  ObjectText& raw(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? '{' : ',';
    text_.append(json_string(key)).append(":").append(json);
    keys_.emplace(key);
    return *this;
  }
  ObjectText& text(std::string_view key, std::string_view value) {
    return raw(key, json_string(value));
  }
  ObjectText& optional(std::string_view key, const std::optional<std::string>& value) {
    return value ? text(key, *value) : *this;
  }
  // The members of another object; keys that stand here already are left out.
  Status append(const std::string& object) {
    if (object.empty()) return {};
    const auto members = registry::split_object(object);
    if (!members) return wrap("unknown_json", members.error());
    for (const auto& [key, value] : *members) {
      if (!keys_.contains(key)) raw(key, value);
    }
    return {};
  }
  [[nodiscard]] std::string take() { return text_.empty() ? "{}" : std::move(text_) + "}"; }

 private:
  std::string text_;
  std::set<std::string, std::less<>> keys_;
};

std::string source_text(const ReceiptSource& source) {
  ObjectText object;
  object.text("harness", source.harness).text("session_id", source.session_id);
  object.text("workspace", text::to_utf8(source.workspace));
  if (!text::is_utf8(source.workspace)) {
    object.text("workspace_bytes_hex", core::to_hex(source.workspace));
  }
  return object.take();
}

std::string array_text(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    json.append(json.size() > 1 ? "," : "").append(json_string(text::to_utf8(text)));
  }
  return json + "]";
}

std::optional<std::string> shown(const std::optional<std::string>& text) {
  return text ? std::optional(text::to_utf8(*text)) : std::nullopt;
}

Result<std::string> metadata_text(const ReceiptMetadata& metadata) {
  ObjectText object;
  object.optional("profile", shown(metadata.profile));
  object.optional("persistence_location", shown(metadata.persistence_location));
  if (!metadata.endpoint_capabilities.empty()) {
    object.raw("endpoint_capabilities", array_text(metadata.endpoint_capabilities));
  }
  if (metadata.supervisor) {
    ObjectText supervisor;
    supervisor.text("kind", text::to_utf8(metadata.supervisor->kind));
    supervisor.optional("session_name", shown(metadata.supervisor->session_name));
    if (auto added = supervisor.append(metadata.supervisor->unknown_json); !added) {
      return tl::unexpected(added.error());
    }
    object.raw("supervisor", supervisor.take());
  }
  if (auto added = object.append(metadata.unknown_json); !added) {
    return tl::unexpected(added.error());
  }
  return object.take();
}

}  // namespace

Result<std::string> serialize_receipt(const Receipt& receipt) {
  if (auto good = receipts::check_receipt_id(receipt.receipt_id); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = receipts::check_receipt(receipt); !good) return tl::unexpected(good.error());
  const ProcessIdentity& process = receipt.process;
  if (auto good = registry::check_identity(process); !good) return tl::unexpected(good.error());
  if (receipt.created_at_ms < 0) return fail(ErrorCode::kInvalid, "`created_at_ms` is negative");
  const auto metadata = metadata_text(receipt.metadata);
  if (!metadata) return tl::unexpected(metadata.error());
  ObjectText object;
  object.text("schema", kReceiptSchema).text("receipt_id", receipt.receipt_id);
  object.text("runtime_session_id", receipt.runtime_session_id);
  object.raw("source", source_text(receipt.source));
  object.text("base_url", receipt.base_url).text("token", receipt.token);
  object.raw("pid", std::to_string(process.pid)).text("process_start", process.start_token);
  object.optional("boot_id", process.boot_id).optional("exact_id", process.exact_id);
  object.optional("host_id", process.host_id).optional("pid_namespace", process.pid_namespace);
  object.optional("time_namespace", process.time_namespace);
  object.raw("created_at_ms", std::to_string(receipt.created_at_ms));
  object.raw("metadata", *metadata);
  std::string text = object.take() + "\n";
  if (text.size() > kMaxRecordBytes) {
    return fail(ErrorCode::kTooLarge, fmt::format("the receipt takes {} bytes, more than {}",
                                                  text.size(), kMaxRecordBytes));
  }
  return text;
}

}  // namespace rollcall
