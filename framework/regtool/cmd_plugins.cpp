#include "regtool/commands.hpp"
#include "regtool/json.hpp"

namespace rollcall::regtool {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : " ").append(text);
  return out;
}

std::string offers(const PluginInfo& info) {
  return info.door_kinds.empty() ? joined(info.interfaces) : "door " + joined(info.door_kinds);
}

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

Colour colour_of(PluginState state) {
  switch (state) {
    case PluginState::kLoaded:
      return Colour::kGood;
    case PluginState::kRefused:
    case PluginState::kUnresponsive:
      return Colour::kBad;
    case PluginState::kAvailable:
    case PluginState::kShadowed:
      break;
  }
  return Colour::kNone;
}

}  // namespace

void write_plugin(JsonWriter& json, const PluginInfo& info) {
  json.begin_object().text("id", info.id).text("version", info.version);
  json.text("vendor", info.vendor).text("file", info.file).text("manifest", info.manifest);
  json.text("abi", info.abi);
  write_texts(json, "interfaces", info.interfaces);
  write_texts(json, "door_kinds", info.door_kinds);
  json.boolean("wants_token", info.wants_token).boolean("builtin", info.builtin);
  json.text("state", to_text(info.state)).reason("reason", info.reason).end_object();
}

Outcome<int> run_plugins(Context& context) {
  const auto host = context.host();
  if (!host) return tl::unexpected(host.error());
  const auto plugins = (*host)->plugins(true);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.plugins/1").key("plugins").begin_array();
    for (const PluginInfo& info : plugins) write_plugin(json, info);
    json.end_array().end_object();
    out.document(json);
    return kExitYes;
  }
  if (plugins.empty()) {
    out.line("no plugins");
    return kExitYes;
  }
  std::vector<std::vector<Cell>> rows;
  for (const PluginInfo& info : plugins) {
    rows.push_back({{info.id.empty() ? "-" : info.id},
                    {info.version},
                    {info.abi},
                    {std::string(to_text(info.state)), colour_of(info.state)},
                    {offers(info)},
                    {info.file},
                    {info.reason}});
  }
  out.table({"PLUGIN", "VERSION", "ABI", "STATE", "OFFERS", "FILE", "REASON"}, rows, false);
  return kExitYes;
}

}  // namespace rollcall::regtool
