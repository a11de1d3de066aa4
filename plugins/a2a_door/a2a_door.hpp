// The default door: A2A over HTTP.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// Settings, of the instance and of a record's door:
//   legacy_card_path  "1": ask /.well-known/agent.json too, where agent-card.json is 404
//   extension_uris    further extensions that name a session, separated by blanks
class A2aDoor final : public plugin::DoorProber {
 public:
  static constexpr bool kConcurrent = true;
  explicit A2aDoor(const plugin::Settings& settings);
  plugin::Status probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                       const plugin::Call& call) override;
  plugin::Status stop(const plugin::DoorBatch& batch, std::string_view reason,
                      const plugin::DoorSink& sink, const plugin::Call& call) override;

 private:
  [[nodiscard]] std::vector<std::string> uris_of(const plugin::DoorItem& item) const;

  const std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace rollcall::doors
