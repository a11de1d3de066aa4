// Columns of text that hold whatever the cells contain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/text.hpp"

namespace rollcall::regtool {

enum class Colour : std::uint8_t { kNone, kGood, kWarn, kBad, kDim };

struct Cell {
  std::string text;  // bytes from anywhere: escaped by the table
  Colour colour = Colour::kNone;
};

struct TableStyle {
  text::Charset charset = text::Charset::kUtf8;
  bool colour = false;
  std::size_t widest_cell = 60;  // 0: cells are never cut
};

// Rows under a header, columns two blanks apart, no blanks at the end of a line. Every line ends
// in a newline, and holds no other control byte but those of the colours. A row shorter than the
// header is filled up with empty cells.
[[nodiscard]] std::string render_table(const std::vector<std::string>& header,
                                       const std::vector<std::vector<Cell>>& rows,
                                       const TableStyle& style);

}  // namespace rollcall::regtool
