// The door of a Jupyter server, which names no session: it is proven by its token.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// Settings, of a record's door or of the instance:
//   path  of the status call; "/api/status" where it is not given
class JupyterDoor final : public plugin::DoorProber {
 public:
  static constexpr bool kConcurrent = true;
  explicit JupyterDoor(const plugin::Settings& settings);
  plugin::Status probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                       const plugin::Call& call) override;

 private:
  const std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace rollcall::doors
