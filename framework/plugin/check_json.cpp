#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <optional>

#include "core/text.hpp"
#include "plugin/check.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kSchema = "rollcall.plugin-check/1";
constexpr std::size_t kMaxReportBytes = 1U << 20;
constexpr std::string_view kProgress = "rollcall-check-at: ";

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// Whatever bytes a plugin's texts hold, the document is strict UTF-8.
void put_text(Writer& writer, std::string_view text) {
  const std::string clean = text::to_utf8(text);
  writer.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
}

void put(Writer& writer, const char* key, std::string_view text) {
  writer.Key(key);
  put_text(writer, text);
}

std::string text_of(const rapidjson::Value& object, const char* key) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return std::string(found->value.GetString(), found->value.GetStringLength());
}

std::optional<CheckOutcome> outcome_of(std::string_view text) {
  for (const CheckOutcome outcome :
       {CheckOutcome::kPassed, CheckOutcome::kFailed, CheckOutcome::kSkipped}) {
    if (to_text(outcome) == text) return outcome;
  }
  return std::nullopt;
}

tl::unexpected<Error> no_report(const char* why) {
  return fail(ErrorCode::kCorrupt, fmt::format("that is no report of a check: {}", why));
}

}  // namespace

std::string check_progress_line(std::string_view rule) {
  return fmt::format("\n{}{}\n", kProgress, rule);
}

std::string to_json(const CheckReport& report) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  put(writer, "schema", kSchema);
  put(writer, "file", report.file);
  put(writer, "id", report.id);
  put(writer, "version", report.version);
  put(writer, "abi", report.abi);
  writer.Key("interfaces");
  writer.StartArray();
  for (const std::string& interface : report.interfaces) put_text(writer, interface);
  writer.EndArray();
  writer.Key("passed");
  writer.Bool(report.passed());
  writer.Key("steps");
  writer.StartArray();
  for (const CheckStep& step : report.steps) {
    writer.StartObject();
    put(writer, "rule", step.rule);
    put(writer, "outcome", to_text(step.outcome));
    put(writer, "text", step.text);
    writer.EndObject();
  }
  writer.EndArray();
  put(writer, "ending", report.ending);
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

Result<CheckReport> parse_check_report(std::string_view json) {
  if (json.size() > kMaxReportBytes) return no_report("it is too large");
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(
      json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return no_report("it is no JSON object");
  if (text_of(document, "schema") != kSchema) return no_report("it has another schema");
  CheckReport report;
  report.file = text_of(document, "file");
  report.id = text_of(document, "id");
  report.version = text_of(document, "version");
  report.abi = text_of(document, "abi");
  report.ending = text_of(document, "ending");
  const auto interfaces = document.FindMember("interfaces");
  const auto steps = document.FindMember("steps");
  if (interfaces == document.MemberEnd() || !interfaces->value.IsArray() ||
      steps == document.MemberEnd() || !steps->value.IsArray()) {
    return no_report("a list is missing");
  }
  for (const auto& item : interfaces->value.GetArray()) {
    if (item.IsString()) report.interfaces.emplace_back(item.GetString(), item.GetStringLength());
  }
  for (const auto& item : steps->value.GetArray()) {
    if (!item.IsObject()) return no_report("a step is no object");
    const auto outcome = outcome_of(text_of(item, "outcome"));
    if (!outcome) return no_report("a step has no outcome");
    report.steps.push_back(
        {.rule = text_of(item, "rule"), .outcome = *outcome, .text = text_of(item, "text")});
  }
  return report;
}

}  // namespace rollcall
