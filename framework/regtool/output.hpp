// Where a command's words go: results to standard output in one write, all else to standard error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "regtool/failure.hpp"
#include "regtool/table.hpp"

namespace rollcall::regtool {

class JsonWriter;

struct OutputStyle {
  bool json = false;
  bool quiet = false;
  int log_level = 1;  // 0 errors, 1 warnings, 2 information, 3 debugging
  bool colour_out = false;
  bool progress = false;  // standard error is a terminal and may be drawn on
  text::Charset charset = text::Charset::kUtf8;
};

// Threads: one, but for log(), which any may call.
class Output {
 public:
  explicit Output(OutputStyle style) : style_(style) {}

  [[nodiscard]] const OutputStyle& style() const { return style_; }
  [[nodiscard]] bool json() const { return style_.json; }

  // Buffers a line of the result; `bytes` are escaped.
  void line(std::string_view bytes);
  // Buffers what is safe to show already: a table, a document.
  void raw(std::string_view shown) { out_ += shown; }
  void table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
             bool cut = true);
  void document(JsonWriter& json);

  // A line on standard error at once: "regtool: ...". Notices are dropped by --quiet.
  void notice(std::string_view bytes) const;
  void warning(std::string_view bytes) const;
  void error(std::string_view bytes) const;
  void log(int level, std::string_view bytes) const;

  // A failure: a document on standard output under --json, and a sentence on standard error.
  // Whatever was buffered is dropped.
  void failure(const Failure& failure);

  // Writes the buffer. Errors: kIo.
  [[nodiscard]] Status flush();

 private:
  void say(std::string_view prefix, std::string_view bytes) const;

  OutputStyle style_;
  std::string out_;
};

// A line on the terminal's standard error that is drawn over and wiped at the end; nothing where
// standard error is no terminal. It appears only if the work takes longer than half a second.
class Progress {
 public:
  // `text`: plain ASCII of our own.
  Progress(const Output& output, std::string_view text);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::regtool
