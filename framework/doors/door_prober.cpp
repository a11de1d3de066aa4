#include "rollcall/door_prober.hpp"

namespace rollcall {

Status DoorProber::stop(std::span<const DoorAsk>, const std::string&, const DoorLimits&,
                        const Admit&, const Answer&, const Call&) {
  return fail(ErrorCode::kUnsupported, "no door of this kind can be asked to stop");
}

}  // namespace rollcall
