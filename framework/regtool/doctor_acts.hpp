// Which acts this platform's backend has, asked of it without doing any.
#pragma once

#include <string>
#include <vector>

#include "rollcall/process_control.hpp"
#include "rollcall/process_probe.hpp"

namespace rollcall::regtool {

struct ActSupport {
  std::string act;  // as it is typed: "stop --tree", "kill --signal HUP", "env"
  bool supported = false;
  std::string reason;  // with an unsupported one: the backend's word
};

// Asks by acts on `own_pid`, the calling process, whose judge vouches for nothing: nothing is sent.
// `control` may be null. Threads: any.
[[nodiscard]] std::vector<ActSupport> act_support(ProcessProbe& probe, ProcessControl* control,
                                                  std::int64_t own_pid);

}  // namespace rollcall::regtool
