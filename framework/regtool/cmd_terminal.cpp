// terminal and type: where a session can be typed to, and typing there.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/helper_program.hpp"
#include "core/own_socket.hpp"
#include "core/text.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/terminal.hpp"

namespace rollcall::regtool {
namespace {

Outcome<std::vector<TerminalKind>> configured_kinds(const Context& context) {
  std::vector<TerminalKind> kinds;
  for (const std::string& text : context.config().terminal_kinds) {
    auto kind = parse_terminal_kind(text);
    if (!kind) {
      return tl::unexpected(
          Failure{kExitIo, "config", "terminal.kinds: " + kind.error().message, text});
    }
    kinds.push_back(std::move(*kind));
  }
  return kinds;
}

struct Found {
  std::string id;
  std::vector<Terminal> terminals;  // never empty
  std::vector<TerminalKind> kinds;
};

tl::unexpected<Failure> refuse(const std::string& id, std::string message) {
  return tl::unexpected(Failure{kExitRefused, "refused", std::move(message), id});
}

// Terminals are those of our own user's records only.
Outcome<void> check_own_record(Context& context, const std::string& id) {
  const auto files = context.files();
  if (!files) return tl::unexpected(files.error());
  const auto stored = (*files)->read(id, {});
  if (!stored) return tl::unexpected(context.session_failure(stored.error(), id));
  if (!context.is_foreign() && stored->owner_uid == platform::effective_uid()) return {};
  return refuse(id, "terminals are shown and typed into only for sessions of the user who asks");
}

// ... and of processes whose every user id is ours: whose is another's had its environment chosen
// by somebody with other rights.
Outcome<void> check_own_process(const std::string& id, std::string_view users) {
  const std::string ours = std::to_string(platform::effective_uid());
  do {
    const std::string_view user = users.substr(0, users.find(' '));
    users.remove_prefix(std::min(user.size() + 1, users.size()));
    if (user == ours) continue;
    return refuse(id,
                  fmt::format("the process of {} runs with uid {} and not only with that of the "
                              "user who asks (uid {}): terminals are shown and typed into only "
                              "for that user's own processes",
                              id, user.empty() ? "?" : text::for_terminal(user), ours));
  } while (!users.empty());
  return {};
}

// The environment of a process that was ours before it was read and after it.
Outcome<std::string> own_environment(Registry& registry, const std::string& id) {
  const auto users = registry.read_process(id, ReadWhat::kUsers, {});
  if (!users && users.error().code == ErrorCode::kUnsupported) {
    return tl::unexpected(to_capability_failure(users.error(), id));
  }
  if (!users && users.error().code != ErrorCode::kNotFound) {
    return refuse(id, "it cannot be told whose process it is: " + users.error().message);
  }
  if (!users) return tl::unexpected(to_session_failure(users.error(), id));
  if (auto own = check_own_process(id, *users); !own) return tl::unexpected(own.error());
  constexpr ReadWhat kWhat[] = {ReadWhat::kUsers, ReadWhat::kEnvironment, ReadWhat::kUsers};
  auto readings = registry.read_process(id, kWhat, {});
  if (!readings) return tl::unexpected(to_session_failure(readings.error(), id));
  for (const std::size_t i : {0U, 2U}) {
    if (auto own = check_own_process(id, (*readings)[i]); !own) return tl::unexpected(own.error());
  }
  return std::move((*readings)[1]);
}

Outcome<Found> find(Context& context, const SessionName& name, bool acting) {
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  Found found;
  auto id = context.resolve(name, acting);
  if (!id) return tl::unexpected(id.error());
  found.id = std::move(*id);
  if (auto own = check_own_record(context, found.id); !own) return tl::unexpected(own.error());
  auto kinds = configured_kinds(context);
  if (!kinds) return tl::unexpected(kinds.error());
  found.kinds = std::move(*kinds);
  const auto bytes = own_environment(**registry, found.id);
  if (!bytes) return tl::unexpected(bytes.error());
  found.terminals = find_terminals(parse_environment(*bytes), found.kinds);
  if (found.terminals.empty()) {
    return tl::unexpected(Failure{kExitNo, "no_terminal",
                                  fmt::format("{} runs in no terminal that has an id", found.id),
                                  found.id});
  }
  return found;
}

// A server that another user answers for could have its client run programs as us.
Outcome<void> check_sockets(const std::string& id, const Terminal& terminal,
                            const std::vector<std::string>& command_template) {
  const auto paths = socket_paths(terminal, command_template);
  if (!paths) return tl::unexpected(to_failure(paths.error(), id));
  for (const std::string& path : *paths) {
    const auto own = core::check_own_socket(path);
    if (own) continue;
    Error error = own.error();
    error.message =
        fmt::format("nothing was typed into {}: its socket is not proven to be yours: {}",
                    terminal.kind, error.message);
    return tl::unexpected(to_failure(error, id));
  }
  return {};
}

}  // namespace

Outcome<int> run_terminal(Context& context, const TerminalCommand& command) {
  const auto found = find(context, command.session, false);
  if (!found) return tl::unexpected(found.error());
  Output& out = context.out();
  if (!out.json()) {
    for (const Terminal& terminal : found->terminals) {
      out.line(fmt::format("{} {}{}{}", terminal.kind, terminal.id,
                           terminal.name_space.empty() ? "" : " ", terminal.name_space));
    }
    return kExitYes;
  }
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.terminal/1").text("session_id", found->id);
  json.key("terminals").begin_array();
  for (const Terminal& terminal : found->terminals) {
    json.begin_object().text("kind", terminal.kind).text("id", terminal.id);
    json.reason("namespace", terminal.name_space).end_object();
  }
  json.end_array().end_object();
  out.document(json);
  return kExitYes;
}

Outcome<int> run_type(Context& context, const TypeCommand& command) {
  const auto found = find(context, command.session, true);
  if (!found) return tl::unexpected(found.error());
  const Terminal& terminal = found->terminals.front();
  const auto& inputs = context.config().terminal_inputs;
  const auto configured = inputs.find(terminal.kind);
  const auto words_template = configured != inputs.end()
                                  ? configured->second
                                  : default_typing_template(terminal.kind, found->kinds);
  if (words_template.empty()) {
    return tl::unexpected(
        Failure{kExitIo, "capability_unavailable",
                fmt::format("no command is known that types into {}; the configuration's "
                            "terminal.input.{} names one",
                            terminal.kind, terminal.kind),
                found->id});
  }
  const auto words = typing_command(terminal, command.keys, words_template);
  if (!words) return tl::unexpected(Failure{kExitUsage, "usage", words.error().message, found->id});
  if (auto own = check_sockets(found->id, terminal, words_template); !own) {
    return tl::unexpected(own.error());
  }
  const auto typed = core::run_helper(*words, {}, *context.clock(), {});
  if (!typed) return tl::unexpected(to_capability_failure(typed.error(), found->id));
  if (context.out().json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.type/1").text("session_id", found->id);
    json.text("kind", terminal.kind).text("id", terminal.id);
    json.integer("keys", static_cast<std::int64_t>(command.keys.size())).end_object();
    context.out().document(json);
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
