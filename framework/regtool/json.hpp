// Writes one JSON document, strict UTF-8 whatever the bytes; control characters, bidirectional ones
// and those that show as nothing are escaped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rollcall::regtool {

// Calls nest as JSON does; a call out of place is a programmer's error. Threads: one.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  // Bytes that are not UTF-8 become the visible text \xNN.
  JsonWriter& text(std::string_view bytes);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  // A key and its value.
  JsonWriter& text(std::string_view name, std::string_view bytes) { return key(name).text(bytes); }
  JsonWriter& integer(std::string_view name, std::int64_t value) {
    return key(name).integer(value);
  }
  JsonWriter& boolean(std::string_view name, bool value) { return key(name).boolean(value); }
  JsonWriter& null(std::string_view name) { return key(name).null(); }
  JsonWriter& text_or_null(std::string_view name, const std::optional<std::string>& bytes) {
    return bytes ? text(name, *bytes) : null(name);
  }
  // null where `bytes` is empty.
  JsonWriter& reason(std::string_view name, std::string_view bytes) {
    return bytes.empty() ? null(name) : text(name, bytes);
  }

  // The document with a newline at its end; the writer is empty afterwards.
  [[nodiscard]] std::string take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::regtool
