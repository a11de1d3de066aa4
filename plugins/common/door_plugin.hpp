// What the door plugins share: from a batch of the host's items to visits and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/poll_loop.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// A visit that is answered at once, without a connection.
[[nodiscard]] Visit refused_visit(std::uint32_t reason, std::string_view detail);

// The item's endpoints as addresses. Empty: it has none, or one is not numeric.
[[nodiscard]] std::vector<Address> tcp_addresses(const plugin::DoorItem& item);

// A setting of the record's door, else of the instance, else `otherwise`.
[[nodiscard]] std::string setting_of(const plugin::DoorItem& item,
                                     const std::vector<std::pair<std::string, std::string>>& own,
                                     std::string_view key, std::string_view otherwise);
// Settings are views of the call that hands them in; these stay.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> kept(
    const plugin::Settings& settings);

// 32 hex digits of the system's randomness.
[[nodiscard]] std::string random_id();

[[nodiscard]] LoopLimits limits_of(const plugin::DoorBatch& batch);

// Makes a visit of each item and runs them all.
template <class MakeVisit>
plugin::Status visit_batch(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                           const plugin::Call& call, MakeVisit&& make_visit) {
  std::vector<Visit> visits;
  visits.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) visits.push_back(make_visit(batch.item(i)));
  return visit_doors(std::move(visits), limits_of(batch), sink, call);
}

}  // namespace rollcall::doors
