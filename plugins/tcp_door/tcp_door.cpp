#include "tcp_door/tcp_door.hpp"

#include <memory>

#include "common/door_plugin.hpp"

namespace rollcall::doors {

plugin::Status TcpDoor::probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                              const plugin::Call& call) {
  return visit_batch(batch, sink, call, [](const plugin::DoorItem& item) {
    Visit visit;
    visit.addresses = tcp_addresses(item);
    if (visit.addresses.empty()) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "a tcp door needs a url");
    }
    visit.conversation = std::make_unique<HeldConversation>();
    return visit;
  });
}

}  // namespace rollcall::doors
