// What the JSON readers of this folder share: bounds, and handlers for RapidJSON's event reader.
// For .cpp files only: RapidJSON stays out of headers that others include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace rollcall::registry {

// Objects and arrays within each other. The reader recurses once a level and never deeper: a
// handler ends it at this bound.
inline constexpr int kMaxJsonDepth = 32;

// Numbers come as the text that they are written in: nothing is rounded, and `4242.0` is told from
// `4242`.
inline constexpr unsigned kJsonFlags = rapidjson::kParseNumbersAsStringsFlag;

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

enum class JsonKind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kObject, kArray };

// Turns RapidJSON's events into five: key, scalar, begin, end, and a bound on depth. `Handler` is
// the derived class and has
//   bool on_key(std::string_view key);
//   bool on_scalar(JsonKind kind, std::string_view text);   // the text of a number or string
//   bool on_begin(JsonKind kind);                           // depth() is that of its members
//   bool on_end(JsonKind kind);                             // depth() is that of its parent
// each of which returns false to end the reading.
template <class Handler>
class JsonEvents {
 public:
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] bool too_deep() const { return too_deep_; }

  bool Null() { return self().on_scalar(JsonKind::kNull, "null"); }
  bool Bool(bool value) {
    return value ? self().on_scalar(JsonKind::kTrue, "true")
                 : self().on_scalar(JsonKind::kFalse, "false");
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return self().on_scalar(JsonKind::kNumber, {text, size});
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return self().on_scalar(JsonKind::kString, {text, size});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return self().on_key({text, size}); }
  bool StartObject() { return begin(JsonKind::kObject); }
  bool StartArray() { return begin(JsonKind::kArray); }
  bool EndObject(rapidjson::SizeType) { return end(JsonKind::kObject); }
  bool EndArray(rapidjson::SizeType) { return end(JsonKind::kArray); }
  // Not called: numbers come by RawNumber.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  Handler& self() { return static_cast<Handler&>(*this); }
  bool begin(JsonKind kind) {
    if (depth_ == kMaxJsonDepth) {
      too_deep_ = true;
      return false;
    }
    ++depth_;
    return self().on_begin(kind);
  }
  bool end(JsonKind kind) {
    --depth_;
    return self().on_end(kind);
  }

  int depth_ = 0;
  bool too_deep_ = false;
};

// Copies the value whose events it is handed, whatever it is.
class JsonCopy {
 public:
  [[nodiscard]] bool active() const { return open_ > 0; }
  void key(std::string_view text) { writer_.Key(text.data(), size(text)); }
  void scalar(JsonKind kind, std::string_view text) {
    if (kind == JsonKind::kString) {
      writer_.String(text.data(), size(text));
    } else {
      writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
    }
  }
  void begin(JsonKind kind) {
    ++open_;
    kind == JsonKind::kObject ? writer_.StartObject() : writer_.StartArray();
  }
  void end(JsonKind kind) {
    --open_;
    kind == JsonKind::kObject ? writer_.EndObject() : writer_.EndArray();
  }
  [[nodiscard]] std::string_view text() const { return {buffer_.GetString(), buffer_.GetSize()}; }
  void clear() {
    buffer_.Clear();
    writer_.Reset(buffer_);
    open_ = 0;
  }

 private:
  static rapidjson::SizeType size(std::string_view text) {
    return static_cast<rapidjson::SizeType>(text.size());
  }
  rapidjson::StringBuffer buffer_;
  JsonWriter writer_{buffer_};
  int open_ = 0;
};

}  // namespace rollcall::registry
