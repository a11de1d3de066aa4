#include "rollcall/process_control.hpp"

namespace rollcall {

Result<StopResult> ProcessControl::stop(std::int64_t, const StopPlan&, const Judge&, const Call&) {
  return fail(ErrorCode::kUnsupported, "this process control holds no process over a whole stop");
}

}  // namespace rollcall
