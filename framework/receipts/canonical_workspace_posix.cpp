#include <filesystem>
#include <system_error>

#include "receipts/receipt_rules.hpp"

namespace rollcall::receipts {

std::string canonical_workspace(const std::string& workspace) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(workspace, error);
  return error ? workspace : canonical.string();
}

}  // namespace rollcall::receipts
