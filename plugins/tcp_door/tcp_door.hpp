// A door that names nobody: that the recorded process holds the port is all it proves.
#pragma once

#include "rollcall/plugin.hpp"

namespace rollcall::doors {

class TcpDoor final : public plugin::DoorProber {
 public:
  static constexpr bool kConcurrent = true;
  plugin::Status probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                       const plugin::Call& call) override;
};

}  // namespace rollcall::doors
