#include "rollcall/rollcall.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "capi/convert.hpp"
#include "rollcall/host.hpp"

struct rollcall_registry {
  std::shared_ptr<const rollcall::Clock> clock;
  std::unique_ptr<rollcall::Host> host;  // outlives what it handed out
  std::unique_ptr<rollcall::Registry> registry;
};

struct rollcall_registration {
  rollcall::Registration guard;
  std::string session_id;
};

namespace {

namespace capi = rollcall::capi;
using rollcall::Error;
using rollcall::ErrorCode;
using rollcall::fail;
using rollcall::Result;

// Runs a body that returns a status code; nothing it throws gets out.
template <class Body>
std::int32_t guarded(rollcall_error* error, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // Reporting must not allocate either.
    if (error != nullptr && error->struct_size >= sizeof(*error)) {
      error->code = ROLLCALL_E_NO_MEMORY;
      error->os_code = 0;
      capi::copy_text("out of memory", error->message, sizeof(error->message));
    }
    return ROLLCALL_E_NO_MEMORY;
  } catch (const std::exception& thrown) {
    return capi::report({ErrorCode::kInternal, std::string("a defect: ") + thrown.what()}, error);
  } catch (...) {
    return capi::report({ErrorCode::kInternal, "a defect: an unknown exception"}, error);
  }
}

std::int32_t invalid(const char* what, rollcall_error* error) {
  return capi::report({ErrorCode::kInvalid, what}, error);
}

Result<std::unique_ptr<rollcall_registry>> open(const rollcall_open_options& options) {
  auto opened = std::make_unique<rollcall_registry>();
  opened->clock = rollcall::system_clock();

  rollcall::Host::Options host;
  host.use_environment = (options.flags & ROLLCALL_OPEN_NO_ENVIRONMENT) == 0;
  if (options.plugin_dir != nullptr) host.plugin_dirs = {options.plugin_dir};
  host.clock = opened->clock;
  auto made = rollcall::Host::open(std::move(host));
  if (!made) return tl::unexpected<Error>(made.error());
  opened->host = std::move(*made);

  rollcall::FileStore::Options files;
  files.home = options.home;
  files.clock = opened->clock;
  files.read_only = (options.flags & ROLLCALL_OPEN_READ_ONLY) != 0;
  auto store = rollcall::FileStore::open(std::move(files));
  if (!store) return tl::unexpected<Error>(store.error());

  auto probe = opened->host->platform_probe();
  if (!probe) return tl::unexpected<Error>(probe.error());
  auto control = opened->host->platform_control();
  if (!control) return tl::unexpected<Error>(control.error());

  rollcall::Registry::Options registry;
  registry.store = *store;
  registry.files = *store;
  registry.probe = *probe;
  registry.control = *control;
  registry.doors = [owner = opened->host.get()](std::string_view kind) {
    return owner->door_prober(kind);
  };
  registry.clock = opened->clock;
  auto proven = rollcall::Registry::open(std::move(registry));
  if (!proven) return tl::unexpected<Error>(proven.error());
  opened->registry = std::move(*proven);
  return opened;
}

std::uint32_t outcome_of(rollcall::StopOutcome outcome) {
  switch (outcome) {
    case rollcall::StopOutcome::kEnded:
      return ROLLCALL_STOP_ENDED;
    case rollcall::StopOutcome::kAlreadyGone:
      return ROLLCALL_STOP_ALREADY_GONE;
    case rollcall::StopOutcome::kStillThere:
      return ROLLCALL_STOP_STILL_THERE;
    case rollcall::StopOutcome::kSent:  // a plain signal's, never stop()'s
    case rollcall::StopOutcome::kRefused:
      break;
  }
  return ROLLCALL_STOP_REFUSED;
}

void fill(const rollcall::StopReport& report, rollcall_stop_result* out) {
  rollcall_stop_result result{};
  result.struct_size = out->struct_size;
  result.outcome = outcome_of(report.outcome);
  result.signals_sent = static_cast<std::uint32_t>(report.signals.size());
  result.elapsed_ms = report.elapsed_ns / 1'000'000;
  capi::copy_text(report.reason, result.reason, sizeof(result.reason));
  std::memcpy(out, &result, std::min<std::size_t>(out->struct_size, sizeof(result)));
}

Result<rollcall::Record> to_record(const rollcall_new_session& session,
                                   const rollcall::Clock& clock) {
  rollcall::Record record;
  if (session.session_id != nullptr) {
    record.session_id = session.session_id;
  } else {
    auto made = rollcall::make_session_id(clock.unix_ns());
    if (!made) return tl::unexpected<Error>(made.error());
    record.session_id = std::move(*made);
  }
  record.name = session.name;
  record.version = session.version;
  if (session.url != nullptr) record.url = session.url;
  if (session.door_token != nullptr) record.door_token = session.door_token;
  if (session.workdir != nullptr) {
    record.workdir = session.workdir;
    return record;
  }
  std::error_code problem;
  record.workdir = std::filesystem::current_path(problem).string();
  if (problem) {
    return fail(ErrorCode::kIo, "cannot read the current directory: " + problem.message(),
                problem.value());
  }
  return record;
}

}  // namespace

const char* rollcall_version(void) { return ROLLCALL_VERSION; }

rollcall_canceller* rollcall_canceller_new(void) {
  try {
    return new rollcall_canceller;  // freed by rollcall_canceller_free
  } catch (...) {
    return nullptr;
  }
}

void rollcall_canceller_cancel(rollcall_canceller* canceller) {
  if (canceller != nullptr) canceller->token.cancel();
}

void rollcall_canceller_free(rollcall_canceller* canceller) { delete canceller; }

std::int32_t rollcall_open(const rollcall_open_options* options, rollcall_registry** out,
                           rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    const auto given = capi::read_struct(options);
    if (given.home == nullptr || out == nullptr) {
      return invalid("rollcall_open: home and out are required", error);
    }
    auto opened = open(given);
    if (!opened) return capi::report(opened.error(), error);
    *out = opened->release();
    return ROLLCALL_OK;
  });
}

void rollcall_close(rollcall_registry* registry) {
  guarded(nullptr, [&]() -> std::int32_t {
    if (registry == nullptr) return ROLLCALL_OK;
    registry->registry.reset();
    delete registry;
    return ROLLCALL_OK;
  });
}

std::int32_t rollcall_list(rollcall_registry* registry, std::uint32_t flags,
                           rollcall_session_callback callback, void* context,
                           const rollcall_bounds* bounds, rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    if (registry == nullptr || callback == nullptr) {
      return invalid("rollcall_list: registry and callback are required", error);
    }
    const auto call = capi::to_call(bounds, *registry->clock);
    if (!call) return capi::report(call.error(), error);
    rollcall::SweepOptions options;
    options.ask_doors = (flags & ROLLCALL_LIST_NO_DOORS) == 0;
    const auto sweep = registry->registry->sweep(options, *call);
    if (!sweep) return capi::report(sweep.error(), error);
    const std::int64_t now = registry->clock->unix_ns();
    for (const auto& view : sweep->sessions) {
      const std::int32_t answer = capi::show(view, now, callback, context);
      if (answer < 0) return answer;
    }
    return ROLLCALL_OK;
  });
}

std::int32_t rollcall_verify(rollcall_registry* registry, const char* session_id,
                             rollcall_session_callback callback, void* context,
                             const rollcall_bounds* bounds, rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    if (registry == nullptr || session_id == nullptr || callback == nullptr) {
      return invalid("rollcall_verify: registry, session_id and callback are required", error);
    }
    const auto call = capi::to_call(bounds, *registry->clock);
    if (!call) return capi::report(call.error(), error);
    const auto view = registry->registry->verify(session_id, true, *call);
    if (!view) return capi::report(view.error(), error);
    return std::min(capi::show(*view, registry->clock->unix_ns(), callback, context), ROLLCALL_OK);
  });
}

std::int32_t rollcall_stop(rollcall_registry* registry, const char* session_id, std::uint32_t flags,
                           rollcall_stop_result* out, const rollcall_bounds* bounds,
                           rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    if (registry == nullptr || session_id == nullptr || out == nullptr) {
      return invalid("rollcall_stop: registry, session_id and out are required", error);
    }
    const auto call = capi::to_call(bounds, *registry->clock);
    if (!call) return capi::report(call.error(), error);
    rollcall::StopOptions options;
    options.force = (flags & ROLLCALL_STOP_FORCE) != 0;
    const auto report = registry->registry->stop(session_id, options, *call);
    if (!report) return capi::report(report.error(), error);
    fill(*report, out);
    return ROLLCALL_OK;
  });
}

std::int32_t rollcall_register(rollcall_registry* registry, const rollcall_new_session* session,
                               rollcall_registration** out, const rollcall_bounds* bounds,
                               rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    const auto given = capi::read_struct(session);
    if (registry == nullptr || given.name == nullptr || given.version == nullptr ||
        out == nullptr) {
      return invalid("rollcall_register: registry, name, version and out are required", error);
    }
    const auto call = capi::to_call(bounds, *registry->clock);
    if (!call) return capi::report(call.error(), error);
    auto record = to_record(given, *registry->clock);
    if (!record) return capi::report(record.error(), error);
    auto guard = registry->registry->register_session(std::move(*record), {}, *call);
    if (!guard) return capi::report(guard.error(), error);
    std::string id = guard->session_id();
    *out = new rollcall_registration{std::move(*guard), std::move(id)};  // freed by _release
    return ROLLCALL_OK;
  });
}

const char* rollcall_registration_id(const rollcall_registration* registration) {
  return registration == nullptr ? nullptr : registration->session_id.c_str();
}

std::int32_t rollcall_registration_release(rollcall_registration* registration,
                                           rollcall_error* error) {
  return guarded(error, [&]() -> std::int32_t {
    const std::unique_ptr<rollcall_registration> owned(registration);
    if (!owned) return ROLLCALL_OK;
    const auto released = owned->guard.release();
    return released ? ROLLCALL_OK : capi::report(released.error(), error);
  });
}
