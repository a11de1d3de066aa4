#include "a2a_door/a2a_door.hpp"

#include <memory>

#include "common/a2a_conversation.hpp"
#include "common/a2a_stop.hpp"
#include "common/door_plugin.hpp"

namespace rollcall::doors {
namespace {

void add_words(std::string_view text, std::vector<std::string>& words) {
  while (!text.empty()) {
    const auto blank = text.find(' ');
    if (blank != 0) words.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
  }
}

}  // namespace

A2aDoor::A2aDoor(const plugin::Settings& settings) : settings_(kept(settings)) {}

plugin::Status A2aDoor::probe(const plugin::DoorBatch& batch, const plugin::DoorSink& sink,
                              const plugin::Call& call) {
  return visit_batch(batch, sink, call, [this](const plugin::DoorItem& item) {
    Visit visit;
    visit.addresses = tcp_addresses(item);
    if (visit.addresses.empty()) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "an a2a door needs a url");
    }
    A2aSettings settings;
    settings.extension_uris = uris_of(item);
    settings.legacy_card_path = setting_of(item, settings_, "legacy_card_path", "0") == "1";
    visit.conversation = std::make_unique<A2aConversation>(std::string(item.authority()),
                                                           std::move(settings), random_id());
    return visit;
  });
}

plugin::Status A2aDoor::stop(const plugin::DoorBatch& batch, std::string_view reason,
                             const plugin::DoorSink& sink, const plugin::Call& call) {
  return visit_batch(batch, sink, call, [&](const plugin::DoorItem& item) {
    Visit visit;
    visit.addresses = tcp_addresses(item);
    if (visit.addresses.empty()) {
      return refused_visit(ROLLCALL_DOOR_BAD_URL, "an a2a door needs a url");
    }
    visit.conversation = std::make_unique<A2aStopConversation>(
        std::string(item.authority()), uris_of(item), std::string(item.session_id()),
        std::string(reason), random_id());
    return visit;
  });
}

std::vector<std::string> A2aDoor::uris_of(const plugin::DoorItem& item) const {
  std::vector<std::string> uris = default_extension_uris();
  add_words(item.settings().get("extension_uris", ""), uris);
  for (const auto& [key, value] : settings_) {
    if (key == "extension_uris") add_words(value, uris);
  }
  return uris;
}

}  // namespace rollcall::doors
