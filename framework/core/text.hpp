// Text that came from elsewhere, made safe to show: on a terminal, in columns, in JSON.
//
// Names, paths, errors and remote answers are bytes that nobody vouches for. Nothing of them
// reaches a terminal or a JSON document but through these functions. All pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rollcall/export.hpp"

namespace rollcall::text {

// One code point, or one byte that begins none.
struct Decoded {
  char32_t point = 0;    // with `valid`
  std::size_t size = 1;  // bytes it took; 1 when not valid
  bool valid = false;
};

// Decodes the first code point of non-empty `bytes`, strictly: no overlong form, no surrogate,
// nothing above U+10FFFF (RFC 3629).
[[nodiscard]] Decoded decode_utf8(std::string_view bytes);

[[nodiscard]] bool is_utf8(std::string_view bytes);

// What a terminal is trusted with.
enum class Charset : std::uint8_t {
  kUtf8,
  kAscii,  // a locale that is not UTF-8: there, a byte above 0x7F may be a control code
};

// Escapes what could steer a terminal or deceive its reader: control codes (C0, DEL, C1), line and
// paragraph separators, bidirectional controls, characters that show as nothing, and bytes that
// are not UTF-8. A byte becomes \xNN, a code point \u{NNNN}. A backslash stays as it is: the result
// is for eyes, not for parsing. The result is one line of valid UTF-8 (or ASCII).
[[nodiscard]] std::string for_terminal(std::string_view bytes, Charset charset = Charset::kUtf8);

// Strict UTF-8: each byte that begins no code point becomes the four characters \xNN; all else is
// unchanged, control codes included (a JSON writer escapes those itself).
[[nodiscard]] std::string to_utf8(std::string_view bytes);

// A JSON document whose strings hold nothing raw that a terminal would obey or a reader be deceived
// by: DEL and what for_terminal() escapes become \uNNNN, so that its value stays what it was.
// `json` is a writer's: C0 controls are escaped already.
[[nodiscard]] std::string json_for_terminal(std::string_view json);

// Columns that `shown`, a result of for_terminal(), takes: 0 for combining marks, 2 for wide East
// Asian characters and emoji, else 1.
[[nodiscard]] std::size_t display_width(std::string_view shown);

// `shown` cut to at most `width` columns, at a code point, with "..." at its end where it was cut
// (and `width` is above 3).
[[nodiscard]] std::string cut_to_width(std::string_view shown, std::size_t width);

// `shown` with blanks behind it up to `width` columns; longer text is left as it is.
[[nodiscard]] std::string pad_to_width(std::string_view shown, std::size_t width);

}  // namespace rollcall::text
