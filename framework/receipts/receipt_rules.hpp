// What makes a receipt one, for who reads and who writes. Pure; any thread. No message holds a
// token.
#pragma once

#include <string>
#include <string_view>

#include "rollcall/receipts.hpp"
#include "rollcall/result.hpp"

namespace rollcall::receipts {

// Errors: kInvalid.
[[nodiscard]] Status check_receipt_id(std::string_view id);

// No name is blank, the token is one, the address is loopback HTTP. Errors: kInvalid.
[[nodiscard]] Status check_receipt(const Receipt& receipt);

// The folder's canonical path; one that cannot be had (it is not there) stands as it is given.
// Looks at the file system; Windows: `workspace` is UTF-8.
[[nodiscard]] std::string canonical_workspace(const std::string& workspace);

// Whether a receipt of `recorded` is one of `named`, whose workspace is canonical already in
// `canonical`: harness and session to the letter, workspaces as given or canonicalised.
[[nodiscard]] bool is_same_source(const ReceiptSource& recorded, const ReceiptSource& named,
                                  std::string_view canonical);

}  // namespace rollcall::receipts
