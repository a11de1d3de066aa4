// gone/: what was pruned, without its tokens, for some days.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/private_files.hpp"
#include "core/text.hpp"
#include "registry/file_store_impl.hpp"
#include "registry/gone_record.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerDay = 86'400 * kNsPerSecond;
constexpr std::int64_t kSweepEveryNs = 60 * kNsPerSecond;

// Entries past `days`. A file's mtime here is when it was pruned.
void drop_old(const core::PrivateDir& gone, std::int64_t now_ns, std::int64_t days) {
  std::vector<std::string> old;
  const auto looked = gone.each([&](const core::DirEntry& entry) {
    if (id_of(entry.name, kRecordSuffix).empty()) return true;
    const auto stamp = gone.stat(entry.name);
    if (stamp && now_ns - stamp->modified_ns > days * kNsPerDay) old.emplace_back(entry.name);
    return true;
  });
  if (!looked) return;
  for (const std::string& name : old) static_cast<void>(gone.remove(name));
}

}  // namespace

Status FileStore::archive_gone(const StoredRecord& judged, const Record& record,
                               const GoneEvidence& evidence, const Call& call) {
  if (auto valid = check_session_id(judged.name); !valid) return valid;
  if (record.session_id != judged.name) {
    return fail(ErrorCode::kInvalid, "the record is not the one that was judged");
  }
  GoneEvidence stamped = evidence;
  if (stamped.pruned_unix_ns == 0) stamped.pruned_unix_ns = impl_->now_unix_ns();
  const auto text = registry::gone_text(registry::without_tokens(record), stamped);
  if (!text) return wrap("cannot keep what was pruned", text.error());
  auto change = impl_->begin(call, Impl::Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  const auto gone = impl_->make_dir(*change, kGoneDir);
  if (!gone) return tl::unexpected(gone.error());
  const std::string file = file_name(judged.name, kRecordSuffix);
  // Not flushed: after a crash of the machine every session is gone in truth.
  const auto staged = impl_->stage(change->running, *text,
                                   {.durable = false, .modified_ns = stamped.pruned_unix_ns});
  if (!staged) return tl::unexpected(staged.error());
  const auto aside = impl_->take_aside(*change, file, judged.version);
  if (!aside) {
    static_cast<void>(change->running.remove(*staged));
    return aside.error().code == ErrorCode::kNotFound   ? not_found(judged.name)
           : aside.error().code == ErrorCode::kConflict ? conflict(judged.name)
                                                        : tl::unexpected(aside.error());
  }
  auto done = aside->content.bytes == judged.bytes ? Status{} : conflict(judged.name);
  if (done) done = change->running.rename_over(*staged, *gone, file);
  if (done) done = change->running.remove(aside->name);
  if (!done) {
    static_cast<void>(change->running.remove(*staged));
    impl_->put_back(*change, aside->name, file);
    return done;
  }
  impl_->remove_control_with(*change, judged.name);
  const std::int64_t now = impl_->options.clock->monotonic_ns();
  const std::lock_guard guard(impl_->mutex);
  if (!impl_->gone_swept_ns || now - *impl_->gone_swept_ns >= kSweepEveryNs) {
    impl_->gone_swept_ns = now;
    drop_old(*gone, impl_->now_unix_ns(), impl_->options.gone_days);
  }
  return {};
}

Result<std::vector<GoneRecord>> FileStore::list_gone(const Call& call) {
  static_cast<void>(call);
  std::vector<GoneRecord> records;
  const auto gone = impl_->open_dir(kGoneDir);
  if (!gone) return tl::unexpected(gone.error());
  if (!*gone) return records;
  std::vector<std::string> ids;
  const auto looked = (*gone)->each([&](const core::DirEntry& entry) {
    if (const auto id = id_of(entry.name, kRecordSuffix); !id.empty()) ids.emplace_back(id);
    return true;
  });
  if (!looked) return tl::unexpected(looked.error());
  std::sort(ids.begin(), ids.end(), std::greater<>());
  const std::int64_t oldest = impl_->now_unix_ns() - impl_->options.gone_days * kNsPerDay;
  for (const std::string& id : ids) {
    const auto content = (*gone)->read(file_name(id, kRecordSuffix), registry::kMaxGoneBytes);
    if (!content) continue;
    auto record = registry::parse_gone(content->bytes, id);
    if (!record || record->evidence.pruned_unix_ns < oldest) continue;
    records.push_back(std::move(*record));
  }
  return records;
}

Status FileStore::undo_gone(std::string_view session_id, const Call& call) {
  if (auto valid = check_session_id(session_id); !valid) return valid;
  const auto gone = impl_->open_dir(kGoneDir);
  if (!gone) return tl::unexpected(gone.error());
  const std::string file = file_name(session_id, kRecordSuffix);
  const auto none = [&] {
    return fail(ErrorCode::kNotFound,
                fmt::format("session {} is not among the gone records", session_id));
  };
  if (!*gone) return none();
  const auto content = (*gone)->read(file, registry::kMaxGoneBytes);
  if (!content) {
    return content.error().code == ErrorCode::kNotFound ? none() : tl::unexpected(content.error());
  }
  const auto record = registry::parse_gone(content->bytes, session_id);
  if (!record) return tl::unexpected(record.error());
  const auto text = serialize_record(record->record);
  if (!text) return tl::unexpected(text.error());
  if (auto created = create_if_absent(session_id, *text, call); !created) return created;
  // Its copy has served; a failure to remove it changes nothing that matters.
  static_cast<void>((*gone)->remove(file));
  return {};
}

}  // namespace rollcall
