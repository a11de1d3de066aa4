// Reading: here, sweep, verify; and the one clean-up that reading licenses, prune.
#include "rollcall/registry.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/rfc3339.hpp"
#include "registry/registry_impl.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::int64_t kYear2000UnixS = 946'684'800;
constexpr std::int64_t kDayS = 86'400;

// Somebody else changed or removed the record meanwhile: it is another record now.
bool is_benign(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound;
}

std::vector<SessionView*> pointers(std::vector<SessionView>& views) {
  std::vector<SessionView*> result;
  result.reserve(views.size());
  for (SessionView& view : views) result.push_back(&view);
  return result;
}

// Sorts what the store holds into sessions and what is no record or could not be read.
void split(std::vector<StoredRecord> stored, Sweep& sweep) {
  sweep.sessions.reserve(stored.size());
  for (StoredRecord& entry : stored) {
    std::string file = entry.name + ".json";
    if (!entry.problem.empty()) {
      std::string reason = entry.problem;
      sweep.unreadable.push_back({std::move(file), std::move(reason), false, {}, std::move(entry)});
      continue;
    }
    auto record = parse_record(entry.bytes, entry.name);
    if (!record) {
      RecordError problem = std::move(record.error());
      std::string reason = problem.text;
      sweep.unreadable.push_back(
          {std::move(file), std::move(reason), true, std::move(problem), std::move(entry)});
      continue;
    }
    SessionView& view = sweep.sessions.emplace_back();
    view.record = std::move(*record);
    view.stored = std::move(entry);
  }
}

PrunedEntry pruned_entry(const SessionView& view, const Here& here) {
  return {view.record.session_id, view.process.reason,
          reason_text(view.process, view.record.process, view.read, here), view};
}

// Where the store's lock is held by somebody else, it is waited for once and not once for each
// record.
void remember_wait(const Error& error, std::optional<Error>& waited) {
  if (error.code == ErrorCode::kTimeout) waited = error;
}

void remove_gone_sessions(const Registry::Impl& impl, Sweep& sweep, const Call& call) {
  std::optional<Error> waited;
  std::vector<SessionView> kept;
  kept.reserve(sweep.sessions.size());
  for (SessionView& view : sweep.sessions) {
    if (view.process.state != ProcessState::kGone) {
      kept.push_back(std::move(view));
      continue;
    }
    const Result<bool> removed =
        waited ? Result<bool>(tl::unexpected(*waited)) : impl.remove_gone(view, sweep.here, call);
    if (!removed) remember_wait(removed.error(), waited);
    if (removed && *removed) {
      sweep.pruned.push_back(pruned_entry(view, sweep.here));
    } else if (removed) {
      kept.push_back(std::move(view));
    } else if (!is_benign(removed.error())) {
      sweep.warnings.push_back(fmt::format("{} is gone and was not removed: {}",
                                           view.record.session_id, removed.error().message));
      kept.push_back(std::move(view));
    }
  }
  sweep.sessions = std::move(kept);
}

void quarantine_non_records(FileStore& files, Sweep& sweep, const Call& call) {
  std::optional<Error> waited;
  for (const UnreadableEntry& entry : sweep.unreadable) {
    if (!entry.is_record_problem) continue;
    const auto report = waited ? Result<QuarantineReport>(tl::unexpected(*waited))
                               : files.quarantine(entry.stored, entry.problem, call);
    if (!report) remember_wait(report.error(), waited);
    if (!report) {
      sweep.warnings.push_back(
          fmt::format("{} was left where it is: {}", entry.file, report.error().message));
    } else if (!report->moved_to.empty()) {
      sweep.quarantined.push_back(entry.file);
    }
  }
}

// What quarantine_non_records() would move, and would warn of.
void foretell_quarantine(const FileStore& files, Sweep& sweep) {
  for (const UnreadableEntry& entry : sweep.unreadable) {
    if (!entry.is_record_problem) continue;
    const auto moved = files.would_quarantine(entry.stored, entry.problem);
    if (!moved) {
      sweep.warnings.push_back(
          fmt::format("{} would be left where it is: {}", entry.file, moved.error().message));
    } else if (*moved) {
      sweep.quarantined.push_back(entry.file);
    }
  }
}

void sweep_leftovers(FileStore& files, ProcessProbe& probe, Sweep& sweep, const Call& call) {
  const auto is_gone = [&](const ProcessIdentity& writer) {
    Observation read;
    const Ask ask{writer.pid, wants_for(writer)};
    if (!probe.observe({&ask, 1}, {&read, 1}, call)) return false;
    return classify(writer, read, sweep.here).state == ProcessState::kGone;
  };
  if (const auto swept = files.sweep_staging(is_gone, call); !swept) {
    sweep.warnings.push_back(
        fmt::format("leftover staging files were not swept: {}", swept.error().message));
  }
  const auto orphans = files.list_orphan_controls(call);
  if (!orphans) return;
  for (const std::string& id : *orphans) {
    sweep.warnings.push_back(
        fmt::format("{}.control has no record beside it; it was left where it is", id));
  }
}

}  // namespace

std::optional<std::int64_t> SessionView::uptime_s(std::int64_t now_unix_ns) const {
  if (!read.age_ns || *read.age_ns < 0) return std::nullopt;
  // A record whose own time is nonsense was made by a broken clock: then nothing is shown.
  const auto started = core::parse_rfc3339_utc(record.started_at);
  if (!started || *started < kYear2000UnixS * kNsPerS || *started > now_unix_ns + kDayS * kNsPerS) {
    return std::nullopt;
  }
  return *read.age_ns / kNsPerS;
}

Registry::Registry(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Registry::~Registry() = default;

Result<std::unique_ptr<Registry>> Registry::open(Options options) {
  if (!options.store || !options.probe || !options.clock) {
    return fail(ErrorCode::kInvalid, "a registry needs a store, a process probe and a clock");
  }
  if (!options.probe->is_platform()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not this platform's own backend; a third party's probe can only "
                            "give a second opinion",
                            options.probe->id()));
  }
  return std::unique_ptr<Registry>(new Registry(std::make_unique<Impl>(std::move(options))));
}

Result<Here> Registry::here(const Call& call) { return impl_->here(call); }

Result<Sweep> Registry::sweep(const SweepOptions& options, const Call& call) {
  Sweep sweep;
  auto machine = impl_->here(call);
  if (!machine) return tl::unexpected(machine.error());
  sweep.here = std::move(*machine);
  auto stored = impl_->options().store->list(call);
  if (!stored) return tl::unexpected(stored.error());
  split(std::move(*stored), sweep);
  const std::uint32_t extra = options.want_age ? kWantAge : 0U;
  if (auto status = impl_->observe(pointers(sweep.sessions), extra, sweep.here, call); !status) {
    return tl::unexpected(status.error());
  }
  if (options.prune && impl_->may_prune()) remove_gone_sessions(*impl_, sweep, call);
  impl_->finish(pointers(sweep.sessions), options.ask_doors, sweep.here, call);
  return sweep;
}

Result<SessionView> Registry::verify(std::string_view session_id, bool ask_door, const Call& call) {
  auto view = impl_->read(session_id, call);
  if (!view) return view;
  const auto machine = impl_->here(call);
  if (!machine) return tl::unexpected(machine.error());
  SessionView* const one[] = {&*view};
  // Everything that can be read, for whoever wants it explained.
  if (auto status = impl_->observe(one, kWantExactId | kWantState | kWantAge, *machine, call);
      !status) {
    return tl::unexpected(status.error());
  }
  impl_->finish(one, ask_door, *machine, call);
  return view;
}

Result<Sweep> Registry::prune(const PruneOptions& options, const Call& call) {
  if (!impl_->may_prune()) {
    return fail(ErrorCode::kRefused, "these records are another's: nothing of them is removed");
  }
  SweepOptions reading;
  reading.ask_doors = false;
  reading.prune = !options.dry_run;
  reading.want_age = false;
  auto result = sweep(reading, call);
  if (!result) return result;
  if (options.dry_run) {
    for (const SessionView& view : result->sessions) {
      if (view.process.state == ProcessState::kGone) {
        result->pruned.push_back(pruned_entry(view, result->here));
      }
    }
    if (const auto& files = impl_->options().files) foretell_quarantine(*files, *result);
  } else if (const auto& files = impl_->options().files) {
    quarantine_non_records(*files, *result, call);
    sweep_leftovers(*files, *impl_->options().probe, *result, call);
  }
  return result;
}

}  // namespace rollcall
