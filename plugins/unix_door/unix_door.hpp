// A Unix socket that names nobody: the kernel says which process listens at its other end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// Setting of a record's door: path (absolute, at most 107 bytes). The record needs no url.
class UnixDoor final : public plugin::DoorProber {
 public:
  static constexpr bool kConcurrent = true;
  plugin::Status probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                       const plugin::Call& call) override;
};

}  // namespace rollcall::doors
