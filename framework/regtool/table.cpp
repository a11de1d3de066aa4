#include "regtool/table.hpp"

#include <algorithm>
#include <string_view>

namespace rollcall::regtool {
namespace {

std::string_view colour_code(Colour colour) {
  switch (colour) {
    case Colour::kGood:
      return "\x1b[32m";
    case Colour::kWarn:
      return "\x1b[33m";
    case Colour::kBad:
      return "\x1b[31m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kNone:
      break;
  }
  return {};
}

struct Shown {
  std::string text;
  std::size_t width = 0;
  Colour colour = Colour::kNone;
};

Shown show(const Cell& cell, const TableStyle& style) {
  Shown shown{.text = text::for_terminal(cell.text, style.charset), .colour = cell.colour};
  shown.width = text::display_width(shown.text);
  if (style.widest_cell > 0 && shown.width > style.widest_cell) {
    shown.text = text::cut_to_width(shown.text, style.widest_cell);
    shown.width = text::display_width(shown.text);
  }
  return shown;
}

void append_row(std::string& out, const std::vector<Shown>& row,
                const std::vector<std::size_t>& widths, bool colour) {
  std::size_t owed = 0;  // blanks that are written only when something follows
  for (std::size_t column = 0; column < row.size(); ++column) {
    const Shown& cell = row[column];
    if (!cell.text.empty()) {
      out.append(owed, ' ');
      owed = 0;
      const std::string_view code = colour ? colour_code(cell.colour) : std::string_view();
      out.append(code).append(cell.text).append(code.empty() ? "" : "\x1b[0m");
    }
    owed += widths[column] - cell.width + 2;
  }
  out += '\n';
}

}  // namespace

std::string render_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<Cell>>& rows, const TableStyle& style) {
  std::vector<std::vector<Shown>> shown;
  shown.reserve(rows.size() + 1);
  auto& first = shown.emplace_back();
  for (const std::string& name : header) first.push_back(show({.text = name}, style));
  for (const auto& row : rows) {
    auto& line = shown.emplace_back();
    for (std::size_t column = 0; column < header.size(); ++column) {
      line.push_back(column < row.size() ? show(row[column], style) : Shown{});
    }
  }
  std::vector<std::size_t> widths(header.size(), 0);
  for (const auto& row : shown) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].width);
    }
  }
  std::string out;
  for (const auto& row : shown) append_row(out, row, widths, style.colour);
  return out;
}

}  // namespace rollcall::regtool
