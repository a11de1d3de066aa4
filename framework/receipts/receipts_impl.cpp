#include "receipts/receipts_impl.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/secret.hpp"
#include "liveness/machine.hpp"

namespace rollcall {
namespace {

// Somebody else changed or removed it meanwhile.
bool is_benign(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound;
}

bool is_newer(const receipts::Entry& a, const receipts::Entry& b) {
  if (a.receipt.created_at_ms != b.receipt.created_at_ms) {
    return a.receipt.created_at_ms > b.receipt.created_at_ms;
  }
  return a.receipt.receipt_id < b.receipt.receipt_id;
}

}  // namespace

ReceiptView receipts::view_of(const Entry& entry) {
  return {.endpoint = format_endpoint(entry.receipt.receipt_id),
          .runtime_session_id = entry.receipt.runtime_session_id,
          .source = entry.receipt.source,
          .pid = entry.receipt.process.pid,
          .created_at_ms = entry.receipt.created_at_ms,
          .metadata = entry.receipt.metadata,
          .state = entry.process.state,
          .reason_code = entry.process.reason,
          .reason = entry.reason};
}

Result<ProcessIdentity> Receipts::Impl::self(const Call& call) const {
  auto self = identify_self(*options_.probe, call);
  if (!self) return wrap("no receipt was written", self.error());
  options_.files->set_writer(*self);
  return self;
}

Result<Here> Receipts::Impl::judge(std::span<receipts::Entry> entries, const Call& call) const {
  auto here = read_here(*options_.probe, options_.files->home_kind(), call);
  if (!here) return here;
  std::vector<Ask> asks;
  asks.reserve(entries.size());
  for (const auto& entry : entries) {
    asks.push_back({entry.receipt.process.pid, wants_for(entry.receipt.process)});
  }
  std::vector<Observation> read(asks.size());
  if (auto status = options_.probe->observe(asks, read, call); !status) {
    return wrap("cannot read processes", status.error());
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ProcessIdentity& process = entries[i].receipt.process;
    entries[i].process = classify(process, read[i], *here);
    entries[i].reason = reason_text(entries[i].process, process, read[i], *here);
  }
  return here;
}

Result<Receipts::Impl::Found> Receipts::Impl::read_all(const Call& call) const {
  auto stored = options_.files->list(call);
  if (!stored) return tl::unexpected(stored.error());
  Found found;
  for (StoredRecord& file : *stored) {
    std::string name = file.name + ".json";
    if (!file.problem.empty()) {
      std::string why = file.problem;
      found.list.broken.push_back({std::move(name), std::move(why), false, {}, std::move(file)});
      continue;
    }
    auto receipt = parse_receipt(file.bytes, file.name);
    core::wipe(file.bytes);
    if (!receipt) {
      RecordError problem = std::move(receipt.error());
      std::string why = problem.text;
      found.list.broken.push_back(
          {std::move(name), std::move(why), true, std::move(problem), std::move(file)});
      continue;
    }
    core::wipe(receipt->token);
    found.entries.push_back({std::move(*receipt), std::move(file), {}, {}});
  }
  auto here = judge(found.entries, call);
  if (!here) return tl::unexpected(here.error());
  found.here = std::move(*here);
  std::ranges::sort(found.entries, is_newer);
  return found;
}

bool Receipts::Impl::remove_gone(receipts::Entry& entry, const Here& here,
                                 receipts::Removal& removal, const Call& call) const {
  if (options_.files->read_only()) return false;
  const auto left = [&](const Error& why) {
    removal.warnings.push_back(fmt::format("{} is gone and was not removed: {}",
                                           format_endpoint(entry.stored.name), why.message));
    return false;
  };
  if (removal.waited) return left(*removal.waited);
  const ProcessIdentity& process = entry.receipt.process;
  const auto again = judge_process(*options_.probe, process, here, call);
  if (again) {
    entry.process = again->process;
    entry.reason = reason_text(again->process, process, again->read, here);
    if (again->process.state != ProcessState::kGone) return false;
  }
  const Status removed =
      again ? options_.files->remove_if(entry.stored.name, entry.stored.version, call)
            : Status(tl::unexpected(again.error()));
  if (removed) return true;
  if (is_benign(removed.error())) return false;
  if (removed.error().code == ErrorCode::kTimeout) removal.waited = removed.error();
  return left(removed.error());
}

Result<bool> Receipts::Impl::forget(const std::string& id, const Call& call) const {
  const auto gone_meanwhile = [](const Error& error) { return error.code == ErrorCode::kNotFound; };
  auto stored = options_.files->read(id, call);
  if (!stored && gone_meanwhile(stored.error())) return false;
  if (!stored) return tl::unexpected(stored.error());
  core::wipe(stored->bytes);
  if (!stored->problem.empty()) return fail(ErrorCode::kIo, stored->problem);
  const auto removed = options_.files->remove_if(id, stored->version, call);
  if (removed) return true;
  if (gone_meanwhile(removed.error())) return false;
  return tl::unexpected(removed.error());
}

void Receipts::Impl::quarantine(ReceiptList& list, bool dry_run, const Call& call) const {
  std::optional<Error> waited;  // as of Removal
  for (const BrokenReceipt& broken : list.broken) {
    if (!broken.is_receipt_problem) continue;
    Result<bool> moved = false;
    if (waited) {
      moved = tl::unexpected(*waited);
    } else if (dry_run) {
      moved = options_.files->would_quarantine(broken.stored, broken.problem);
    } else if (auto report = options_.files->quarantine(broken.stored, broken.problem, call)) {
      moved = !report->moved_to.empty();
    } else {
      moved = tl::unexpected(report.error());
      if (report.error().code == ErrorCode::kTimeout) waited = report.error();
    }
    if (!moved) {
      list.warnings.push_back(
          fmt::format("{} is left where it is: {}", broken.file, moved.error().message));
    } else if (*moved) {
      list.quarantined.push_back(broken.file);
    }
  }
}

void Receipts::Impl::sweep_leftovers(const Here& here, std::vector<std::string>& warnings,
                                     const Call& call) const {
  const auto is_gone = [&](const ProcessIdentity& writer) {
    const auto judged = judge_process(*options_.probe, writer, here, call);
    return judged && judged->process.state == ProcessState::kGone;
  };
  if (const auto swept = options_.files->sweep_staging(is_gone, call); !swept) {
    warnings.push_back(
        fmt::format("leftover staging files were not swept: {}", swept.error().message));
  }
}

}  // namespace rollcall
