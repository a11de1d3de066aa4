// From a candidate to a plugin that runs: trust, load, negotiate, compare with the manifest.
#pragma once

#include <memory>

#include "plugin/catalog.hpp"
#include "plugin/plugin_code.hpp"

namespace rollcall::loader {

struct LoadOptions {
  bool accept_untrusted = false;
  std::int64_t init_limit_ns = kInitLimitNs;
  std::shared_ptr<LogSink> log;  // required
};

// Errors: each names the file.
[[nodiscard]] Result<std::shared_ptr<PluginCode>> load_plugin(const Candidate& candidate,
                                                              const LoadOptions& options);

// Whether a library is what its manifest says. Errors: kCorrupt, with both.
[[nodiscard]] Status agrees(const Manifest& manifest, const PluginCode& code);

// The four interfaces that Rollcall knows, by id.
[[nodiscard]] const std::vector<std::string>& known_interfaces();

}  // namespace rollcall::loader
