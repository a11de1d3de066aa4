#include <fmt/format.h>

#include <algorithm>

#include "regtool/commands.hpp"
#include "regtool/doctor.hpp"
#include "regtool/doctor_acts.hpp"
#include "regtool/json.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::string_view kOnlyOneWithNamespaces = "rollcall.backend.linux";

std::string_view health_text(Health health) {
  constexpr std::string_view kTexts[] = {"ok", "limited", "bad"};
  return kTexts[static_cast<std::size_t>(health)];
}

Colour health_colour(Health health) {
  constexpr Colour kColours[] = {Colour::kGood, Colour::kWarn, Colour::kBad};
  return kColours[static_cast<std::size_t>(health)];
}

DoctorLine known_or(std::string topic, const std::optional<std::string>& value, Health otherwise,
                    std::string why) {
  if (value) return {std::move(topic), Health::kGood, *value};
  return {std::move(topic), otherwise, std::move(why)};
}

void add_identity(Context& context, std::vector<DoctorLine>& lines) {
  const auto probe = context.probe();
  if (!probe) {
    lines.push_back({"backend", Health::kBad, probe.error().text});
    return;
  }
  lines.push_back({"backend", Health::kGood, (*probe)->id()});
  const auto who = (*probe)->whoami({});
  if (!who) {
    lines.push_back({"identity", Health::kBad, who.error().message});
    return;
  }
  const ProcessIdentity& self = who->self;
  lines.push_back({"start time", self.start_token.empty() ? Health::kBad : Health::kGood,
                   self.start_token.empty() ? who->start_token_why : "can be read"});
  lines.push_back(known_or("boot id", self.boot_id, Health::kBad, who->boot_id_why));
  lines.push_back(known_or("host id", self.host_id, Health::kLimited,
                           "unreadable: records do not say which machine they are of"));
  if ((*probe)->id() != kOnlyOneWithNamespaces) return;
  lines.push_back(
      known_or("pid namespace", self.pid_namespace, Health::kLimited, "could not be read"));
  lines.push_back(
      known_or("time namespace", self.time_namespace, Health::kLimited, "could not be read"));
}

void add_home(Context& context, std::vector<DoctorLine>& lines) {
  const auto files = context.files();
  if (!files) {
    lines.push_back({"file system", Health::kBad, files.error().text});
    return;
  }
  const bool local = (*files)->home_kind() == HomeKind::kLocal;
  lines.push_back({"file system", local ? Health::kGood : Health::kLimited,
                   local ? "of this machine alone"
                         : "shared or unknown: a record that names no host is never gone"});
  const auto stored = (*files)->list({});
  if (!stored) {
    lines.push_back({"reading", Health::kBad, stored.error().message});
    return;
  }
  const auto records = static_cast<std::size_t>(
      std::count_if(stored->begin(), stored->end(), [](const StoredRecord& entry) {
        return entry.problem.empty() && parse_record(entry.bytes, entry.name).has_value();
      }));
  const std::size_t others = stored->size() - records;
  lines.push_back({"reading", others == 0 ? Health::kGood : Health::kLimited,
                   fmt::format("{} record{}, {} file{} that {} no record or cannot be read",
                               records, records == 1 ? "" : "s", others, others == 1 ? "" : "s",
                               others == 1 ? "is" : "are")});
}

void add_configuration(const Context& context, std::vector<DoctorLine>& lines) {
  if (!context.config_problem().empty()) {
    lines.push_back({"configuration", Health::kBad, context.config_problem()});
    return;
  }
  for (const std::string& warning : context.config().warnings) {
    lines.push_back({"configuration", Health::kLimited, warning});
  }
  if (context.config().warnings.empty()) {
    lines.push_back({"configuration", Health::kGood, "it can be used"});
  }
}

std::vector<PluginInfo> add_plugins(Context& context, std::vector<DoctorLine>& lines) {
  const auto host = context.host();
  if (!host) {
    lines.push_back({"plugins", Health::kBad, host.error().text});
    return {};
  }
  auto plugins = (*host)->plugins(true);
  for (const PluginInfo& info : plugins) {
    const std::string who = info.id.empty() ? info.file : info.id;
    if (info.state == PluginState::kRefused || info.state == PluginState::kUnresponsive) {
      lines.push_back({"plugin " + who, info.builtin ? Health::kBad : Health::kLimited,
                       fmt::format("{}: {}", to_text(info.state), info.reason)});
    } else {
      lines.push_back(
          {"plugin " + who, Health::kGood, fmt::format("{} {}", to_text(info.state), info.file)});
    }
  }
  const auto control = (*host)->platform_control();
  lines.push_back({"signals", control ? Health::kGood : Health::kBad,
                   control ? "can be sent" : control.error().message});
  const auto watcher = (*host)->platform_watcher();
  lines.push_back({"watching", watcher ? Health::kGood : Health::kLimited,
                   watcher ? "is told by the kernel" : "is polled: " + watcher.error().message});
  return plugins;
}

// One line for each act that this platform has not, and one for the rest.
std::vector<ActSupport> add_acts(Context& context, std::vector<DoctorLine>& lines) {
  const auto probe = context.probe();
  const auto host = context.host();
  if (!probe || !host) return {};
  const auto control = (*host)->platform_control();
  auto acts = act_support(**probe, control ? control->get() : nullptr, platform::current_pid());
  bool all = true;
  for (const ActSupport& act : acts) {
    if (act.supported) continue;
    all = false;
    lines.push_back({"act " + act.act, Health::kLimited, "unsupported: " + act.reason});
  }
  lines.push_back({"acts", Health::kGood, all ? "all are supported" : "all others are supported"});
  return acts;
}

void write_acts(JsonWriter& json, const std::vector<ActSupport>& acts) {
  json.key("acts").begin_array();
  for (const ActSupport& act : acts) {
    json.begin_object().text("act", act.act);
    json.text("state", act.supported ? "supported" : "unsupported").reason("reason", act.reason);
    json.end_object();
  }
  json.end_array();
}

void write_json(Context& context, const std::vector<DoctorLine>& lines,
                const std::vector<ActSupport>& acts, const std::vector<PluginInfo>& plugins,
                bool healthy) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.doctor/1").text("home", context.home());
  json.boolean("healthy", healthy).key("checks").begin_array();
  for (const DoctorLine& line : lines) {
    json.begin_object().text("topic", line.topic).text("state", health_text(line.health));
    json.text("text", line.text).end_object();
  }
  json.end_array();
  write_acts(json, acts);
  json.key("config").begin_array();
  for (const Config::Source& source : context.config().sources) {
    json.begin_object().text("key", source.key).text("value", source.value);
    json.text("from", source.from).end_object();
  }
  json.end_array().key("plugins").begin_array();
  for (const PluginInfo& info : plugins) write_plugin(json, info);
  json.end_array().end_object();
  context.out().document(json);
}

void write_text(Context& context, const std::vector<DoctorLine>& lines) {
  std::vector<std::vector<Cell>> rows;
  for (const DoctorLine& line : lines) {
    rows.push_back({{line.topic},
                    {std::string(health_text(line.health)), health_colour(line.health)},
                    {line.text}});
  }
  context.out().table({"TOPIC", "STATE", "FOUND"}, rows, false);
  context.out().line("");
  std::vector<std::vector<Cell>> config;
  for (const Config::Source& source : context.config().sources) {
    config.push_back({{source.key}, {source.value.empty() ? "-" : source.value}, {source.from}});
  }
  context.out().table({"SETTING", "VALUE", "FROM"}, config, false);
}

}  // namespace

Outcome<int> run_doctor(Context& context) {
  std::vector<DoctorLine> lines = platform_checks(context.home(), context.owner());
  add_configuration(context, lines);
  add_home(context, lines);
  add_identity(context, lines);
  const auto plugins = add_plugins(context, lines);
  const auto acts = add_acts(context, lines);
  const bool healthy = std::none_of(lines.begin(), lines.end(), [](const DoctorLine& line) {
    return line.health == Health::kBad;
  });
  if (context.out().json()) {
    write_json(context, lines, acts, plugins, healthy);
  } else {
    write_text(context, lines);
  }
  return healthy ? kExitYes : kExitNo;
}

}  // namespace rollcall::regtool
