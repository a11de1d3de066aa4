// The table of behaviours in docs/platforms.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::conformance {

// One row: what its cells begin with, "yes" or "no", by platform. What stands behind that word in a
// cell is free.
struct DocumentedRow {
  std::string sentence;
  std::map<std::string, std::string> cells;
};

// The rows of the table whose heading begins with "Behaviour", in order. A cell that begins with
// neither word is kept whole, so that it agrees with nothing.
[[nodiscard]] std::vector<DocumentedRow> documented_rows(std::string_view markdown);

}  // namespace rollcall::conformance
