// A receipt for tests.
#pragma once

#include <string>
#include <string_view>

#include "rollcall/receipts.hpp"

namespace rollcall::test {

inline constexpr std::string_view kReceiptId = "00112233445566778899aabbccddeeff";
inline constexpr std::string_view kReceiptToken = "tok-Very-Secret";

inline Receipt sample_receipt() {
  Receipt receipt;
  receipt.receipt_id = std::string(kReceiptId);
  receipt.runtime_session_id = "rt_1";
  receipt.source = {"acp", "s1", "/no/such/workspace"};
  receipt.base_url = "http://127.0.0.1:4096";
  receipt.token = std::string(kReceiptToken);
  receipt.process = {.pid = 4242, .start_token = "77", .boot_id = "boot-a", .host_id = "hash-host"};
  receipt.created_at_ms = 1'700'000'000'000;
  return receipt;
}

inline std::string sample_text() { return *serialize_receipt(sample_receipt()); }

// `text` with the first `what` replaced.
inline std::string with(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  return at == std::string::npos ? "(nothing to replace)" : text.replace(at, what.size(), by);
}

}  // namespace rollcall::test
