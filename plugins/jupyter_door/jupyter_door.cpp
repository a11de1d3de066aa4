#include "jupyter_door/jupyter_door.hpp"

#include <memory>

#include "common/door_plugin.hpp"
#include "common/http_conversation.hpp"
#include "jupyter_door/jupyter_conversation.hpp"

namespace rollcall::doors {

JupyterDoor::JupyterDoor(const plugin::Settings& settings) : settings_(kept(settings)) {}

plugin::Status JupyterDoor::probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                                  const plugin::Call& call) {
  return visit_batch(batch, sink, call, [this](const plugin::DoorItem& item) {
    Visit visit;
    visit.addresses = tcp_addresses(item);
    JupyterServer server;
    server.session = std::string(item.session_id());
    server.authority = std::string(item.authority());
    server.path = setting_of(item, settings_, "path", "/api/status");
    server.process_start_unix_ns =
        whole_number(setting_of(item, {}, ROLLCALL_SETTING_PROCESS_START, ""));
    if (visit.addresses.empty()) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "a jupyter door needs a url");
    }
    if (!is_request_path(server.path)) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL,
                           "its setting `path` is not a path of visible ASCII that begins with /");
    }
    visit.conversation = std::make_unique<JupyterConversation>(std::move(server), random_id());
    return visit;
  });
}

}  // namespace rollcall::doors
