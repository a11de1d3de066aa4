// `plugins check`: a candidate plugin file run against the conformance suite.
//
// The suite runs inside the process that calls check_plugin(), and a bad candidate can end that
// process or hang it: regtool runs it in a child (check_in_child), which is itself with a hidden
// subcommand that calls check_plugin() and prints to_json() of its result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/host.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

enum class CheckOutcome : std::uint8_t { kPassed, kFailed, kSkipped };
[[nodiscard]] std::string_view to_text(CheckOutcome outcome);  // "passed", "failed", "skipped"

// One rule that was tried.
struct CheckStep {
  std::string rule;  // e.g. "process-probe: an absent pid is not present"
  CheckOutcome outcome = CheckOutcome::kPassed;
  std::string text;  // with kFailed and kSkipped: what was seen, why
};

struct CheckReport {
  std::string file;
  std::string id;  // empty until the manifest was read
  std::string version;
  std::string abi;  // "1.0"
  std::vector<std::string> interfaces;
  std::vector<CheckStep> steps;
  std::string ending;  // non-empty: the child did not come to an end by itself, and how it ended
  [[nodiscard]] bool passed() const;  // nothing failed, and no ending
};

struct CheckOptions {
  bool accept_untrusted = false;  // a file in a build tree of somebody else's
  Settings settings;              // handed to every instance
  bool write_store = false;       // also create, replace and remove an entry of the store
  // Told what is about to be tried. In a child it is to print check_progress_line() and flush, so
  // that the parent can say what the child was at when it ended.
  std::function<void(std::string_view rule)> progress;
};
[[nodiscard]] std::string check_progress_line(std::string_view rule);  // with its newline

// Runs everything in this process. `file`: absolute or relative to the working directory. Never
// fails as such: what went wrong is a step.
// Threads: one, with nothing else going on.
[[nodiscard]] CheckReport check_plugin(const std::string& file, const CheckOptions& options);

// The report as one JSON object ("rollcall.plugin-check/1") on one line, and back.
[[nodiscard]] std::string to_json(const CheckReport& report);
[[nodiscard]] Result<CheckReport> parse_check_report(std::string_view json);

// Runs `program args...` as a child, which is to print to_json() of its check on stdout as the last
// thing (what the plugin prints before does no harm), and waits at most `limit_ns` before killing
// it. Every ending of the child other than a whole report is turned into a sentence in `ending` (it
// exited in a static constructor, an uncaught exception aborted it, it hangs while being loaded,
// ...). Errors: kIo: the child could not be started.
inline constexpr std::int64_t kCheckLimitNs = 20'000'000'000;
[[nodiscard]] Result<CheckReport> check_in_child(const std::string& program,
                                                 const std::vector<std::string>& args,
                                                 const std::string& file,
                                                 std::int64_t limit_ns = kCheckLimitNs);

}  // namespace rollcall
