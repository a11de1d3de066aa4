#include "plugin/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/check_suite.hpp"
#include "plugin/file_path.hpp"
#include "plugin/load.hpp"
#include "plugin/shared_library.hpp"
#include "plugin/watched.hpp"

namespace rollcall {
namespace loader {

RawInstance::RawInstance(const InstanceSlots& slots, const Settings& settings) : slots_(slots) {
  std::vector<rollcall_setting> raw;
  for (const auto& [key, value] : settings) {
    raw.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  }
  error_.struct_size = sizeof(error_);
  code_ = slots_.create(raw.data(), raw.size(), &self_, &error_);
}

RawInstance::~RawInstance() {
  if (made()) slots_.destroy(self_);
}

std::string RawInstance::problem() const {
  if (code_ != ROLLCALL_OK) return fmt::format("create gave {}: {}", code_, error_text(error_));
  return "create gave no instance";
}

rollcall_call call_bounds(std::int64_t within_ns, bool cancelled) {
  rollcall_call call = {.struct_size = sizeof(rollcall_call),
                        .deadline_ns = steady_now_ns() + within_ns};
  if (cancelled) call.cancelled = [](void*) -> std::uint32_t { return 1; };
  return call;
}

bool is_status(std::int32_t code) { return code <= ROLLCALL_OK && code >= ROLLCALL_E_INCOMPATIBLE; }

namespace {

constexpr std::string_view kFileRule = "file: it, its manifest and their folders can be trusted";
constexpr std::string_view kManifestRule = "manifest: is valid and for this host";
constexpr std::string_view kSymbolRule = "file: exports rollcall_plugin_v1 and nothing else";
constexpr std::string_view kLoadRule =
    "load: every symbol is found, the constructors return, versions meet, init succeeds";
constexpr std::string_view kUnloadRule = "unload: deinit returns";

std::string absolute(const std::string& file) {
  if (is_absolute_path(file)) return file;
  const std::string folder = folder_of(file);
  return join_path(canonical_folder(folder.empty() ? "." : folder), leaf_of(file));
}

// The candidate, with everything that its files alone can be found wanting in.
Candidate check_files(const std::string& file, const CheckOptions& options, Steps& steps) {
  const auto own = builtin_folders(read_surroundings());
  steps.begin(kFileRule);
  Candidate strict = read_candidate(file, own, false);
  Candidate loose = read_candidate(file, own, true);
  if (!loose.opened) {
    steps.fail(kFileRule, loose.info.reason);
    steps.skip(kManifestRule, "library and manifest are not both there to be read");
    return loose;
  }
  // What is wrong under the loose rules too has nothing to do with trust.
  if (!strict.manifest && strict.info.reason != loose.info.reason) {
    options.accept_untrusted ? steps.skip(kFileRule, strict.info.reason)
                             : steps.fail(kFileRule, strict.info.reason);
  } else {
    steps.pass(kFileRule);
  }
  steps.expect(loose.manifest.has_value(), kManifestRule, loose.info.reason);
  return options.accept_untrusted ? loose : strict;
}

void check_symbols(const std::string& file, Steps& steps) {
  steps.begin(kSymbolRule);
  const auto names = exported_symbols(file);
  if (!names) {
    steps.fail(kSymbolRule, names.error().message);
  } else if (*names == std::vector<std::string>{ROLLCALL_ENTRY_SYMBOL}) {
    steps.pass(kSymbolRule);
  } else {
    const std::size_t shown = std::min<std::size_t>(names->size(), 5);
    steps.fail(kSymbolRule, fmt::format("it exports {} symbols: {}{}", names->size(),
                                        fmt::join(names->begin(),
                                                  names->begin() + static_cast<long>(shown), ", "),
                                        shown < names->size() ? ", ..." : ""));
  }
}

void check_interfaces(const PluginCode& code, const Manifest& manifest, const CheckOptions& options,
                      Steps& steps) {
  if (code.probe()) check_probe(*code.probe(), options, steps);
  if (code.control()) check_control(*code.control(), options, steps);
  if (code.store()) check_store(*code.store(), options, steps);
  if (code.door()) check_door(*code.door(), manifest.door_kinds, options, steps);
}

}  // namespace
}  // namespace loader

std::string_view to_text(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return "passed";
    case CheckOutcome::kFailed:
      return "failed";
    case CheckOutcome::kSkipped:
      return "skipped";
  }
  return "failed";
}

bool CheckReport::passed() const {
  return ending.empty() && !steps.empty() &&
         std::none_of(steps.begin(), steps.end(),
                      [](const CheckStep& step) { return step.outcome == CheckOutcome::kFailed; });
}

CheckReport check_plugin(const std::string& file, const CheckOptions& options) {
  using namespace loader;  // NOLINT(google-build-using-namespace): one layer, one function
  CheckReport report;
  Steps steps(report.steps, options);
  const Candidate candidate = check_files(absolute(file), options, steps);
  report.file = candidate.info.file;
  report.id = candidate.info.id;
  report.version = candidate.info.version;
  report.abi = candidate.info.abi;
  report.interfaces = candidate.info.interfaces;
  if (!candidate.manifest) return report;
  check_symbols(report.file, steps);
  steps.begin(kLoadRule);
  const LoadOptions load = {.accept_untrusted = options.accept_untrusted,
                            .log = std::make_shared<LogSink>(nullptr)};
  auto code = load_plugin(candidate, load);
  if (!code) {
    steps.fail(kLoadRule, code.error().message);
    return report;
  }
  steps.pass(kLoadRule);
  check_interfaces(**code, *candidate.manifest, options, steps);
  steps.begin(kUnloadRule);
  code->reset();
  steps.pass(kUnloadRule);
  return report;
}

}  // namespace rollcall
