#include <cstddef>
#include <cstdint>

#include <windows.h>

#include <fmt/format.h>

#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_high(wchar_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(wchar_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

// Appends UTF-8; returns the position of the first unpaired half, or npos.
std::size_t convert(std::wstring_view utf16, std::string& out) {
  std::size_t bad = std::wstring_view::npos;
  out.reserve(utf16.size());
  for (std::size_t at = 0; at < utf16.size(); ++at) {
    const wchar_t unit = utf16[at];
    char32_t point = static_cast<char16_t>(unit);
    if (is_high(unit) && at + 1 < utf16.size() && is_low(utf16[at + 1])) {
      point = 0x10000 + ((point & 0x3FF) << 10 | (static_cast<char16_t>(utf16[++at]) & 0x3FF));
    } else if (is_high(unit) || is_low(unit)) {
      if (bad == std::wstring_view::npos) bad = at;
      point = kReplacement;
    }
    append_utf8(out, point);
  }
  return bad;
}

}  // namespace

Result<std::wstring> widen(std::string_view utf8) {
  std::wstring out;
  out.reserve(utf8.size());
  for (std::string_view rest = utf8; !rest.empty();) {
    const text::Decoded next = text::decode_utf8(rest);
    if (!next.valid) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("'{}' is not UTF-8 (byte {})", text::for_terminal(utf8),
                              utf8.size() - rest.size()));
    }
    rest.remove_prefix(next.size);
    if (next.point < 0x10000) {
      out.push_back(static_cast<wchar_t>(next.point));
    } else {
      out.push_back(static_cast<wchar_t>(0xD800 | (next.point - 0x10000) >> 10));
      out.push_back(static_cast<wchar_t>(0xDC00 | (next.point & 0x3FF)));
    }
  }
  return out;
}

Result<std::string> narrow(std::wstring_view utf16) {
  std::string out;
  const std::size_t bad = convert(utf16, out);
  if (bad == std::wstring_view::npos) return out;
  return fail(ErrorCode::kInvalid, fmt::format("'{}' is not UTF-16 (unit {} is half of a pair)",
                                               text::for_terminal(out), bad));
}

std::string narrow_lossy(std::wstring_view utf16) {
  std::string out;
  static_cast<void>(convert(utf16, out));
  return out;
}

std::string error_text(unsigned long code) {
  wchar_t buffer[512];
  const DWORD size = ::FormatMessageW(
      FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
      nullptr, code, 0, buffer, static_cast<DWORD>(std::size(buffer)), nullptr);
  std::string sentence = narrow_lossy({buffer, size});
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) {
    sentence.pop_back();
  }
  if (sentence.empty()) return fmt::format("error {}", code);
  return fmt::format("{} (error {})", sentence, code);
}

}  // namespace rollcall::core
