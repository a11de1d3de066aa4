#include "http_door/http_door.hpp"

#include <memory>

#include "common/door_plugin.hpp"
#include "common/http_conversation.hpp"
#include "common/json_answer.hpp"

namespace rollcall::doors {

HttpDoor::HttpDoor(const plugin::Settings& settings) : settings_(kept(settings)) {}

plugin::Status HttpDoor::probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                               const plugin::Call& call) {
  return visit_batch(batch, sink, call, [this](const plugin::DoorItem& item) {
    Visit visit;
    visit.addresses = tcp_addresses(item);
    const std::string path = setting_of(item, settings_, "path", "/");
    const std::string pointer = setting_of(item, settings_, "pointer", "/session_id");
    if (visit.addresses.empty()) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "an http door needs a url");
    }
    if (!is_request_path(path)) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL,
                           "its setting `path` is not a path of visible ASCII that begins with /");
    }
    if (!is_json_pointer(pointer)) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "its setting `pointer` is not a JSON pointer");
    }
    visit.conversation =
        std::make_unique<HttpConversation>(std::string(item.authority()), path, pointer);
    return visit;
  });
}

}  // namespace rollcall::doors
