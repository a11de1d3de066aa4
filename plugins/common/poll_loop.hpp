// One loop for a whole batch of doors: connects side by side, asks the host about many sockets at
// once, speaks only where it was admitted, and gives each door its own deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/conversation.hpp"
#include "common/net.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// One door. Without a conversation `answer` is given at once and nothing is connected to.
struct Visit {
  std::vector<Address> addresses;  // tried in order
  std::unique_ptr<Conversation> conversation;
  plugin::DoorAnswer answer;
};

struct LoopLimits {
  std::int64_t connect_timeout_ns = 2'000'000'000;  // each connection's, not beyond the total
  std::int64_t total_timeout_ns = 5'000'000'000;    // from a door's first connect to its answer
  std::uint32_t reserved_descriptors = 16;          // left to the host, who reads tables meanwhile
  std::size_t buffered_bytes = std::size_t{128} << 20;  // of all bodies together
  HttpBounds http;
};

// Visits every door and tells `sink` each answer as it comes. Costs one total_timeout for any
// number of doors that hang, as long as there are descriptors; where they run out, the rest starts
// as others finish, each with its own deadline from its own start.
// Errors: E_CANCELLED, E_TIMEOUT (the call's), E_IO (no descriptors, ports or memory for longer
// than total_timeout): the doors without an answer were not judged. Threads: one call uses only the
// calling thread.
[[nodiscard]] plugin::Status visit_doors(std::vector<Visit> visits, const LoopLimits& limits,
                                         const plugin::DoorSink& sink, const plugin::Call& call);

}  // namespace rollcall::doors
