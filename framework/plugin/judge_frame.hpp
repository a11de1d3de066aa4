// A judge of the framework's, as a plugin calls it.
#pragma once

#include <cstdint>

#include "plugin/proxies.hpp"
#include "rollcall/process_control.hpp"

namespace rollcall::loader {

// The caller's judge, and what it last said. Anything that it throws is no licence.
struct JudgeFrame {
  const Judge& judge;
  std::int64_t pid;
  std::uint32_t said = ROLLCALL_JUDGE_UNVERIFIED;

  static std::uint32_t ask(void* context, const rollcall_observation* reading) noexcept {
    auto& frame = *static_cast<JudgeFrame*>(context);
    frame.said = ROLLCALL_JUDGE_UNVERIFIED;
    if (reading == nullptr) return frame.said;
    try {
      Observation taken;
      take_observation(*reading, frame.pid, taken);
      const ProcessState state = frame.judge.judge(taken);
      if (state == ProcessState::kAlive) frame.said = ROLLCALL_JUDGE_ALIVE;
      if (state == ProcessState::kGone) frame.said = ROLLCALL_JUDGE_GONE;
    } catch (...) {
      frame.said = ROLLCALL_JUDGE_UNVERIFIED;
    }
    return frame.said;
  }
  [[nodiscard]] rollcall_judge raw() {
    return {.struct_size = sizeof(rollcall_judge),
            .wants = judge.wants,
            .context = this,
            .judge = &JudgeFrame::ask};
  }
};

}  // namespace rollcall::loader
