// Runs another program to read something from it, or to have something done, within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

struct HelperLimits {
  std::int64_t total_ms = 5000;           // then it is killed, with its process group
  std::size_t max_bytes = 1024UL * 1024;  // of each stream; what is above is read and dropped
};

struct HelperOutput {
  std::string out;
  std::string err;
  bool cut = false;  // more came than the limits allow
};

// Runs argv[0], looked up in PATH as execvp(3) does, with an empty input and without a descriptor
// of ours; both outputs are drained together. It has ended when its own process has: whoever else
// holds its pipes is not waited for.
// Errors:  kInvalid (no argv, a NUL byte), kNotFound (no such program), kTimeout, kCancelled, kIo
//          (it could not be started; or it failed: the message names program, exit code or signal,
//          and the first 200 bytes of what it said on its error output), kUnsupported (Windows).
// Threads: any.
[[nodiscard]] Result<HelperOutput> run_helper(const std::vector<std::string>& argv,
                                              const HelperLimits& limits, const Clock& clock,
                                              const Call& call);

}  // namespace rollcall::core
