#include <fmt/format.h>

#include <utility>

#include "core/rfc3339.hpp"
#include "core/secret.hpp"
#include "core/shown_url.hpp"
#include "liveness/machine.hpp"
#include "regtool/commands.hpp"
#include "regtool/door_options.hpp"
#include "regtool/json.hpp"
#include "regtool/ps_view.hpp"
#include "rollcall/door_url.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::size_t kMaxTokenFile = 4096 + 2;

Outcome<void> add_door(Record& record, const RegisterCommand& command, const Config& config) {
  if (command.url) {
    const auto address = parse_door_url(*command.url, config.allow_hosts);
    if (!address) {
      return refusal(fmt::format("--url {}: {}", shown_url(*command.url), address.error().text),
                     shown_url(*command.url));
    }
    record.url = command.url;
  }
  if (!command.door) return {};
  DoorSpec door{.kind = *command.door};
  for (const KeyValue& setting : command.door_settings) {
    if (looks_secret(setting.key)) {
      return refusal("a secret is given by --token-file, never as an argument", setting.key);
    }
    door.settings.emplace_back(setting.key, setting.value);
  }
  record.door = std::move(door);
  return {};
}

Outcome<void> add_token(Record& record, const RegisterCommand& command) {
  if (!command.token_file) return {};
  if (!record.has_door()) {
    return usage_failure("--token-file is for a door: --url or --door", *command.token_file);
  }
  auto token = read_token_file(*command.token_file);
  if (!token) return tl::unexpected(token.error());
  record.door_token = std::move(*token);
  return {};
}

// A plugin may come later: the record is kept, and its writer told.
void warn_of_unspoken_kind(Context& context, const std::string& kind) {
  if (is_own_door_kind(kind)) return;
  const auto host = context.host();
  if (!host || (*host)->door_prober(kind)) return;
  context.out().warning(fmt::format(
      "no plugin speaks to doors of kind {}: the session is unreachable until one does", kind));
}

// What the process itself says of its name and folder; nothing where it cannot be read.
std::string read_of(ProcessProbe& probe, std::int64_t pid, ReadWhat what) {
  auto read = probe.read(pid, what, {});
  if (!read) return {};
  while (!read->empty() && (read->back() == '\n' || read->back() == '\0')) read->pop_back();
  return std::move(*read);
}

}  // namespace

Outcome<ProcessIdentity> identify_for_record(Context& context, std::int64_t pid,
                                             const std::optional<std::string>& expect_start) {
  const std::string object = fmt::format("pid {}", pid);
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  auto identity = identify_process(**probe, pid, {});
  if (!identity) {
    Failure failure = to_failure(identity.error(), object);
    failure.exit_code = kExitRefused;
    if (identity.error().code == ErrorCode::kNotFound) failure.code = "no_process";
    failure.text = "nothing was recorded: " + failure.text;
    return tl::unexpected(std::move(failure));
  }
  if (expect_start && *expect_start != identity->start_token) {
    return refusal(fmt::format("nothing was recorded: pid {} is held by a process with the start "
                               "token {}, not {}",
                               pid, identity->start_token, *expect_start),
                   object);
  }
  return *identity;
}

Outcome<std::string> read_token_file(const std::string& path) {
  auto bytes = platform::read_small_file(path, kMaxTokenFile);
  if (!bytes) {
    Failure failure = to_failure(bytes.error(), path);
    failure.exit_code = kExitIo;
    failure.code = "io";
    return tl::unexpected(std::move(failure));
  }
  core::SecretText token(std::move(*bytes));
  std::string& text = token.text();
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (!text.empty() && text.back() == '\r') text.pop_back();
  if (auto valid = check_token(text); !valid) {
    return usage_failure("the token in --token-file: " + valid.error().message, path);
  }
  return text;
}

Outcome<int> run_register(Context& context, const RegisterCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  Record record;
  record.session_id = command.session_id;
  if (auto added = add_door(record, command, context.config()); !added) {
    return tl::unexpected(added.error());
  }
  if (auto added = add_token(record, command); !added) return tl::unexpected(added.error());
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  auto identity = identify_for_record(context, command.pid, command.expect_start);
  if (!identity) return tl::unexpected(identity.error());
  record.name = command.name ? *command.name : read_of(**probe, command.pid, ReadWhat::kName);
  record.version = command.version.value_or("");
  record.workdir =
      command.workdir ? *command.workdir : read_of(**probe, command.pid, ReadWhat::kCwd);
  for (const KeyValue& label : command.labels) {
    record.metadata[std::string(kLabelPrefix) + label.key] = label.value;
  }
  // Name and folder were read by pid: they are this process's only if it still holds it.
  const auto again = (*registry)->identify(command.pid, {});
  if (!again || *again != *identity) {
    return refusal(fmt::format("nothing was recorded: pid {} changed hands meanwhile", command.pid),
                   fmt::format("pid {}", command.pid));
  }
  record.process = std::move(*identity);
  RegisterOptions options;
  options.replace = command.replace;
  options.guarded = false;
  const std::string start = record.process.start_token;
  const auto registered = (*registry)->register_session(std::move(record), options, {});
  if (!registered) return failure_of(registered.error(), command.session_id);
  if (command.door) warn_of_unspoken_kind(context, *command.door);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.register/1");
    json.text("session_id", command.session_id).integer("pid", command.pid);
    json.text("start_token", start).end_object();
    out.document(json);
  } else {
    out.line(fmt::format("{}: registered pid {}", command.session_id, command.pid));
  }
  return kExitYes;
}

Outcome<int> run_forget(Context& context, const ForgetCommand& command) {
  if (auto may = context.may_change(); !may) return tl::unexpected(may.error());
  const auto registry = context.registry();
  if (!registry) return tl::unexpected(registry.error());
  const auto id = context.resolve(command.session, true);
  if (!id) return tl::unexpected(id.error());
  const auto forgotten = (*registry)->forget(*id, command.force, {});
  if (!forgotten) return tl::unexpected(context.session_failure(forgotten.error(), *id));
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.forget/1").text("session_id", *id);
    json.boolean("forgotten", true).end_object();
    out.document(json);
  } else {
    out.line(fmt::format("{}: forgotten", *id));
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
