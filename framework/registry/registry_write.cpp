// Writing: register, identify, forget.
#include <fmt/format.h>

#include <utility>

#include "core/controlling_terminal.hpp"
#include "core/rfc3339.hpp"
#include "liveness/machine.hpp"
#include "registry/registry_impl.hpp"
#include "rollcall/door_url.hpp"

namespace rollcall {
namespace {

Status check_record(const Record& record, const std::vector<std::string>& allow_hosts) {
  if (auto valid = check_session_id(record.session_id); !valid) return valid;
  if (record.door_token) {
    if (auto valid = check_token(*record.door_token); !valid) return valid;
  }
  if (record.url) {
    const auto address = parse_door_url(*record.url, allow_hosts);
    if (!address) return fail(ErrorCode::kInvalid, address.error().text);
  }
  return {};
}

tl::unexpected<Error> already_registered(std::string_view id, std::string_view why) {
  return fail(ErrorCode::kExists, fmt::format("{} is already registered: {}", id, why));
}

// What was written could not be read back, which says nothing of who has the id.
tl::unexpected<Error> not_there_any_more(std::string_view id, const Error& why) {
  if (why.code != ErrorCode::kNotFound) {
    return wrap(fmt::format("the record of {} was written, and cannot be read back", id), why);
  }
  return fail(ErrorCode::kConflict,
              fmt::format("the record of {} was removed as soon as it was written", id));
}

// Fills what a writer leaves to us: its own identity, its terminal, the time.
Status complete_record(Record& record, const Registry::Options& options, const Call& call) {
  if (record.process.pid == 0) {
    auto self = identify_self(*options.probe, call);
    if (!self) return wrap("no record was written", self.error());
    record.process = std::move(*self);
    record.outlives_launcher = !has_controlling_terminal();
  }
  if (record.started_at.empty()) {
    record.started_at = core::format_rfc3339_utc(options.clock->unix_ns());
  }
  return {};
}

// Why the record that stands under an id may not be replaced; empty: it may.
Result<std::string> why_kept(const Registry::Impl& impl, SessionView& standing, const Here& here,
                             const Call& call) {
  auto record = parse_record(standing.stored.bytes, standing.stored.name);
  if (!standing.stored.problem.empty()) return standing.stored.problem;
  if (!record) {
    return fmt::format("a file that is no record stands there ({}); see: regtool prune",
                       record.error().text);
  }
  standing.record = std::move(*record);
  SessionView* const one[] = {&standing};
  if (auto status = impl.observe(one, 0, here, call); !status) {
    return tl::unexpected(status.error());
  }
  switch (standing.process.state) {
    case ProcessState::kGone:
      return std::string();
    case ProcessState::kAlive:
      return fmt::format("pid {} runs", standing.record.process.pid);
    case ProcessState::kUnverified:
      break;
  }
  return reason_text(standing.process, standing.record.process, standing.read, here);
}

// Writes `bytes` under the id where nothing stands, or where what stands may be replaced.
Status write_record(const Registry::Impl& impl, std::string_view id, std::string_view bytes,
                    bool replace, const Call& call) {
  const auto& store = impl.options().store;
  // Also names the writer to the store, whatever comes next.
  const auto machine = impl.here(call);
  if (!machine) return tl::unexpected(machine.error());
  SessionView standing;
  auto there = store->read(id, call);
  if (!there && there.error().code == ErrorCode::kNotFound) {
    return store->create_if_absent(id, bytes, call);
  }
  if (!there) return tl::unexpected(there.error());
  standing.stored = std::move(*there);
  if (!standing.stored.problem.empty()) {
    // Nothing that could be read; whether it is nothing at all (a link) is for the store to say.
    auto created = store->create_if_absent(id, bytes, call);
    if (created || created.error().code != ErrorCode::kExists) return created;
  }
  const auto kept = why_kept(impl, standing, *machine, call);
  if (!kept) return tl::unexpected(kept.error());
  const bool is_record = standing.record.process.pid != 0;
  if (!kept->empty() && !(replace && is_record)) return already_registered(id, *kept);
  return store->replace_if(id, standing.stored.version, bytes, call);
}

}  // namespace

Result<ProcessIdentity> Registry::identify(std::int64_t pid, const Call& call) {
  return identify_process(*impl_->options().probe, pid, call);
}

Result<Registration> Registry::register_session(Record record, const RegisterOptions& options,
                                                const Call& call) {
  if (auto valid = check_record(record, impl_->options().allow_hosts); !valid) {
    return tl::unexpected(valid.error());
  }
  if (auto complete = complete_record(record, impl_->options(), call); !complete) {
    return tl::unexpected(complete.error());
  }
  const auto bytes = serialize_record(record);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::string& id = record.session_id;
  if (auto written = write_record(*impl_, id, *bytes, options.replace, call); !written) {
    const ErrorCode code = written.error().code;
    if (code == ErrorCode::kConflict || code == ErrorCode::kNotFound) {
      return already_registered(id, "another writer was first");
    }
    return tl::unexpected(written.error());
  }
  auto ours = impl_->options().store->read(id, call);
  if (!ours) return not_there_any_more(id, ours.error());
  if (ours->bytes != *bytes) return already_registered(id, "another writer replaced it");
  auto guard = Registration::adopt(impl_->options().store, id, std::move(ours->version));
  if (!options.guarded) guard.detach();
  return guard;
}

Status Registry::forget(std::string_view session_id, bool force, const Call& call) {
  if (!impl_->may_prune()) {
    return fail(ErrorCode::kRefused, "these records are another's: nothing of them is removed");
  }
  auto view = impl_->read(session_id, call);
  if (!view) return tl::unexpected(view.error());
  const auto machine = impl_->here(call);
  if (!machine) return tl::unexpected(machine.error());
  const auto removed = impl_->remove_gone(*view, *machine, call);
  if (!removed) return tl::unexpected(removed.error());
  if (*removed) return {};
  if (!force) {
    const std::string why =
        view->process.state == ProcessState::kAlive
            ? fmt::format("its process, pid {}, runs", view->record.process.pid)
            : reason_text(view->process, view->record.process, view->read, *machine);
    return fail(ErrorCode::kRefused,
                fmt::format("{} is kept: {}; to remove its record all the same: --force",
                            view->record.session_id, why));
  }
  return impl_->options().store->remove_if(view->stored.name, view->stored.version, call);
}

}  // namespace rollcall
