#include "regtool/json.hpp"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cassert>
#include <cstdint>

#include "core/text.hpp"

namespace rollcall::regtool {
namespace {

bool is_plain(char byte) { return static_cast<unsigned char>(byte) < 0x7F; }

// RFC 8259, section 7: a pair of surrogates above U+FFFF.
void append_escape(std::string& out, char32_t point) {
  auto value = static_cast<std::uint32_t>(point);
  if (value > 0xFFFF) {
    value -= 0x10000;
    out += fmt::format("\\u{:04x}", 0xD800U + (value >> 10U));
    value = 0xDC00U + (value & 0x3FFU);
  }
  out += fmt::format("\\u{:04x}", value);
}

// Escapes what a terminal would obey or a reader be deceived by. In a document such characters
// stand within strings only, so that its value stays what it was.
std::string without_controls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    if (is_plain(json.front())) {
      out += json.front();
      json.remove_prefix(1);
      continue;
    }
    const auto next = text::decode_utf8(json);
    const std::string_view bytes = json.substr(0, next.size);
    if (next.valid && text::for_terminal(bytes) != bytes) {
      append_escape(out, next.point);
    } else {
      out += bytes;
    }
    json.remove_prefix(next.size);
  }
  return out;
}

}  // namespace

struct JsonWriter::Impl {
  // Validation is on, although text() repairs first: a second lock on the same door.
  using Writer = rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                                   rapidjson::CrtAllocator, rapidjson::kWriteValidateEncodingFlag>;
  rapidjson::StringBuffer buffer;
  Writer writer{buffer};
};

JsonWriter::JsonWriter() : impl_(std::make_unique<Impl>()) {}
JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::begin_object() {
  impl_->writer.StartObject();
  return *this;
}
JsonWriter& JsonWriter::end_object() {
  impl_->writer.EndObject();
  return *this;
}
JsonWriter& JsonWriter::begin_array() {
  impl_->writer.StartArray();
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  impl_->writer.EndArray();
  return *this;
}
JsonWriter& JsonWriter::key(std::string_view name) {
  const std::string safe = rollcall::text::to_utf8(name);
  impl_->writer.Key(safe.data(), static_cast<rapidjson::SizeType>(safe.size()));
  return *this;
}
JsonWriter& JsonWriter::text(std::string_view bytes) {
  const std::string safe = rollcall::text::to_utf8(bytes);
  const bool written =
      impl_->writer.String(safe.data(), static_cast<rapidjson::SizeType>(safe.size()));
  assert(written);
  static_cast<void>(written);
  return *this;
}
JsonWriter& JsonWriter::integer(std::int64_t value) {
  impl_->writer.Int64(value);
  return *this;
}
JsonWriter& JsonWriter::boolean(bool value) {
  impl_->writer.Bool(value);
  return *this;
}
JsonWriter& JsonWriter::null() {
  impl_->writer.Null();
  return *this;
}

std::string JsonWriter::take() {
  assert(impl_->writer.IsComplete());
  std::string out = without_controls({impl_->buffer.GetString(), impl_->buffer.GetSize()});
  out += '\n';
  impl_ = std::make_unique<Impl>();
  return out;
}

}  // namespace rollcall::regtool
