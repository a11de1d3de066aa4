#include "registry/json_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <set>

#include "core/text.hpp"
#include "registry/json_events.hpp"

namespace rollcall::registry {
namespace {

tl::unexpected<RecordError> refuse(RecordProblem problem, std::string text) {
  return tl::unexpected<RecordError>(RecordError{problem, std::move(text)});
}

// Eight bytes at a time: nearly every record is ASCII.
bool is_ascii(std::string_view bytes) {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  std::uint64_t seen = 0;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    seen |= word;
  }
  for (; at < bytes.size(); ++at) seen |= static_cast<unsigned char>(bytes[at]);
  return (seen & kHighBits) == 0;
}

bool looks_like_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  return bytes.size() >= 2 && (bytes[0] == '\0') != (bytes[1] == '\0') &&
         (bytes[0] == '{' || bytes[1] == '{');
}

// Splits the top-level object into raw members.
class Splitter final : public JsonEvents<Splitter> {
 public:
  std::vector<RawMember> members;
  bool is_object = false;

  bool on_key(std::string_view key) {
    if (holds_lone_surrogate(key)) return false;
    if (copy_.active()) {
      copy_.key(key);
      return true;
    }
    if (!seen_.emplace(key).second) return false;
    members.emplace_back(std::string(key), std::string());
    return true;
  }
  bool on_scalar(JsonKind kind, std::string_view text) {
    if (depth() == 0 || holds_lone_surrogate(text)) return false;
    copy_.scalar(kind, text);
    if (!copy_.active()) finish();
    return true;
  }
  bool on_begin(JsonKind kind) {
    if (depth() == 1) {
      is_object = kind == JsonKind::kObject;
      return is_object;
    }
    copy_.begin(kind);
    return true;
  }
  bool on_end(JsonKind kind) {
    if (depth() == 0) return true;
    copy_.end(kind);
    if (!copy_.active()) finish();
    return true;
  }

 private:
  void finish() {
    members.back().second = copy_.text();
    copy_.clear();
  }
  JsonCopy copy_;
  std::set<std::string, std::less<>> seen_;
};

// Splits the top-level array into raw elements.
class ArraySplitter final : public JsonEvents<ArraySplitter> {
 public:
  std::vector<std::string> elements;
  bool is_array = false;

  bool on_key(std::string_view key) {
    copy_.key(key);
    return !holds_lone_surrogate(key);
  }
  bool on_scalar(JsonKind kind, std::string_view text) {
    if (depth() == 0 || holds_lone_surrogate(text)) return false;
    copy_.scalar(kind, text);
    if (!copy_.active()) finish();
    return true;
  }
  bool on_begin(JsonKind kind) {
    if (depth() == 1) return is_array = kind == JsonKind::kArray;
    copy_.begin(kind);
    return true;
  }
  bool on_end(JsonKind kind) {
    if (depth() == 0) return true;
    copy_.end(kind);
    if (!copy_.active()) finish();
    return true;
  }

 private:
  void finish() {
    elements.emplace_back(copy_.text());
    copy_.clear();
  }
  JsonCopy copy_;
};

class OneString final : public JsonEvents<OneString> {
 public:
  std::string value;
  bool on_key(std::string_view) { return false; }
  bool on_begin(JsonKind) { return false; }
  bool on_end(JsonKind) { return false; }
  bool on_scalar(JsonKind kind, std::string_view text) {
    value = text;
    return kind == JsonKind::kString;
  }
};

template <class Handler>
bool read_json(std::string_view json, Handler& handler) {
  if (json.find('\0') != std::string_view::npos) return false;
  rapidjson::MemoryStream stream(json.data(), json.size());
  rapidjson::Reader reader;
  return !reader.Parse<kJsonFlags>(stream, handler).IsError();
}

}  // namespace

tl::expected<std::string_view, RecordError> admit_json(std::string_view bytes,
                                                       std::size_t max_bytes) {
  if (bytes.size() > max_bytes) {
    return refuse(RecordProblem::kInvalid,
                  "it is larger than " + std::to_string(max_bytes) + " bytes");
  }
  if (looks_like_utf16(bytes)) {
    return refuse(RecordProblem::kInvalid, "it is UTF-16, not UTF-8");
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return refuse(RecordProblem::kTorn, "it is empty");
  }
  if (std::memchr(bytes.data(), 0, bytes.size()) != nullptr) {
    return refuse(RecordProblem::kTorn, bytes.find_first_not_of('\0') == std::string_view::npos
                                            ? "it holds nothing but zero bytes"
                                            : "it holds zero bytes");
  }
  if (!is_ascii(bytes) && !text::is_utf8(bytes)) {
    return refuse(RecordProblem::kInvalid, "it is not UTF-8");
  }
  return bytes;
}

bool holds_lone_surrogate(std::string_view decoded) {
  // A surrogate as bytes is ED A0..BF xx; ED begins good characters too.
  for (std::size_t at = decoded.find('\xED'); at != std::string_view::npos;
       at = decoded.find('\xED', at + 1)) {
    if (at + 1 < decoded.size() && static_cast<unsigned char>(decoded[at + 1]) >= 0xA0) return true;
  }
  return false;
}

std::optional<std::uint64_t> plain_decimal(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

SchemaRule judge_schema(std::string_view schema, std::string_view ours) {
  if (schema == ours) return SchemaRule::kOurs;
  const std::string_view prefix = ours.substr(0, ours.rfind('/') + 1);
  if (!schema.starts_with(prefix)) return SchemaRule::kForeign;
  const std::string_view number = schema.substr(prefix.size());
  if (number.empty() || number.front() == '0' ||
      number.find_first_not_of("0123456789") != std::string_view::npos) {
    return SchemaRule::kForeign;
  }
  return SchemaRule::kNewer;
}

Result<std::vector<RawMember>> split_object(std::string_view json) {
  Splitter splitter;
  if (!read_json(json, splitter) || !splitter.is_object) {
    return fail(ErrorCode::kInvalid, "it is not one JSON object with each key once");
  }
  return std::move(splitter.members);
}

Result<std::vector<std::string>> split_array(std::string_view json) {
  ArraySplitter splitter;
  if (!read_json(json, splitter) || !splitter.is_array) {
    return fail(ErrorCode::kInvalid, "it is not a JSON array");
  }
  return std::move(splitter.elements);
}

std::string json_string(std::string_view text) {
  JsonCopy copy;
  copy.scalar(JsonKind::kString, text);
  return std::string(copy.text());
}

Result<std::string> string_value(std::string_view json) {
  OneString handler;
  if (!read_json(json, handler)) return fail(ErrorCode::kInvalid, "it is not a JSON string");
  return std::move(handler.value);
}

}  // namespace rollcall::registry
