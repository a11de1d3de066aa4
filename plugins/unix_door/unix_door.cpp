#include "unix_door/unix_door.hpp"

#include <memory>

#include "common/door_plugin.hpp"

namespace rollcall::doors {

plugin::Status UnixDoor::probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                               const plugin::Call& call) {
  return visit_batch(batch, sink, call, [](const plugin::DoorItem& item) {
    const auto address = unix_address(item.settings().get("path", ""));
    if (!address) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL,
                           "its setting `path` is not an absolute path of at most 107 bytes");
    }
    Visit visit;
    visit.addresses.push_back(*address);
    visit.conversation = std::make_unique<HeldConversation>();
    return visit;
  });
}

}  // namespace rollcall::doors
