#include "plugin/check_child.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rollcall::loader {
namespace {

constexpr std::string_view kReportStart = "{\"schema\":\"rollcall.plugin-check/1\"";
constexpr std::string_view kProgress = "\nrollcall-check-at: ";

// Up to the line's end, which a child may write with a carriage return.
std::string_view line_at(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

void append_bounded(std::string& into, std::string_view bytes, std::size_t limit) {
  into.append(bytes.substr(0, limit - std::min(limit, into.size())));
}

std::optional<CheckReport> report_in(std::string_view output) {
  const std::size_t at = output.rfind(kReportStart);
  if (at == output.npos) return std::nullopt;
  auto report = parse_check_report(line_at(output, at));
  if (!report) return std::nullopt;
  return std::move(*report);
}

std::string last_progress(std::string_view output) {
  const std::size_t at = output.rfind(kProgress);
  if (at == output.npos) return "before anything of it was tried";
  return fmt::format("while this was tried: \"{}\"", line_at(output, at + kProgress.size()));
}

bool was_loading(std::string_view output) {
  return last_progress(output).find("\"load:") != std::string::npos;
}

std::string first_words(std::string_view noise) {
  const std::string_view line = line_at(noise, 0).substr(0, 300);
  return line.empty() ? std::string() : fmt::format(" (it said: {})", line);
}

std::string hung_ending(std::string_view output, std::int64_t limit_ns) {
  return fmt::format(
      "it hung and was killed after {} s, {}{}", limit_ns / 1'000'000'000, last_progress(output),
      was_loading(output) ? ": a static constructor or its init does not return" : "");
}

std::string exit_ending(std::string_view output, std::string_view noise, int code) {
  return fmt::format(
      "it ended the process with exit code {}, {}{}{}", code, last_progress(output),
      was_loading(output) ? ": a static constructor called exit()" : ": it called exit()",
      first_words(noise));
}

}  // namespace rollcall::loader
