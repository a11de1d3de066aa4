#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/random.hpp"
#include "core/secret.hpp"
#include "doors/session_door.hpp"
#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "regtool/launcher.hpp"
#include "regtool/ps_view.hpp"
#include "rollcall/tree_hold.hpp"

namespace rollcall::regtool {
namespace {

// Whatever is not the command's own failure or a wrong command line is `run`'s: 125.
tl::unexpected<Failure> run_failure(Failure failure) {
  if (failure.exit_code != kExitUsage && failure.exit_code != kExitNotRunnable &&
      failure.exit_code != kExitNoCommand) {
    failure.exit_code = kExitRunFailed;
  }
  return tl::unexpected(std::move(failure));
}

// 32 bytes of the system's randomness in hex.
Result<std::string> make_token() {
  std::array<std::byte, 32> bytes{};
  if (auto filled = core::fill_random(bytes); !filled) return tl::unexpected(filled.error());
  std::string token;
  for (const std::byte byte : bytes) token += fmt::format("{:02x}", std::to_integer<int>(byte));
  bytes.fill(std::byte{});
  return token;
}

// One session of one command, from its record to its end.
class Session {
 public:
  Session(Context& context, const RunCommand& command, std::string id)
      : context_(context), command_(command), id_(std::move(id)) {}

  // What stands in the way of this id. Where the registry cannot be read, nothing does: the
  // command is run all the same.
  [[nodiscard]] Outcome<void> check_id() {
    const auto registry = context_.registry();
    if (!registry) {
      note(registry.error().text);
      return {};
    }
    registry_ = *registry;
    if (!command_.session_id) return {};
    const auto standing = registry_->verify(id_, false, {});
    if (!standing || standing->process.state == ProcessState::kGone) return {};
    return taken(fmt::format("{} is already registered: {}", id_,
                             standing->process.state == ProcessState::kAlive
                                 ? fmt::format("pid {} runs", standing->record.process.pid)
                                 : standing->finding.text));
  }

  // Opens the door and writes the record. A failure: the id was taken meanwhile. Everything else
  // is a warning.
  [[nodiscard]] Outcome<void> record(const launcher::GatedChild& child) {
    if (registry_ == nullptr) return {};
    Record record = describe(child.pid());
    if (child.can_be_held()) record.metadata[plugin::kHoldsKey] = std::string(1, '1');
    if (!command_.no_door) open_door(record);
    auto registered = registry_->register_session(std::move(record), {}, {});
    if (registered) {
      registration_ = std::move(*registered);
      return {};
    }
    door_.reset();
    if (registered.error().code == ErrorCode::kExists && command_.session_id) {
      return taken(registered.error().message);
    }
    note(registered.error().message);
    return {};
  }

  [[nodiscard]] bool recorded() const { return registration_.active(); }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& warning() const { return warning_; }

  // The record goes first: from then on nobody looks for the door.
  void end() {
    if (registration_.active()) {
      if (auto released = registration_.release(); !released) {
        context_.out().warning("the record was not removed: " + released.error().message);
      }
    }
    door_.reset();
  }

 private:
  void note(const std::string& why) {
    warning_ = "the command runs unrecorded: " + why;
    context_.out().warning(warning_);
  }

  [[nodiscard]] tl::unexpected<Failure> taken(std::string text) const {
    return tl::unexpected<Failure>(
        Failure{kExitRunFailed, "already_registered", std::move(text), id_});
  }

  [[nodiscard]] Record describe(std::int64_t command_pid) {
    Record record;
    record.session_id = id_;
    record.name = command_.name.value_or(platform::base_name(command_.command.front()));
    record.version = command_.version.value_or("");
    record.workdir = platform::current_directory().value_or("");
    for (const KeyValue& label : command_.labels) {
      record.metadata[std::string(kLabelPrefix) + label.key] = label.value;
    }
    record.metadata[kCommandPidKey] = std::to_string(command_pid);
    if (const auto identity = registry_->identify(command_pid, {})) {
      record.metadata[kCommandStartKey] = identity->start_token;
    }
    return record;
  }

  void open_door(Record& record) {
    SessionDoor::Options options;
    options.session_id = id_;
    options.name = text::to_utf8(record.name);
    options.version = text::to_utf8(record.version);
    if (command_.auth) {
      auto token = make_token();
      if (!token) {
        context_.out().warning("there is no door: " + token.error().message);
        return;
      }
      options.token = *token;
      options.on_stop = [](const std::string&) { launcher::ask_ourselves_to_stop(); };
      record.door_token = std::move(*token);
    }
    auto door = SessionDoor::open(std::move(options));
    if (!door) {
      record.door_token.reset();
      context_.out().warning("there is no door: " + door.error().message);
      return;
    }
    door_ = std::move(*door);
    record.url = door_->url();
  }

  Context& context_;
  const RunCommand& command_;
  std::string id_;
  Registry* registry_ = nullptr;
  std::unique_ptr<SessionDoor> door_;
  Registration registration_;
  std::string warning_;
};

// What the caller of a detached run says.
Outcome<int> report_detached(Context& context, launcher::Detachment& detachment) {
  auto ready = detachment.await();
  if (!ready) return run_failure(to_failure(ready.error()));
  Output& out = context.out();
  if (!ready->warning.empty() && !ready->recorded && !ready->failure) {
    // There is no id to find it by.
    out.warning(fmt::format("{}; its pid is {}, regtool's is {}", ready->warning,
                            ready->command_pid, ready->wrapper_pid));
  } else if (!ready->warning.empty()) {
    out.warning(ready->warning);
  }
  if (ready->failure) return tl::unexpected(std::move(*ready->failure));
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.run/1");
    json.text_or_null("session_id",
                      ready->recorded ? std::optional(ready->session_id) : std::nullopt);
    json.integer("pid", ready->wrapper_pid).integer("command_pid", ready->command_pid);
    json.end_object();
    out.document(json);
  } else if (ready->recorded) {
    out.line(ready->session_id);
  }
  return kExitYes;
}

Outcome<int> run_attended(Context& context, const RunCommand& command,
                          const platform::InheritedLimits& limits, const std::string& program,
                          launcher::Detachment* detachment) {
  auto id = command.session_id ? Result<std::string>(*command.session_id)
                               : make_session_id(context.clock()->unix_ns());
  if (!id) return run_failure(to_failure(id.error()));
  Session session(context, command, *id);
  if (auto free = session.check_id(); !free) return tl::unexpected(free.error());
  // The child comes before the door and its threads, and has no descriptor of it.
  const auto child = launcher::GatedChild::start(
      {.program = program, .command = command.command, .session_id = *id, .limits = limits});
  if (!child) return run_failure(child.error());
  platform::keep_memory_out_of_dumps();  // there will be a token in it; the child keeps its own
  if (auto recorded = session.record(**child); !recorded) {
    return tl::unexpected(recorded.error());
  }
  if (auto runs = (*child)->release(session.recorded()); !runs) {
    session.end();
    return run_failure(runs.error());
  }
  if (detachment != nullptr) {
    detachment->tell({.recorded = session.recorded(),
                      .wrapper_pid = platform::current_pid(),
                      .command_pid = (*child)->pid(),
                      .session_id = *id,
                      .warning = session.warning()});
  }
  const launcher::End end = (*child)->attend();
  session.end();
  launcher::die_of(end);
  return end.exit_code;
}

}  // namespace

Outcome<int> run_run(Context& context, const RunCommand& command,
                     const platform::InheritedLimits& limits) {
  if (auto may = context.may_change(); !may) return run_failure(may.error());
  if (!context.config_problem().empty()) {
    context.out().warning(context.config_problem() + "; the defaults apply");
  }
  std::optional<launcher::Detachment> detachment;
  if (command.detach) {
    auto detached = launcher::Detachment::detach(command.log_file);
    if (!detached) return run_failure(to_failure(detached.error()));
    detachment.emplace(std::move(*detached));
    if (detachment->is_caller()) return report_detached(context, *detachment);
  }
  launcher::hold_signals(limits);
  const auto outcome = [&]() -> Outcome<int> {
    if (command.workdir) {
      if (auto gone_there = launcher::change_directory(*command.workdir); !gone_there) {
        return run_failure(to_failure(gone_there.error(), *command.workdir));
      }
    }
    const auto program = launcher::find_program(command.command.front());
    if (!program) return tl::unexpected(program.error());
    return run_attended(context, command, limits, *program, detachment ? &*detachment : nullptr);
  }();
  if (!outcome && detachment) detachment->tell({.failure = outcome.error()});
  return outcome;
}

}  // namespace rollcall::regtool
