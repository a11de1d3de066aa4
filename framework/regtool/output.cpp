#include "regtool/output.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "regtool/json.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool {

void Output::line(std::string_view bytes) {
  out_ += text::for_terminal(bytes, style_.charset);
  out_ += '\n';
}

void Output::table(const std::vector<std::string>& header,
                   const std::vector<std::vector<Cell>>& rows, bool cut) {
  TableStyle style{.charset = style_.charset, .colour = style_.colour_out};
  if (!cut) style.widest_cell = 0;
  out_ += render_table(header, rows, style);
}

void Output::document(JsonWriter& json) { out_ += json.take(); }

void Output::say(std::string_view prefix, std::string_view bytes) const {
  std::string line(prefix);
  line += text::for_terminal(bytes, style_.charset);
  line += '\n';
  // Nothing can be said about standard error where standard error fails.
  (void)platform::write_all(platform::Stream::kError, line);
}

void Output::notice(std::string_view bytes) const {
  if (!style_.quiet) say("", bytes);
}
void Output::warning(std::string_view bytes) const {
  if (!style_.quiet && style_.log_level >= 1) say("regtool: warning: ", bytes);
}
void Output::error(std::string_view bytes) const { say("regtool: ", bytes); }

void Output::log(int level, std::string_view bytes) const {
  if (level > style_.log_level || (style_.quiet && level > 0)) return;
  constexpr std::string_view kPrefixes[] = {
      "regtool: error: ", "regtool: warning: ", "regtool: info: ", "regtool: debug: "};
  say(kPrefixes[level < 0 ? 0 : (level > 3 ? 3 : level)], bytes);
}

void Output::failure(const Failure& failure) {
  out_.clear();
  if (style_.json) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.error/1").key("error").begin_object();
    json.text("code", failure.code).text("text", failure.text);
    json.reason("object", failure.object).end_object().end_object();
    document(json);
  }
  error(failure.text);
}

Status Output::flush() {
  const std::string bytes = std::exchange(out_, {});
  return platform::write_all(platform::Stream::kOutput, bytes);
}

class Progress::Impl {
 public:
  explicit Impl(std::string_view text) : text_(text), thread_([this] { draw(); }) {}
  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

 private:
  void draw() {
    std::unique_lock lock(mutex_);
    const auto begun = std::chrono::steady_clock::now();
    auto next = begun + std::chrono::milliseconds(500);
    bool drawn = false;
    while (!changed_.wait_until(lock, next, [this] { return done_; })) {
      const auto spent = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - begun);
      const std::string line = fmt::format("\r{} ({} s) \x1b[K", text_, spent.count());
      (void)platform::write_all(platform::Stream::kError, line);
      drawn = true;
      next += std::chrono::seconds(1);
    }
    if (drawn) (void)platform::write_all(platform::Stream::kError, "\r\x1b[K");
  }

  std::string text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

Progress::Progress(const Output& output, std::string_view text) {
  if (output.style().progress && !output.style().quiet) impl_ = std::make_unique<Impl>(text);
}
Progress::~Progress() = default;

}  // namespace rollcall::regtool
