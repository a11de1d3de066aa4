#include "regtool/json.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cassert>

#include "core/text.hpp"

namespace rollcall::regtool {

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
  std::string out =
      rollcall::text::json_for_terminal({impl_->buffer.GetString(), impl_->buffer.GetSize()});
  out += '\n';
  impl_ = std::make_unique<Impl>();
  return out;
}

}  // namespace rollcall::regtool
