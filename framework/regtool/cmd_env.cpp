#include <fmt/format.h>

#include <algorithm>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/variable_name.hpp"
#include "rollcall/process_details.hpp"

namespace rollcall::regtool {
namespace {

bool is_hidden(const Variable& variable, const EnvCommand& command) {
  return !command.show_secrets && looks_secret(variable);
}

void write_json(Output& out, const std::string& id, const Environment& environment,
                const EnvCommand& command) {
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.env/1").text("session_id", id);
  json.key("variables").begin_array();
  for (const Variable& variable : environment.variables) {
    const bool hidden = is_hidden(variable, command);
    json.begin_object().text("name", variable.name);
    json.text("value", hidden ? kRedacted : variable.value).boolean("hidden", hidden).end_object();
  }
  json.end_array();
  json.integer("repeated", static_cast<std::int64_t>(environment.repeated));
  json.integer("nameless", static_cast<std::int64_t>(environment.nameless)).end_object();
  out.document(json);
}

void write_text(Output& out, const Environment& environment, const EnvCommand& command) {
  for (const Variable& variable : environment.variables) {
    if (command.null_ended) {
      out.raw(variable.name + "=" + variable.value);
      out.raw(std::string_view("", 1));
    } else if (command.name) {
      out.line(is_hidden(variable, command) ? kRedacted : variable.value);
    } else {
      out.line(fmt::format("{}={}", variable.name,
                           is_hidden(variable, command) ? kRedacted : variable.value));
    }
  }
}

void keep_only(Environment& environment, const std::string& name) {
  std::erase_if(environment.variables,
                [&](const Variable& variable) { return !is_same_variable(variable.name, name); });
}

}  // namespace

Outcome<int> run_env(Context& context, const EnvCommand& command) {
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const auto id = context.resolve(command.session, false);
  if (!id) return tl::unexpected(id.error());
  const auto bytes = (*registry)->read_process(*id, ReadWhat::kEnvironment, {});
  if (!bytes) return tl::unexpected(to_session_failure(bytes.error(), *id));
  Environment environment = parse_environment(*bytes);
  if (environment.variables.empty()) {
    context.out().notice(fmt::format("the environment of {} is empty", *id));
  }
  if (command.name) {
    keep_only(environment, *command.name);
    if (environment.variables.empty()) {
      return tl::unexpected(Failure{kExitNo, "no_variable",
                                    fmt::format("{} has no variable {}", *id, *command.name),
                                    *command.name});
    }
  }
  if (context.out().json()) {
    write_json(context.out(), *id, environment, command);
  } else {
    write_text(context.out(), environment, command);
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
