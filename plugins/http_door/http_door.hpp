// A door that says its session id somewhere in a JSON document.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// Settings, of a record's door or of the instance:
//   path     what to GET; "/" where it is not given
//   pointer  where the id stands (JSON pointer, RFC 6901); "/session_id" where it is not given
class HttpDoor final : public plugin::DoorProber {
 public:
  static constexpr bool kConcurrent = true;
  explicit HttpDoor(const plugin::Settings& settings);
  plugin::Status probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                       const plugin::Call& call) override;

 private:
  const std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace rollcall::doors
