// What regtool wrote, read strictly.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text.hpp"

namespace rollcall::regtool {

// Strict: one document, UTF-8, nothing behind it but one newline.
inline rapidjson::Document parse_json(const std::string& bytes) {
  rapidjson::Document document;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  EXPECT_TRUE(text::is_utf8(bytes));
  EXPECT_TRUE(!bytes.empty() && bytes.back() == '\n') << "'" << bytes << "'";
  document.Parse<kFlags>(bytes.data(), bytes.size());
  EXPECT_FALSE(document.HasParseError())
      << rapidjson::GetParseError_En(document.GetParseError()) << ": " << bytes;
  EXPECT_TRUE(document.IsObject()) << bytes;
  if (!document.IsObject()) document.SetObject();
  return document;
}

// A member, or a null value where there is none; `path` is "a.b.0.c".
inline const rapidjson::Value& at(const rapidjson::Value& value, std::string_view path) {
  static const rapidjson::Value kNone;
  const rapidjson::Value* here = &value;
  while (!path.empty()) {
    const std::string part(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (here->IsArray()) {
      const auto index = static_cast<rapidjson::SizeType>(std::stoul(part));
      if (index >= here->Size()) return kNone;
      here = &(*here)[index];
    } else if (here->IsObject() && here->HasMember(part.c_str())) {
      here = &(*here)[part.c_str()];
    } else {
      return kNone;
    }
  }
  return *here;
}
inline std::string string_at(const rapidjson::Value& value, std::string_view path) {
  const auto& found = at(value, path);
  return found.IsString() ? std::string(found.GetString(), found.GetStringLength()) : "(none)";
}
inline std::int64_t number_at(const rapidjson::Value& value, std::string_view path) {
  const auto& found = at(value, path);
  return found.IsInt64() ? found.GetInt64() : -1;
}

// Every byte of text for people: no control code but the newline, and strict UTF-8.
inline void expect_clean(const std::string& bytes) {
  EXPECT_TRUE(text::is_utf8(bytes)) << bytes;
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto next = text::decode_utf8(rest);
    if (next.valid && next.point != U'\n') {
      EXPECT_FALSE(next.point < 0x20 || (next.point >= 0x7F && next.point < 0xA0))
          << "control code " << static_cast<unsigned>(next.point);
      EXPECT_FALSE((next.point >= 0x202A && next.point <= 0x202E) ||
                   (next.point >= 0x2066 && next.point <= 0x2069))
          << "bidirectional control";
    }
    rest.remove_prefix(next.size);
  }
}

}  // namespace rollcall::regtool
