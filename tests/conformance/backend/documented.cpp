#include "documented.hpp"

#include <sstream>

namespace rollcall::conformance {
namespace {

std::string trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \r") - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(trim(cell));
  if (!cells.empty() && cells.back().empty()) cells.pop_back();
  return cells;
}

std::string word_of(const std::string& cell) {
  for (const char* word : {"yes", "no"}) {
    const std::string text = word;
    if (cell == text || cell.rfind(text + " ", 0) == 0 || cell.rfind(text + ":", 0) == 0) {
      return text;
    }
  }
  return cell;
}

}  // namespace

std::vector<DocumentedRow> documented_rows(std::string_view markdown) {
  std::vector<DocumentedRow> rows;
  std::vector<std::string> heading;
  std::istringstream in{std::string(markdown)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '|') {
      heading.clear();
      continue;
    }
    const auto cells = cells_of(line);
    if (heading.empty()) {
      heading = cells;
      continue;
    }
    if (heading[0] != "Behaviour" || cells.empty() || cells[0].rfind("--", 0) == 0) continue;
    DocumentedRow row{.sentence = cells[0], .cells = {}};
    for (std::size_t i = 1; i < cells.size() && i < heading.size(); ++i) {
      row.cells[heading[i]] = word_of(cells[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rollcall::conformance
