#include "core/text.hpp"

#include <algorithm>
#include <iterator>

namespace rollcall::text {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

#include "core/text_tables.inc"

template <std::size_t N>
bool is_in(const Range (&table)[N], char32_t point) {
  const auto* after =
      std::upper_bound(std::begin(table), std::end(table), point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(table) && point <= std::prev(after)->last;
}

void append_hex(std::string& out, std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out += kDigits[(value >> shift) & 0xFU];
  }
}

void append_byte_escape(std::string& out, char byte) {
  out += "\\x";
  append_hex(out, static_cast<unsigned char>(byte), 2);
}

void append_point_escape(std::string& out, char32_t point) {
  if (point < 0x80) {  // one byte too
    append_byte_escape(out, static_cast<char>(point));
    return;
  }
  out += "\\u{";
  append_hex(out, static_cast<std::uint32_t>(point),
             point > 0xFFFFF ? 6 : (point > 0xFFFF ? 5 : 4));
  out += '}';
}

// RFC 8259, section 7: a pair of surrogates above U+FFFF.
void append_json_escape(std::string& out, char32_t point) {
  auto value = static_cast<std::uint32_t>(point);
  if (value > 0xFFFF) {
    value -= 0x10000;
    out += "\\u";
    append_hex(out, 0xD800U + (value >> 10U), 4);
    value = 0xDC00U + (value & 0x3FFU);
  }
  out += "\\u";
  append_hex(out, value, 4);
}

std::size_t point_width(char32_t point) {
  if (point < 0x300) return 1;
  if (is_in(kZeroWidth, point)) return 0;
  return is_in(kWide, point) ? 2 : 1;
}

bool is_plain_ascii(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x20 && value < 0x7F;
}

}  // namespace

Decoded decode_utf8(std::string_view bytes) {
  const auto at = [&](std::size_t index) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[index]));
  };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return {.point = lead, .size = 1, .valid = true};
  std::size_t size = 0;
  std::uint32_t lowest = 0;
  std::uint32_t point = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2, lowest = 0x80, point = lead & 0x1FU;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3, lowest = 0x800, point = lead & 0x0FU;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4, lowest = 0x10000, point = lead & 0x07U;
  }
  if (size == 0 || bytes.size() < size) return {};
  for (std::size_t index = 1; index < size; ++index) {
    if ((at(index) & 0xC0U) != 0x80) return {};
    point = (point << 6U) | (at(index) & 0x3FU);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < lowest || point > 0x10FFFF || surrogate) return {};
  return {.point = point, .size = size, .valid = true};
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Decoded next = decode_utf8(bytes);
    if (!next.valid) return false;
    bytes.remove_prefix(next.size);
  }
  return true;
}

std::string for_terminal(std::string_view bytes, Charset charset) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    if (is_plain_ascii(bytes.front())) {
      out += bytes.front();
      bytes.remove_prefix(1);
      continue;
    }
    const Decoded next = decode_utf8(bytes);
    if (!next.valid) {
      append_byte_escape(out, bytes.front());
    } else if (charset == Charset::kAscii || is_in(kHidden, next.point)) {
      append_point_escape(out, next.point);
    } else {
      out += bytes.substr(0, next.size);
    }
    bytes.remove_prefix(next.size);
  }
  return out;
}

std::string to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Decoded next = decode_utf8(bytes);
    if (next.valid) {
      out += bytes.substr(0, next.size);
    } else {
      append_byte_escape(out, bytes.front());
    }
    bytes.remove_prefix(next.size);
  }
  return out;
}

std::string json_for_terminal(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    if (static_cast<unsigned char>(json.front()) < 0x7F) {
      out += json.front();
      json.remove_prefix(1);
      continue;
    }
    const auto next = decode_utf8(json);
    const std::string_view bytes = json.substr(0, next.size);
    if (next.valid && for_terminal(bytes) != bytes) {
      append_json_escape(out, next.point);
    } else {
      out += bytes;
    }
    json.remove_prefix(next.size);
  }
  return out;
}

std::size_t display_width(std::string_view shown) {
  std::size_t width = 0;
  while (!shown.empty()) {
    const Decoded next = decode_utf8(shown);
    width += next.valid ? point_width(next.point) : 1;
    shown.remove_prefix(next.size);
  }
  return width;
}

std::string cut_to_width(std::string_view shown, std::size_t width) {
  if (display_width(shown) <= width) return std::string(shown);
  const std::string_view mark = width > 3 ? "..." : "";
  const std::size_t room = width - mark.size();
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < shown.size()) {
    const Decoded next = decode_utf8(shown.substr(bytes));
    const std::size_t columns = next.valid ? point_width(next.point) : 1;
    if (used + columns > room) break;
    used += columns;
    bytes += next.size;
  }
  return std::string(shown.substr(0, bytes)).append(mark);
}

std::string pad_to_width(std::string_view shown, std::size_t width) {
  std::string out(shown);
  const std::size_t used = display_width(shown);
  if (used < width) out.append(width - used, ' ');
  return out;
}

}  // namespace rollcall::text
