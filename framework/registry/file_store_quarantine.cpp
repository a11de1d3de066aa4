// Files that are no records, and what killed writers left.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/private_files.hpp"
#include "core/random.hpp"
#include "registry/file_store_impl.hpp"
#include "registry/staging_name.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kGraceNs = 60 * kNsPerSecond;
constexpr std::int64_t kSecondsPerDay = 86'400;

// FILE.SECONDS.RANDOM: when it came here; the file's own times stay what they were.
std::string quarantine_name(std::string_view file, std::int64_t unix_ns, std::uint64_t random) {
  return fmt::format("{}.{}.{:08x}", file, unix_ns / kNsPerSecond, random & 0xFFFF'FFFFU);
}

// The SECONDS of such a name; nullopt: somebody else's file, which is left alone.
std::optional<std::int64_t> quarantined_at(std::string_view name) {
  const auto last = name.rfind('.');
  if (last == std::string_view::npos || name.size() - last != 9) return std::nullopt;
  const auto before = name.rfind('.', last - 1);
  if (last == 0 || before == std::string_view::npos) return std::nullopt;
  const std::string_view text = name.substr(before + 1, last - before - 1);
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return seconds;
}

// Whether such a file is ever moved: one that could not be read is no evidence of what it is, and a
// newer schema is another program's record.
bool is_no_record(const StoredRecord& judged, const RecordError& problem) {
  return judged.problem.empty() && problem.problem != RecordProblem::kNewerSchema;
}

// A younger one may be in the making.
bool is_old(const core::FileStamp& stamp, std::int64_t now_unix_ns) {
  return now_unix_ns - stamp.modified_ns >= kGraceNs;
}

}  // namespace

Status FileStore::Impl::move_to_quarantine(const Change& change, std::string_view from,
                                           std::string_view file, std::string* moved_to) const {
  const auto quarantine = make_dir(change, kQuarantineDir);
  if (!quarantine) return tl::unexpected(quarantine.error());
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  const std::string name = quarantine_name(file, now_unix_ns(), *random);
  if (auto moved = change.running.rename_new(from, *quarantine, name); !moved) return moved;
  if (moved_to != nullptr) *moved_to = quarantine->path_of(name);
  bound_quarantine(*quarantine);
  return {};
}

void FileStore::Impl::bound_quarantine(const core::PrivateDir& quarantine) const {
  std::vector<std::pair<std::int64_t, std::string>> held;
  const auto looked = quarantine.each([&](const core::DirEntry& entry) {
    if (const auto at = quarantined_at(entry.name)) held.emplace_back(*at, entry.name);
    return true;
  });
  if (!looked) return;
  std::sort(held.begin(), held.end());
  const std::int64_t oldest =
      now_unix_ns() / kNsPerSecond - options.quarantine_days * kSecondsPerDay;
  std::size_t left = held.size();
  for (const auto& [at, name] : held) {
    if (left <= options.quarantine_files && at >= oldest) break;
    if (quarantine.remove(name)) --left;
  }
}

Result<QuarantineReport> FileStore::quarantine(const StoredRecord& judged,
                                               const RecordError& problem, const Call& call) {
  if (auto valid = check_session_id(judged.name); !valid) return tl::unexpected(valid.error());
  QuarantineReport report{.file = file_name(judged.name, kRecordSuffix), .reason = problem.text};
  if (!judged.problem.empty()) report.reason = judged.problem;
  if (!is_no_record(judged, problem)) return report;
  auto change = impl_->begin(call, Impl::Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  const auto stamp = change->running.stat(report.file);
  if (!stamp) return tl::unexpected(stamp.error());
  if (!is_old(*stamp, impl_->now_unix_ns())) return report;
  const auto aside = impl_->take_aside(*change, report.file, judged.version);
  if (!aside) return tl::unexpected(aside.error());
  const auto moved = impl_->move_to_quarantine(*change, aside->name, report.file, &report.moved_to);
  if (!moved) {
    impl_->put_back(*change, aside->name, aside->file);
    return tl::unexpected(moved.error());
  }
  return report;
}

Result<bool> FileStore::would_quarantine(const StoredRecord& judged,
                                         const RecordError& problem) const {
  if (auto valid = check_session_id(judged.name); !valid) return tl::unexpected(valid.error());
  if (!is_no_record(judged, problem)) return false;
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return false;
  const auto stamp = (*running)->stat(file_name(judged.name, kRecordSuffix));
  if (!stamp) return tl::unexpected(stamp.error());
  return is_old(*stamp, impl_->now_unix_ns());
}

Result<std::vector<std::string>> FileStore::sweep_staging(
    const std::function<bool(const ProcessIdentity& writer)>& is_gone, const Call& call) {
  std::vector<std::string> swept;
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return swept;
  struct Leftover {
    std::string name;
    core::FileStamp stamp;
    std::optional<ProcessIdentity> writer;
  };
  std::vector<Leftover> leftovers;
  bool any_aside = false;
  const auto looked = (*running)->each([&](const core::DirEntry& entry) {
    any_aside = any_aside || registry::aside_file(entry.name).has_value();
    auto writer = registry::staging_writer(entry.name);
    if (!writer && !registry::is_anonymous_staging(entry.name)) return true;
    const auto stamp = (*running)->stat(entry.name);
    if (stamp && impl_->now_unix_ns() - stamp->modified_ns >= kGraceNs) {
      leftovers.push_back({std::string(entry.name), *stamp, std::move(writer)});
    }
    return true;
  });
  if (!looked) return tl::unexpected(looked.error());
  // Writers are proven gone before the lock is taken: it is never held across a probe.
  std::erase_if(leftovers,
                [&](const Leftover& file) { return file.writer && !is_gone(*file.writer); });
  if (leftovers.empty() && !any_aside) return swept;
  auto change = impl_->begin(call, Impl::Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  impl_->recover(*change);
  // One that names no writer is left over for sure: under the lock nobody is about to use it. Where
  // a file system's locks do not hold, its writer's rename finds nothing, and it writes no record.
  for (const Leftover& file : leftovers) {
    const auto now = change->running.stat(file.name);
    if (!now || now->inode != file.stamp.inode || now->changed_ns != file.stamp.changed_ns)
      continue;
    if (change->running.remove(file.name)) swept.push_back(file.name);
  }
  return swept;
}

}  // namespace rollcall
