#include "receipts/receipt_rules.hpp"

#include <filesystem>
#include <system_error>

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

std::filesystem::path path_of(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
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

std::string canonical_workspace(const std::string& workspace) {
  try {
    std::error_code error;
    const auto canonical = std::filesystem::canonical(path_of(workspace), error);
    return error ? workspace : text_of(canonical);
  } catch (const std::system_error&) {
    return workspace;  // Windows: it is not UTF-8
  }
}

bool is_same_source(const ReceiptSource& recorded, const ReceiptSource& named,
                    std::string_view canonical) {
  if (recorded.harness != named.harness || recorded.session_id != named.session_id) return false;
  return recorded.workspace == named.workspace || recorded.workspace == canonical ||
         canonical_workspace(recorded.workspace) == canonical;
}

}  // namespace rollcall::receipts
