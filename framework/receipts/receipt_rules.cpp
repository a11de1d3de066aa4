#include "receipts/receipt_rules.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "rollcall/record.hpp"

namespace rollcall::receipts {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

Status check_name(std::string_view key, std::string_view value) {
  if (is_blank(value)) return fail(ErrorCode::kInvalid, fmt::format("`{}` is blank", key));
  if (!text::is_utf8(value))
    return fail(ErrorCode::kInvalid, fmt::format("`{}` is not UTF-8", key));
  return {};
}

}  // namespace

Status check_receipt(const Receipt& receipt) {
  const std::pair<std::string_view, const std::string&> names[] = {
      {"runtime_session_id", receipt.runtime_session_id},
      {"harness", receipt.source.harness},
      {"session_id", receipt.source.session_id}};
  for (const auto& [key, value] : names) {
    if (auto good = check_name(key, value); !good) return good;
  }
  if (is_blank(receipt.source.workspace) ||
      receipt.source.workspace.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalid, "`workspace` is blank or holds a zero byte");
  }
  if (!check_token(receipt.token)) {
    return fail(ErrorCode::kInvalid,
                "`token` is empty or holds what no token may (visible ASCII only)");
  }
  return check_base_url(receipt.base_url);
}

bool is_same_source(const ReceiptSource& recorded, const ReceiptSource& named,
                    std::string_view canonical) {
  if (recorded.harness != named.harness || recorded.session_id != named.session_id) return false;
  return recorded.workspace == named.workspace || recorded.workspace == canonical ||
         canonical_workspace(recorded.workspace) == canonical;
}

}  // namespace rollcall::receipts
